import numpy as np
from rollouts import make_groups

from methods.base import LabelNeed
from methods.dynamic_sampling import DynamicSampling
from methods.verification import verify


def admitted(answers, labels):
    groups = make_groups(answers, labels)
    targets = DynamicSampling().targets(groups)
    verified = verify(groups, targets)
    found = DynamicSampling().admit(groups, targets)
    assert found.tolist() == (verified.min(axis=1) != verified.max(axis=1)).tolist()
    return found.tolist()


def test_only_groups_with_right_and_wrong_rollouts_are_admitted():
    all_right, all_wrong, both = ["4", "4.0", "8/2"], ["5", "6", None], ["4", "5", "4"]
    assert admitted([all_right, all_wrong, both], ["4", "4", "4"]) == [False, False, True]


def test_a_missing_answer_is_a_wrong_one():
    assert admitted([["4", None, "4"]], ["4"]) == [True]


def test_two_different_wrong_answers_are_no_contrast():
    assert admitted([["5", "6", "7"]], ["4"]) == [False]


def test_unlabelled_items_are_never_admitted():
    assert admitted([["4", "5"], ["4", "5"]], [None, "4"]) == [False, True]


def test_a_group_of_one_has_no_contrast():
    assert admitted([["4"], ["5"]], ["4", "4"]) == [False, False]


def test_a_step_without_prompts_admits_nothing():
    groups = make_groups([])
    found = DynamicSampling().admit(groups, DynamicSampling().targets(groups))
    assert found.shape == (0,)
    assert found.dtype == np.bool_


def test_it_learns_from_labels_only():
    assert DynamicSampling.label_need is LabelNeed.REQUIRED
