"""Routing: exact budgets, seeded ties, calibrated cuts and the fall-back on a random order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import SuiteError
from methods.selection.calibration import CalibrationRule, correctness_by_rank, probe_ranks, spearman, thresholds
from methods.selection.router import Budget, Route, route_by_budget, route_by_calibration

INDICES = st.lists(st.integers(0, 2**63 - 1), max_size=60, unique=True)
SHARES = st.floats(0, 1)


def by_rank(routing):
    return "".join(route.value[0] for route in routing.routes.values())


def falling(pool):
    """Scores by which the question with index i has rank i."""
    return {index: float(-index) for index in range(pool)}


def test_the_least_certain_are_annotated_and_the_most_certain_discarded():
    scores = {index: index / 10 for index in range(10)}
    routing = route_by_budget(scores, Budget(0.3, 0.4), seed=0)
    assert by_rank(routing) == "aaauuudddd"
    assert list(routing.routes) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert routing.ranks[9] == 0
    assert routing.ranks[0] == 9
    assert (routing.annotate_below, routing.discard_from) == (3, 6)
    assert (routing.probed, routing.spearman, routing.warnings) == (frozenset(), None, ())


def test_the_published_budget_is_met_to_the_question():
    routing = route_by_budget(falling(1000), Budget(0.293, 0.421), seed=0)
    assert [routing.count(route) for route in Route] == [293, 286, 421]


def test_two_halves_of_an_odd_pool_do_not_overlap():
    assert by_rank(route_by_budget(falling(3), Budget(0.5, 0.5), seed=0)) == "aad"  # round(1.5) is 2


@given(INDICES, SHARES, SHARES, st.integers(0, 9), st.randoms())
def test_sizes_are_exact_and_the_order_of_the_pool_changes_nothing(indices, one, two, seed, rng):
    low, high = sorted((one, two))
    budget = Budget(low, high - low)
    scores = {index: float(index % 3) for index in indices}
    routing = route_by_budget(scores, budget, seed)
    assert routing.count(Route.ANNOTATE) == round(budget.annotate * len(indices))
    assert abs(routing.count(Route.DISCARD) - budget.discard * len(indices)) <= 1
    ranked = list(routing.routes)
    assert all(scores[first] >= scores[second] for first, second in pairwise(ranked))
    shuffled = rng.sample(indices, len(indices))
    assert route_by_budget({index: scores[index] for index in shuffled}, budget, seed) == routing


def test_equal_scores_are_ordered_by_the_seed():
    scores = dict.fromkeys(range(200), 1.0)
    first, second = (
        {i for i, route in route_by_budget(scores, Budget(0.5, 0.0), seed).routes.items() if route is Route.ANNOTATE}
        for seed in (0, 1)
    )
    assert 30 < len(first & second) < 70  # independent halves share 50 on average


@pytest.mark.parametrize(("annotate", "discard"), [(-0.1, 0.5), (0.5, -0.1), (0.6, 0.5), (float("nan"), 0.1)])
def test_impossible_shares_are_refused(annotate, discard):
    with pytest.raises(SuiteError, match="selection shares: found annotate"):
        Budget(annotate, discard)


@pytest.mark.parametrize(("pool", "count"), [(14_000, 280), (1536, 100), (150, 75), (3, 1), (1, 0), (0, 0)])
def test_two_percent_are_probed_but_a_hundred_at_least_and_half_the_pool_at_most(pool, count):
    ranks = probe_ranks(pool, CalibrationRule())
    assert len(ranks) == count
    assert len(set(ranks.tolist())) == count
    assert all(0 <= rank < pool for rank in ranks)


def test_probes_are_evenly_spaced():
    assert probe_ranks(1000, CalibrationRule())[:3].tolist() == [5, 15, 25]
    assert probe_ranks(1000, CalibrationRule())[-1] == 995


def test_windows_that_fall_are_pooled_into_a_monotone_curve():
    rule = CalibrationRule(window=0.25)  # one probe per window of four probes
    curve = correctness_by_rank(np.array([0, 2, 4, 6]), np.array([0.2, 0.6, 0.4, 0.8]), 8, rule)
    # .6 and .4 are pooled to .5; ranks between two probes are interpolated, the last rank keeps the last value
    np.testing.assert_allclose(curve, [0.2, 0.35, 0.5, 0.5, 0.5, 0.65, 0.8, 0.8])


def test_thresholds_include_correctness_that_equals_them():
    assert thresholds(np.array([0.4, 0.5, 0.6, 0.9, 1.0]), CalibrationRule()) == (2, 3)
    assert thresholds(np.array([0.6, 0.7]), CalibrationRule()) == (0, 2)
    assert thresholds(np.array([0.95, 1.0]), CalibrationRule()) == (0, 0)
    assert thresholds(np.array([0.1, 0.2]), CalibrationRule()) == (2, 2)


def test_calibration_finds_where_the_policy_is_wrong_and_where_it_is_right():
    def correctness(index):
        bought.append(index)
        return 0.0 if index < 300 else 0.7 if index < 600 else 1.0

    bought = []
    routing = route_by_calibration(falling(1000), correctness, Budget(0.1, 0.1), seed=0)
    # Probes stand at 5, 15, .., 995, so a window of 20 that starts at probe s has its centre at 10 s + 100.
    # Windows 24 and 25 hold 14 and 15 probes past 300: .490 at 340 and .525 at 350, so .5 is passed at 342.9.
    # Windows 53 and 54 hold 13 and 14 probes past 600: .895 at 630 and .910 at 640, so .9 is passed at 633.3.
    assert (routing.annotate_below, routing.discard_from) == (343, 634)
    assert [routing.count(route) for route in Route] == [343, 291, 366]
    assert bought == list(range(5, 1000, 10))
    assert routing.probed == frozenset(bought)
    assert routing.spearman < -0.9
    assert routing.warnings == ()


def test_a_policy_that_masters_nothing_has_nothing_discarded():
    routing = route_by_calibration(falling(1000), lambda index: 0.4 * index / 1000, Budget(0.1, 0.1), seed=0)
    assert [routing.count(route) for route in Route] == [1000, 0, 0]


@pytest.mark.parametrize(
    ("correctness", "found"),
    [
        (lambda index: 1.0, "is undefined"),  # all alike
        (lambda index: 1.0 - index / 1000, "is 1.000"),  # the uncertain ones are right
        (lambda index: float(index % 20 == 5), "is 0.0"),  # unrelated: every second probe is right
    ],
)
def test_scores_that_say_nothing_about_correctness_are_routed_at_random_with_a_warning(correctness, found):
    routing = route_by_calibration(falling(1000), correctness, Budget(0.293, 0.421), seed=0)
    (warning,) = routing.warnings
    assert warning.startswith("calibration failed: the rank correlation of score and correctness over 100 labelled")
    assert found in warning
    assert [routing.count(route) for route in Route] == [293, 286, 421]
    assert len(routing.probed) == 100  # they were bought all the same
    annotated = [routing.ranks[i] for i, route in routing.routes.items() if route is Route.ANNOTATE]
    assert 450 < np.mean(annotated) < 550  # and not the first 293 ranks, whose mean is 146
    again = route_by_calibration(falling(1000), correctness, Budget(0.293, 0.421), seed=1)
    assert again.routes != routing.routes


def test_a_pool_too_small_to_calibrate_is_routed_at_random():
    for pool in (0, 1, 3):
        routing = route_by_calibration(falling(pool), lambda index: 1.0, Budget(1.0, 0.0), seed=0)
        assert len(routing.warnings) == 1
        assert routing.count(Route.ANNOTATE) == pool


def test_rank_correlation_by_hand_and_where_it_is_undefined():
    # ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * (1 + 1 + 1 + 1) / (4 * 15)
    assert spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 1.0, 9.0, 7.0])) == pytest.approx(0.6)
    assert spearman(np.array([1.0, 2.0]), np.array([3.0, 3.0])) is None
    assert spearman(np.array([1.0]), np.array([3.0])) is None
