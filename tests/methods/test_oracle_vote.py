import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rollouts import make_groups

from benchmark.errors import HiddenTruthError
from benchmark.evaluation.equivalence import same
from methods.groups import NoTarget, TargetSource
from methods.oracle_vote import OracleVote
from methods.ttrl import TTRL

ANSWER = st.sampled_from([None, "4", "5", "1/2", "0.5"])


def test_one_right_rollout_is_enough():
    targets = OracleVote().targets(make_groups([["4", "4", "4", "5"]], oracle=("5",)))
    assert targets.values == ("5",)
    assert targets.sources == (TargetSource.PSEUDO,)
    assert targets.confidence[0] == 0.25


def test_all_spellings_of_the_truth_count():
    targets = OracleVote().targets(make_groups([["4", "4", "0.5", r"\frac{1}{2}"]], oracle=("1/2",)))
    assert targets.values == ("1/2",)
    assert targets.confidence[0] == 0.5


def test_a_group_without_the_truth_is_labelled_by_its_majority():
    targets = OracleVote().targets(make_groups([["4", "4", "5", None]], oracle=("9",)))
    assert targets.values == ("4",)
    assert targets.confidence[0] == 0.5


@pytest.mark.parametrize("answers", [["4", "5"], [None, None]])
def test_a_tie_or_silence_without_the_truth_gives_no_target(answers):
    targets = OracleVote().targets(make_groups([answers], oracle=("9",)))
    assert isinstance(targets.values[0], NoTarget)
    assert targets.sources == (TargetSource.NONE,)


def test_a_labelled_item_keeps_its_label_even_where_it_is_wrong():
    targets = OracleVote().targets(make_groups([["4", "9"], ["4", "9"]], ["4", None], oracle=("9", "9")))
    assert targets.values == ("4", "9")
    assert targets.sources == (TargetSource.GIVEN, TargetSource.PSEUDO)
    assert math.isnan(targets.confidence[0])


@given(st.lists(ANSWER, min_size=1, max_size=8), st.sampled_from(["4", "5", "0.5", "9"]))
def test_no_vote_is_right_where_the_oracle_is_not(answers, truth):
    groups = make_groups([answers], oracle=(truth,))
    (voted,), (oracle,) = TTRL().targets(groups).values, OracleVote().targets(groups).values
    if not isinstance(voted, NoTarget) and same(voted, truth):
        assert same(oracle, truth)
    assert (not isinstance(oracle, NoTarget) and same(oracle, truth)) == any(same(answer, truth) for answer in answers)


def test_without_the_truth_it_cannot_run():
    assert OracleVote.uses_hidden_truth
    with pytest.raises(HiddenTruthError):
        OracleVote().targets(make_groups([["4", "4"]]))
