import numpy as np
import pytest
from rollouts import make_groups

from methods.groups import Evidence, NoTarget
from methods.self_certainty import SelfCertainty

PEAKED, SHARP = np.array([0.7, 0.2, 0.1]), np.array([0.98, 0.01, 0.01])


def kl_from_uniform(p):
    """KL(U || p) = -1/V sum_v log(V p_v), the evidence of one token."""
    return -np.log(len(p) * p).mean()


def kl_to_uniform(p):
    """KL(p || U) = sum_v p_v log(V p_v), the wrong direction."""
    return (p * np.log(len(p) * p)).sum()


def reward_of(*tokens):
    groups = make_groups([["4"]], lengths=np.array([[len(tokens)]]))
    return SelfCertainty().rewards(groups, np.zeros((1, 1)), Evidence(self_certainty=((np.array(tokens),),)))[0, 0]


@pytest.mark.parametrize(("p", "right", "wrong"), [(PEAKED, 0.3243, 0.2968), (SHARP, 1.9782, 0.9867)])
def test_self_certainty_is_the_divergence_of_the_uniform_distribution_from_the_policy(p, right, wrong):
    assert reward_of(kl_from_uniform(p)) == pytest.approx(right, abs=5e-5)
    assert kl_to_uniform(p) == pytest.approx(wrong, abs=5e-5)


def test_the_reward_is_the_mean_over_the_tokens():
    assert reward_of(kl_from_uniform(PEAKED), kl_from_uniform(SHARP)) == pytest.approx((0.3243 + 1.9782) / 2, abs=5e-5)


def test_an_unlabelled_item_has_no_target():
    targets = SelfCertainty().targets(make_groups([["4", "4"], ["4", "4"]], labels=["4", None]))
    assert targets.values[0] == "4"
    assert isinstance(targets.values[1], NoTarget)
