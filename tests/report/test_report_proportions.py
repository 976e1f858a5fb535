from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.report.proportions import average_interval, wilson_interval


def test_the_interval_of_a_hand_calculation():
    """15 of 50: centre (0.3 + 3.8415/100) / (1 + 3.8415/50) = 0.31427, half width 0.12316 (Wilson 1927)."""
    assert wilson_interval(0.3, 50) == pytest.approx((0.1910, 0.4375), abs=1e-4)


def test_nothing_right_is_not_a_certainty():
    """0 of 8: [0, z^2 / (8 + z^2)] = [0, 3.8415 / 11.8415]."""
    assert wilson_interval(0.0, 8) == pytest.approx((0.0, 0.3244), abs=1e-4)
    assert wilson_interval(1.0, 8) == pytest.approx((0.6756, 1.0), abs=1e-4)


def test_the_average_of_equal_benchmarks_is_narrower_by_the_root_of_their_number():
    low, high = wilson_interval(0.3, 50)
    found = average_interval([(0.3, 50)] * 4)
    assert found == pytest.approx((0.3 - (0.3 - low) / 2, 0.3 + (high - 0.3) / 2))


def test_the_interval_of_one_benchmark_is_its_own():
    assert average_interval([(0.3, 50)]) == pytest.approx(wilson_interval(0.3, 50))


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_an_interval_holds_its_accuracy_and_stays_in_range(accuracy, questions):
    low, high = wilson_interval(accuracy, questions)
    assert 0 <= low <= accuracy + 1e-12
    assert accuracy - 1e-12 <= high <= 1


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.5, 0.9])
def test_the_interval_covers_the_truth_about_95_times_in_100(chance):
    n = 60
    weights = [comb(n, c) * chance**c * (1 - chance) ** (n - c) for c in range(n + 1)]
    covered = sum(
        w for c, w in enumerate(weights) if wilson_interval(c / n, n)[0] <= chance <= wilson_interval(c / n, n)[1]
    )
    assert 0.92 < covered < 0.98


@pytest.mark.parametrize(("accuracy", "questions"), [(0.5, 0), (1.1, 5), (-0.1, 5), (float("nan"), 5)])
def test_an_impossible_accuracy_is_refused(accuracy, questions):
    with pytest.raises(ValueError, match="allowed 0 to 1 over 1 or more"):
        wilson_interval(accuracy, questions)


def test_an_average_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no benchmark"):
        average_interval([])
