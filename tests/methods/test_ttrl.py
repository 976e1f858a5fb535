import numpy as np
import pytest
from rollouts import make_groups

from methods.groups import NoTarget, TargetSource
from methods.ttrl import TTRL, TTRLOptions
from methods.verification import verify


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


def test_all_rollouts_vote_while_the_first_train_samples_of_each_group_are_trained_on():
    method = TTRL(TTRLOptions(train_samples=2))
    groups = make_groups([["5", "4", "4", "4"], ["1", "1", "1", "1"]], labels=[None, "7"])
    targets = method.targets(groups)
    assert targets.values == ("4", "7")
    assert targets.confidence[0] == 0.75
    assert method.admit(groups, targets).tolist() == [[True, True, False, False]] * 2


def test_the_first_rollouts_are_those_with_the_smallest_numbers_wherever_they_stand():
    groups = make_groups([["4", "4", "4"]], rollout=np.array([[2, 0, 1]]))
    method = TTRL(TTRLOptions(train_samples=1))
    assert method.admit(groups, method.targets(groups)).tolist() == [[False, True, False]]


def test_by_default_every_rollout_is_trained_on():
    groups = make_groups([["4", None, "5"]])
    assert TTRL().admit(groups, TTRL().targets(groups)).tolist() == [[True, True, True]]


def test_answers_can_be_counted_as_strings():
    groups = make_groups([["1/2", "0.5", "3", "3"]])
    assert isinstance(TTRL().targets(groups).values[0], NoTarget)  # 1/2 and 3 twice each
    assert TTRL(TTRLOptions(vote_key="string")).targets(groups).values == ("3",)


def test_a_wrong_majority_still_marks_the_other_wrong_answers_rightly():
    # "Lucky hit" of the paper: the truth 9 loses to 1, yet 5 of 8 rewards are those that the truth would give:
    # wrong are only the two votes for 1 (rewarded) and the one for 9 (not rewarded).
    groups = make_groups([["1", "1", "9", "2", "3", "4", "5", None]])
    targets = TTRL().targets(groups)
    assert targets.values == ("1",)
    right = np.array([[answer == "9" for answer in groups.answers[0]]], dtype=float)
    assert (verify(groups, targets) == right).mean() == 5 / 8


@pytest.mark.parametrize("options", [{"train_samples": -1}, {"train_samples": 1.5}, {"vote_key": "meaning"}])
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match="allowed"):
        TTRLOptions(**options)
