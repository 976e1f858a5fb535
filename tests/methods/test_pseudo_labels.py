import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rollouts import make_groups

from methods.groups import NoTarget, TargetSource
from methods.pseudo_labels import majority, majority_targets, require_vote_key

ANSWER = st.sampled_from([None, "", "1", "1.0", "1/2", "0.5", "x", "12"])
ANSWERS = st.lists(ANSWER, min_size=1, max_size=12)


def test_answers_given_from_elsewhere_vote_in_place_of_the_groups_own():
    targets = majority_targets(make_groups([["4", "4", "4"]]), answers=[["5", "5", "6", "5"]])
    assert targets.values == ("5",)
    assert targets.confidence[0] == 0.75


def test_an_item_for_which_nobody_votes_has_no_target_and_states_no_confidence():
    targets = majority_targets(make_groups([["4", "4"]]), answers=[[]])
    assert isinstance(targets.values[0], NoTarget)
    assert targets.sources == (TargetSource.NONE,)
    assert math.isnan(targets.confidence[0])


def test_labelled_items_keep_their_label_and_are_not_voted_on():
    targets = majority_targets(make_groups([["4", "4"], ["4", "4"]], labels=[None, "9"]))
    assert targets.values == ("4", "9")
    assert targets.sources == (TargetSource.PSEUDO, TargetSource.GIVEN)
    assert targets.confidence[0] == 1.0
    assert math.isnan(targets.confidence[1])


def test_equal_values_in_two_spellings_win_by_equivalence_and_lose_as_strings():
    answers = ["1/2", "0.5", "3", "3", "0.50", "1/2"]  # value 1/2 four times of 6; as strings 1/2 and 3 twice each
    assert majority(answers, "equivalence") == ("1/2", 4 / 6)
    assert majority(answers, "string") == (None, 2 / 6)
    assert majority([*answers, "3"], "string") == ("3", 3 / 7)


def test_missing_answers_never_win_a_vote_of_strings():
    assert majority([None, None, "", "", " ", "7"], "string") == ("7", 1 / 6)
    assert majority([None, ""], "string") == (None, 0.0)


@pytest.mark.parametrize("vote_key", ["equivalence", "string"])
@given(ANSWERS.flatmap(lambda answers: st.tuples(st.just(answers), st.permutations(answers))))
def test_the_order_of_the_voters_changes_nothing(vote_key, orders):
    one, other = orders
    assert majority(one, vote_key) == majority(other, vote_key)


def test_an_unknown_way_of_counting_is_refused():
    with pytest.raises(ValueError, match="found 'text', allowed equivalence, string"):
        require_vote_key("text")


def test_a_batch_without_prompts_has_no_targets():
    targets = majority_targets(make_groups([]))
    assert targets.values == targets.sources == ()
    assert targets.confidence.shape == (0,)
    assert targets.confidence.dtype == np.float64
