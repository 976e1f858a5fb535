"""The advantage estimators that every method is trained with, verl's own, on vectors worked out by hand."""

import numpy as np
import pytest
import torch
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, compute_rloo_outcome_advantage

TOKENS = 3


def as_tokens(rewards):
    """Put the reward of each rollout on its last token: rewards [N, T] and a mask of ones."""
    tokens = torch.zeros(len(rewards), TOKENS)
    tokens[:, -1] = torch.tensor(rewards)
    return tokens, torch.ones(len(rewards), TOKENS)


def grpo(rewards, by_std=True):
    """Return the advantage of each rollout of one group, which must be the same for all its tokens."""
    tokens, mask = as_tokens(rewards)
    group = np.zeros(len(rewards), dtype=object)
    advantages, _ = compute_grpo_outcome_advantage(tokens, mask, group, norm_adv_by_std_in_grpo=by_std)
    assert (advantages == advantages[:, :1]).all()
    return advantages[:, 0].numpy()


def corrected(reward, false_positives=0.1, false_negatives=0.2):
    """Correct a noisy reward backwards: (r - rho0) / (1 - rho0 - rho1) (arXiv 2510.00915)."""
    return (reward - false_positives) / (1 - false_positives - false_negatives)


@pytest.mark.parametrize(
    ("correct", "right", "wrong"),
    [
        (3, 1.2076, -0.7246),  # mean 3/8, sd sqrt(8/7 * 15/64) = .5175: .625 / .5175 and -.375 / .5175
        (1, 2.4749, -0.3536),  # mean 1/8, sd sqrt(8/7 * 7/64) = .3536
    ],
)
def test_grpo_divides_by_the_standard_deviation_of_the_group(correct, right, wrong):
    expected = [right] * correct + [wrong] * (8 - correct)
    assert grpo([1.0] * correct + [0.0] * (8 - correct)) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_group_with_equal_rewards_has_no_advantage(reward):
    assert (grpo([reward] * 8) == 0).all()


def test_without_the_division_the_advantage_is_the_distance_to_the_mean():
    assert grpo([1.0, 1.0, 1.0, 0, 0, 0, 0, 0], by_std=False) == pytest.approx([0.625] * 3 + [-0.375] * 5)


def test_rloo_compares_each_rollout_with_the_mean_of_the_others():
    tokens, mask = as_tokens([-1.0, -2.0, -3.0, -2.0])
    advantages, _ = compute_rloo_outcome_advantage(tokens, mask, np.zeros(4, dtype=object))
    # -1 + 7/3, -2 + 2, -3 + 5/3, -2 + 2
    assert advantages[:, 0].numpy() == pytest.approx([4 / 3, 0, -4 / 3, 0], abs=1e-6)


def test_the_backward_correction_stretches_the_rewards():
    assert corrected(0) == pytest.approx(-0.142857, abs=1e-6)  # -.1 / .7
    assert corrected(1) == pytest.approx(1.285714, abs=1e-6)  # .9 / .7


def test_the_backward_correction_cancels_where_grpo_divides_by_the_standard_deviation():
    noisy = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    fixed = [corrected(reward) for reward in noisy]
    assert grpo(fixed) == pytest.approx(grpo(noisy), abs=1e-4)  # not exact: 1e-6 is added to the deviation
    assert grpo(fixed, by_std=False) == pytest.approx(grpo(noisy, by_std=False) / 0.7, abs=1e-5)
    assert not np.allclose(grpo(fixed, by_std=False), grpo(noisy, by_std=False), atol=0.1)
