"""Holm's adjustment by hand, and against the closed test that it shortens."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.report.multiplicity import holm

P = st.lists(st.floats(0, 1), min_size=1, max_size=5)


def test_three_p_values_by_hand():
    assert holm([0.04, 0.01, 0.03]) == (pytest.approx(0.06), pytest.approx(0.03), pytest.approx(0.06))


def test_none_is_adjusted_to_none_and_one_is_left_alone():
    assert holm([]) == ()
    assert holm([0.2]) == (0.2,)


@given(P)
def test_it_is_the_closed_test_with_bonferroni(p_values):
    for place, adjusted in enumerate(holm(p_values)):
        families = [
            chosen
            for size in range(1, len(p_values) + 1)
            for chosen in combinations(range(len(p_values)), size)
            if place in chosen
        ]
        closed = max(min(1.0, len(chosen) * min(p_values[i] for i in chosen)) for chosen in families)
        assert adjusted == pytest.approx(closed)


@given(P)
def test_adjusted_values_keep_the_order_and_are_never_smaller(p_values):
    adjusted = holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    ordered = [after for _, after in sorted(zip(p_values, adjusted, strict=True))]
    assert ordered == sorted(ordered)
