import math

import pytest
from rollouts import make_groups

from benchmark.errors import MethodError
from methods.co_rewarding_ii import CoRewardingII, CoRewardingIIOptions
from methods.groups import NoTarget, TargetSource
from methods.teacher import TeacherPlan


def test_the_majority_of_the_teacher_is_the_target_whatever_the_policy_answers():
    groups = make_groups([["4", "4", "4"]], teacher_answers=(("5", "6", "5", "5", None),))
    targets = CoRewardingII().targets(groups)
    assert targets.values == ("5",)
    assert targets.sources == (TargetSource.PSEUDO,)
    assert targets.confidence[0] == 0.6


def test_a_labelled_item_keeps_its_label():
    groups = make_groups([["4", "4"], ["4", "4"]], ["9", None], teacher_answers=(("5", "5"), ("5", "5")))
    targets = CoRewardingII().targets(groups)
    assert targets.values == ("9", "5")
    assert math.isnan(targets.confidence[0])


@pytest.mark.parametrize("said", [("5", "6"), (None, None), ()])
def test_a_teacher_that_is_undecided_or_silent_gives_no_target(said):
    targets = CoRewardingII().targets(make_groups([["4", "4"]], teacher_answers=(said,)))
    assert isinstance(targets.values[0], NoTarget)
    assert targets.sources == (TargetSource.NONE,)


def test_a_runner_that_did_not_sample_the_teacher_is_told_so():
    with pytest.raises(
        MethodError, match="found no teacher answers in step 1; fix: the runner must sample the teacher"
    ):
        CoRewardingII().targets(make_groups([["4", "4"]]))


def test_the_teacher_moves_as_in_the_paper():
    plan = CoRewardingII().teacher
    assert plan == TeacherPlan(rollouts=8, first_rate=0.01, last_rate=1e-4, anchors=True)
    assert plan.rate(1, 101) == pytest.approx(0.01)
    assert plan.rate(51, 101) == pytest.approx((0.01 + 1e-4) / 2)  # half a cosine is halfway in the middle
    assert plan.rate(101, 101) == pytest.approx(1e-4)


def test_the_options_shape_the_teacher():
    options = CoRewardingIIOptions(teacher_rollouts=4, first_rate=0.5, last_rate=1e-5, kl_ref="frozen")
    assert CoRewardingII(options).teacher == TeacherPlan(4, 0.5, 1e-5, anchors=False)


@pytest.mark.parametrize(
    "options",
    [{"teacher_rollouts": 0}, {"last_rate": 0.0}, {"first_rate": 1.5}, {"first_rate": 1e-5}, {"kl_ref": "base"}],
)
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match="allowed"):
        CoRewardingIIOptions(**options)
