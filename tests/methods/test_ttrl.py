import numpy as np
from rollouts import make_groups

from methods.groups import NoTarget, TargetSource
from methods.ttrl import TTRL


def test_the_majority_answer_is_the_target():
    targets = TTRL().targets(make_groups([["4", "4", "5", "6"]]))
    assert targets.values == ("4",)
    assert targets.sources == (TargetSource.PSEUDO,)
    assert targets.confidence[0] == 0.5


def test_equivalent_answers_vote_together():
    assert TTRL().targets(make_groups([["1/2", "0.5", "3", "3", "\\frac{1}{2}"]])).confidence[0] == 0.6


def test_a_tie_gives_no_target():
    targets = TTRL().targets(make_groups([["4", "4", "5", "5"]]))
    assert isinstance(targets.values[0], NoTarget)
    assert targets.sources == (TargetSource.NONE,)


def test_rollouts_without_an_answer_never_win_but_count_in_the_confidence():
    targets = TTRL().targets(make_groups([[None, None, None, "9"]]))
    assert targets.values == ("9",)
    assert targets.confidence[0] == 0.25


def test_a_group_without_any_answer_has_no_target():
    assert isinstance(TTRL().targets(make_groups([[None, None]])).values[0], NoTarget)


def test_a_labelled_item_keeps_its_label_whatever_the_majority_says():
    targets = TTRL().targets(make_groups([["4", "4", "4"], ["4", "4", "4"]], labels=["7", None]))
    assert targets.values == ("7", "4")
    assert targets.sources == (TargetSource.GIVEN, TargetSource.PSEUDO)
    assert np.isnan(targets.confidence[0])


def test_permuting_rollouts_changes_nothing():
    rows = ["4", "5", "4", None, "6"]
    first = TTRL().targets(make_groups([rows]))
    second = TTRL().targets(make_groups([rows[::-1]]))
    assert first.values == second.values
    assert first.confidence[0] == second.confidence[0]
