"""Estimators against hand calculations and against counting all subsets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.report.metrics import (
    Average,
    g_pass_at_k,
    group_average,
    item_accuracy,
    macro_average,
    mean_g_pass_at_k,
    mean_or_missing,
    pass_at_k,
    powers_of_two,
)


def at_k(n: int, c: int, k: int) -> float:
    return float(pass_at_k(np.array([c]), np.array([n]), k)[0])


def test_pass_at_k_of_the_protocol_example():
    assert at_k(32, 4, 8) == pytest.approx(0.7045, abs=5e-5)  # the plug-in 1-(1-p)^k would give 0.6564


@given(st.data())
def test_pass_at_k_is_the_share_of_subsets_with_a_correct_response(data):
    n = data.draw(st.integers(1, 9))
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    right = [True] * c + [False] * (n - c)
    subsets = list(combinations(right, k))
    assert at_k(n, c, k) == pytest.approx(sum(any(subset) for subset in subsets) / len(subsets), abs=1e-12)


@given(st.integers(1, 200), st.data())
def test_pass_at_one_is_the_accuracy(n, data):
    c = data.draw(st.integers(0, n))
    assert at_k(n, c, 1) == pytest.approx(c / n)


def test_pass_at_k_needs_k_responses():
    assert np.isnan(at_k(4, 4, 8))


def test_accuracy_divides_by_the_responses_that_exist():
    accuracy = item_accuracy(np.array([1, 3, 0]), np.array([4, 3, 0]))
    assert accuracy[:2].tolist() == [0.25, 1.0]
    assert np.isnan(accuracy[2])


def test_a_question_without_a_judged_response_makes_the_benchmark_missing():
    assert mean_or_missing(np.array([1.0, 0.5])) == 0.75
    assert mean_or_missing(np.array([1.0, np.nan])) is None
    assert mean_or_missing(np.array([])) is None


def test_benchmarks_weigh_equally_and_a_missing_one_makes_the_average_missing():
    assert macro_average([0.2, 0.6]) == pytest.approx(0.4)
    assert macro_average([0.2, None]) is None
    assert macro_average([]) is None


def test_k_runs_over_the_powers_of_two_up_to_n():
    assert powers_of_two(8) == (1, 2, 4, 8)
    assert powers_of_two(12) == (1, 2, 4, 8)
    assert powers_of_two(0) == ()


def stable(n: int, c: int, k: int, threshold: float) -> float:
    return float(g_pass_at_k(np.array([c]), np.array([n]), k, threshold)[0])


@given(st.data())
def test_g_pass_at_k_is_the_share_of_subsets_with_enough_correct_responses(data):
    n = data.draw(st.integers(1, 9))
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    needed = data.draw(st.integers(1, k))
    subsets = list(combinations([True] * c + [False] * (n - c), k))
    share = sum(sum(subset) >= needed for subset in subsets) / len(subsets)
    assert stable(n, c, k, needed / k) == pytest.approx(share, abs=1e-12)


def test_g_pass_at_k_by_hand():
    assert stable(4, 2, 2, 1.0) == pytest.approx(1 / 6)  # one pair of six is all correct
    assert stable(32, 4, 8, 0.0) == pytest.approx(0.7045, abs=5e-5)  # the lowest threshold is pass@k
    assert stable(32, 4, 8, 0.125) == stable(32, 4, 8, 0.0)
    assert np.isnan(stable(4, 4, 8, 0.5))


def test_mean_g_pass_at_k_averages_the_thresholds_above_one_half():
    correct, samples = np.array([5]), np.array([8])
    by_hand = (stable(8, 5, 4, 3 / 4) + stable(8, 5, 4, 1.0)) * 2 / 4
    assert mean_g_pass_at_k(correct, samples, 4)[0] == pytest.approx(by_hand)
    assert mean_g_pass_at_k(np.array([8]), samples, 4)[0] == 1
    assert np.isnan(mean_g_pass_at_k(correct, samples, 1)[0])


def test_the_average_of_a_group_names_the_benchmark_that_it_lacks():
    assert group_average({"aime24": 0.2, "amc": 0.6}) == Average(pytest.approx(0.4), ("aime24", "amc"))
    lacking = group_average({"aime24": None, "amc": 0.6, "math500": None})
    assert lacking.value is None
    assert lacking.reason == "no value on 2 of 3 benchmarks: aime24, math500"
    assert group_average({}).reason == "no benchmark of this group was evaluated"
