import numpy as np
import pytest
from rollouts import make_groups

from benchmark.errors import HiddenTruthError, MethodError
from benchmark.training.supervision import advantage_weights, decide, transform_rewards
from methods.base import Method, given_targets
from methods.groups import NO_TARGET, Evidence, Targets, TargetSource
from methods.grpo import GRPO
from methods.ttrl import TTRL
from methods.verification import verify


def groups(answers=(("7", "8", None), ("3", "3", "4")), labels=("7", None)):
    return make_groups(answers, labels, step=3)


def test_grpo_rewards_labelled_rows_and_scores_unlabelled_ones_zero():
    decision = decide(GRPO(), groups())
    assert decision.verified.tolist() == [[1, 0, 0], [0, 0, 0]]
    assert decision.admitted.all()


def test_ttrl_scores_unlabelled_rows_against_the_majority():
    assert decide(TTRL(), groups()).verified.tolist() == [[1, 0, 0], [1, 1, 0]]


def test_no_target_matches_nothing():
    targets = Targets((NO_TARGET, NO_TARGET), (TargetSource.NONE,) * 2, np.full(2, np.nan))
    assert verify(groups(), targets).sum() == 0


class ReadsTheTruth(Method):
    name, summary = "reads_the_truth", "asks for what it must not see"

    def targets(self, groups):
        return Targets(tuple(groups.labels), (TargetSource.PSEUDO,) * len(groups), np.ones(len(groups)))


def test_a_method_that_reads_hidden_truth_is_stopped_with_the_rule():
    with pytest.raises(HiddenTruthError, match="a method cannot read the hidden truth of an unlabelled item"):
        decide(ReadsTheTruth(), groups())


class Relabels(Method):
    name, summary = "relabels", "replaces given labels"

    def targets(self, groups):
        return Targets(("8", "3"), (TargetSource.PSEUDO,) * 2, np.ones(2))


def test_replacing_a_given_label_is_refused_with_item_and_step():
    with pytest.raises(MethodError, match="labelled items always use their given label; first at item 100 in step 3"):
        decide(Relabels(), groups())


class ClaimsALabel(Method):
    name, summary = "claims_a_label", "calls a pseudo label a given one"

    def targets(self, groups):
        return Targets(("7", "3"), (TargetSource.GIVEN,) * 2, np.ones(2))


def test_a_pseudo_label_cannot_pass_as_a_given_one():
    with pytest.raises(MethodError, match="an unlabelled item has no given target; first at item 101"):
        decide(ClaimsALabel(), groups())


class Admits(Method):
    name, summary = "admits", "returns what it is told to"

    def __init__(self, mask):
        super().__init__()
        self.mask = mask

    def admit(self, groups, targets):
        return self.mask


def test_a_group_mask_is_spread_over_its_rollouts():
    assert decide(Admits(np.array([True, False])), groups()).admitted.tolist() == [[True] * 3, [False] * 3]


def test_a_rollout_mask_is_taken_as_it_is():
    mask = np.array([[True, False, True], [False, False, True]])
    assert (decide(Admits(mask), groups()).admitted == mask).all()


def test_admitting_nothing_is_legal():
    assert not decide(Admits(np.array([False, False])), groups()).admitted.any()


@pytest.mark.parametrize("mask", [np.ones(2), np.ones(3, dtype=bool), np.ones((3, 2), dtype=bool)])
def test_a_mask_of_wrong_type_or_shape_is_refused(mask):
    with pytest.raises(MethodError, match="admit"):
        decide(Admits(mask), groups())


class Rewards(Method):
    name, summary = "rewards", "returns what it is told to"

    def __init__(self, values):
        super().__init__()
        self.values = values

    def rewards(self, groups, verified, evidence):
        return self.values

    def advantages(self, groups, advantages, evidence):
        return self.values


def test_a_reward_that_is_not_finite_is_an_error_that_names_the_item():
    rewards = np.zeros((2, 3))
    rewards[1, 2] = np.nan
    with pytest.raises(MethodError, match="rewards must be finite; first at item 101"):
        transform_rewards(Rewards(rewards), groups(), np.zeros((2, 3)), Evidence())


@pytest.mark.parametrize("weight", [-0.1, 1.1, np.nan])
def test_a_weight_outside_the_unit_interval_is_refused(weight):
    with pytest.raises(MethodError, match=r"advantage weights must lie in \[0, 1\]"):
        advantage_weights(Rewards(np.array([1.0, weight])), groups(), np.zeros((2, 3)), Evidence())


def test_unused_surfaces_are_the_identity():
    verified = np.array([[1.0, 0, 0], [0, 1, 0]])
    assert transform_rewards(GRPO(), groups(), verified, Evidence()) is verified
    assert advantage_weights(GRPO(), groups(), verified, Evidence()).tolist() == [1, 1]
    assert given_targets(groups()).values[0] == "7"
