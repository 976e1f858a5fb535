"""What a transition computes from the probes of an item."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import MethodError
from methods.transitions.base import ProbeVisit
from methods.transitions.probe_history import ols_slope, probe_histories, reaches


def history(*answers):
    return probe_histories([[ProbeVisit(7, tuple(given))] for given in answers])[7]


@pytest.mark.parametrize(
    ("values", "slope"),
    [
        ((0.25, 0.375, 0.5, 0.5, 0.625, 0.75), 0.0929),
        ((0.5, 0.5, 0.625, 0.625, 0.75, 0.75), 0.0571),
        ((0.5, 0.5, 0.5), 0.0),
        ((0.75, 0.5, 0.625, 0.5, 0.5, 0.375), -0.0571),
        ((0.7,), 0.0),
        ((), 0.0),
    ],
)
def test_slopes_are_those_of_the_olr_vectors(values, slope):
    assert ols_slope(values) == pytest.approx(slope, abs=5e-5)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_the_slope_is_that_of_least_squares(values):
    assert ols_slope(values) == pytest.approx(np.polyfit(range(len(values)), values, 1)[0], abs=1e-9)


def test_a_threshold_is_reached_at_equality_whatever_the_rounding():
    assert reaches((0.1 + 0.2 + 0.3) / 3, 0.2)
    assert reaches((-0.1 + 0.3 + 0.4) / 3, 0.2)
    assert not reaches(0.1999, 0.2)


def test_pass_rates_are_shares_of_all_responses_by_equivalence():
    found = history(["1/2", "0.5", None, "3"], ["7", None, None, None], [None] * 4)
    assert found.pass_rates("\\frac{1}{2}") == [0.5, 0.0, 0.0]
    assert found.pass_rates("7") == [0.0, 0.25, 0.0]
    assert found.pass_rates("") == [0.0, 0.0, 0.0]
    assert found.majorities == ("0.5", "7", None)  # written as the first of equally frequent spellings


def test_the_usual_majority_is_the_unique_mode_and_ties_have_none():
    four, five, tie = ["4", "4", "5"], ["5", "5", "4"], ["4", "5", None]
    assert history(four, five, five).usual_majority() == 5
    assert history(four, five).usual_majority() is None
    assert history(four, tie, tie).usual_majority() == 4  # a probe without a majority does not vote
    assert history(tie, tie).usual_majority() is None


def test_probes_that_visit_other_items_or_one_twice_are_refused():
    one, two = ProbeVisit(1, ("4",)), ProbeVisit(2, ("4",))
    with pytest.raises(MethodError, match="probe 1: found 1 visits of 1 items, allowed one visit of each of the 2"):
        probe_histories([[one, two], [one]])
    with pytest.raises(MethodError, match="probe 0: found 2 visits of 1 items"):
        probe_histories([[one, one]])


def test_without_probes_there_is_no_history():
    assert probe_histories([]) == {}
    assert probe_histories([[], []]) == {}
