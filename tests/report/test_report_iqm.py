"""Interquartile mean and probability of improvement, by hand and against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import trim_mean

from benchmark.report.iqm import interquartile_mean, interquartile_mean_interval, probability_of_improvement


def test_a_quarter_of_the_scores_is_cut_at_each_end():
    assert interquartile_mean(np.array([[100.0, 1.0, 2.0, 3.0], [-50.0, 4.0, 5.0, 6.0]])) == pytest.approx(3.5)


@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 2**16))
def test_it_is_the_trimmed_mean_of_scipy(seeds, benchmarks, seed):
    scores = np.random.default_rng(seed).normal(0, 1, (seeds, benchmarks))
    assert interquartile_mean(scores) == pytest.approx(trim_mean(scores, 0.25, axis=None))


def test_the_bootstrap_by_counts_equals_sorting_each_replicate():
    scores = np.random.default_rng(0).uniform(0.2, 0.8, (3, 9))
    found = interquartile_mean_interval(scores, repetitions=20_000, seed=1)
    draws = np.random.default_rng(2).integers(0, 3, (20_000, 3, 9))
    replicates = np.sort(scores[draws, np.arange(9)].reshape(20_000, 27), axis=1)[:, 6:21].mean(axis=1)
    low, high = np.percentile(replicates, (2.5, 97.5))
    assert (found.low, found.high) == (pytest.approx(low, abs=2e-3), pytest.approx(high, abs=2e-3))
    assert found.value == interquartile_mean(scores)


def test_an_interval_is_reproducible_and_depends_on_its_seed():
    scores = np.random.default_rng(0).uniform(0, 1, (5, 3))
    assert interquartile_mean_interval(scores, seed=1) == interquartile_mean_interval(scores, seed=1)
    assert interquartile_mean_interval(scores, seed=1) != interquartile_mean_interval(scores, seed=2)


def test_equal_scores_have_an_interval_without_width():
    found = interquartile_mean_interval(np.full((4, 3), 0.25), repetitions=100)
    assert (found.value, found.low, found.high) == (0.25, 0.25, 0.25)


def test_the_probability_of_improvement_counts_pairs_and_halves_ties():
    arm, reference = np.array([[1.0, 0.5], [3.0, 0.5]]), np.array([[2.0, 0.5], [0.0, 0.5]])
    found = probability_of_improvement(arm, reference)
    assert found.value == pytest.approx((3 / 4 + 1 / 2) / 2)  # three of four pairs; all tied
    assert found.low <= found.value <= found.high


def test_an_arm_that_always_wins_improves_with_certainty():
    found = probability_of_improvement(np.full((3, 2), 0.9), np.full((4, 2), 0.1))
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
