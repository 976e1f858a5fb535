import numpy as np
import pytest
from scipy.stats import norm

from methods.mixture import percentile_ranks, reliability


def two_modes():
    return np.concatenate([np.linspace(-2.2, -1.8, 40), np.linspace(-0.3, -0.1, 60)])


def test_two_modes_are_told_apart():
    trust, bimodal = reliability(two_modes(), two_modes())
    assert bimodal
    assert trust[:40].max() < 0.01
    assert trust[40:].min() > 0.99


def test_one_mode_is_ranked_instead():
    recent = 0.05 * norm.ppf((np.arange(201) + 0.5) / 201)  # quantiles of a Gaussian: value k has rank k
    trust, bimodal = reliability(recent, recent[[0, 100, 200]])
    assert not bimodal
    assert trust == pytest.approx([0.5 / 201, 0.5, 200.5 / 201])


def test_a_wider_separation_refuses_more_modes():
    # halves of a uniform density: means 1/2 apart, variances 1/48 each, hence 2.45 sqrt(v1 + v2) at most
    recent = np.linspace(0, 1, 101)
    assert reliability(recent, recent, separation=1.0)[1]
    assert not reliability(recent, recent, separation=2.5)[1]


def test_ranks_count_ties_half():
    # of 1 2 2 3: one below 2 and two ties; none below 0; three below 3 and one tie
    ranks = percentile_ranks(np.array([3.0, 2.0, 1.0, 2.0]), np.array([2.0, 0.0, 3.0, 9.0]))
    assert ranks.tolist() == [0.5, 0.0, 0.875, 1.0]


def test_equal_values_are_all_ranked_in_the_middle():
    trust, bimodal = reliability(np.full(64, -0.7), np.full(3, -0.7))
    assert trust.tolist() == [0.5] * 3
    assert not bimodal


@pytest.mark.parametrize("recent", [two_modes(), 0.05 * norm.ppf(np.linspace(0.01, 0.99, 99))])
def test_the_order_of_the_queries_does_not_matter(recent):
    queries = np.random.default_rng(0).permutation(recent)
    assert (reliability(recent, queries)[0] == reliability(recent, queries[::-1])[0][::-1]).all()
    assert reliability(recent, np.zeros(0))[0].shape == (0,)
