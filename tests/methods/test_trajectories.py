import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.trajectories import consistency, slope

DATABASE = [(0.125, 0.25, 0.5, 0.75), (0.0, 0.25, 0.25, 0.5)]
rates = st.integers(0, 8).map(lambda k: k / 8)


@pytest.mark.parametrize(
    ("trajectory", "expected"),
    [
        ((0.25, 0.375, 0.5, 0.5, 0.625, 0.75), 0.0929),
        ((0.5, 0.5, 0.625, 0.625, 0.75, 0.75), 0.0571),
        ((0.75, 0.5, 0.625, 0.5, 0.5, 0.375), -0.0571),
        ((0.5,) * 6, 0.0),
    ],
)
def test_slopes_are_those_of_the_published_vectors(trajectory, expected):
    assert slope(trajectory) == pytest.approx(expected, abs=5e-5)


def test_fewer_than_two_visits_have_no_slope():
    assert slope(()) == slope((0.75,)) == 0.0


def test_a_slope_at_the_threshold_reaches_it():
    assert slope((0.0, 0.05)) >= 0.05
    assert slope((0.125, 0.25, 0.375)) == 0.125


@given(st.lists(rates, min_size=2, max_size=15))
def test_the_slope_is_that_of_a_least_squares_line(trajectory):
    assert slope(trajectory) == pytest.approx(np.polyfit(range(len(trajectory)), trajectory, 1)[0], abs=1e-12)


@pytest.mark.parametrize(
    ("query", "centred", "uncentred"),
    [
        ((0.25, 0.375, 0.5, 0.875), 0.960, 0.989),
        ((0.875, 0.75, 0.625, 0.5), -0.969, 0.727),
        ((0.5, 0.5, 0.5, 0.5), 0.0, 0.849),
        ((1.0, 0.25, 0.5, 1.0), 0.113, 0.7975),  # .9375 / (1.5207 * .7731)
    ],
)
def test_consistency_scores_are_those_of_the_worked_example(query, centred, uncentred):
    assert consistency([query], DATABASE)[0] == pytest.approx(centred, abs=5e-4)
    assert consistency([query], DATABASE, centred=False)[0] == pytest.approx(uncentred, abs=5e-4)


def test_everything_is_cut_to_the_first_visits_of_the_shortest_row():
    longer = [(*DATABASE[0], 0.0, 0.0), DATABASE[1]]
    query = (0.25, 0.375, 0.5, 0.875)
    assert consistency([(*query, 0.0)], longer)[0] == consistency([query], DATABASE)[0]


def test_a_query_shorter_than_that_has_no_score():
    scores = consistency([(0.25, 0.5, 0.75), (0.25, 0.5, 0.75, 1.0)], DATABASE)
    assert np.isnan(scores).tolist() == [True, False]


@pytest.mark.parametrize("database", [[], [(0.5,)], [(0.5,), (0.25, 0.5)]])
def test_without_two_common_visits_nothing_has_a_score(database):
    assert np.isnan(consistency([(0.25, 0.5)], database)).all()


def test_trajectories_without_a_shape_score_zero_and_never_nan():
    flat = (0.1, 0.1, 0.1, 0.1)  # the mean of three 0.1 is not 0.1 in floating point
    assert consistency([flat], DATABASE).tolist() == [0.0]
    assert consistency([DATABASE[0]], [flat]).tolist() == [0.0]
    assert consistency([(0.0,) * 4], DATABASE, centred=False).tolist() == [0.0]
    assert consistency([(0.5,) * 4], [(0.0,) * 4], centred=False).tolist() == [0.0]


@given(st.lists(st.tuples(*[rates] * 5), min_size=2, max_size=6))
def test_the_centred_score_is_the_mean_correlation(rows):
    query, *database = rows
    expected = [0.0 if len(set(a)) == 1 or len(set(query)) == 1 else math.nan for a in database]
    expected = [np.corrcoef(query, a)[0, 1] if math.isnan(e) else e for a, e in zip(database, expected, strict=True)]
    assert consistency([query], database)[0] == pytest.approx(np.mean(expected), abs=1e-9)


@given(st.lists(st.tuples(*[rates] * 5), min_size=1, max_size=9), st.booleans())
def test_a_score_does_not_depend_on_the_other_queries(queries, centred):
    database = [(0.125, 0.25, 0.5, 0.75, 0.875), (0.0, 0.375, 0.25, 0.5, 0.25)]
    together = consistency(queries, database, centred)
    alone = [consistency([query], database, centred)[0] for query in queries]
    assert together.tolist() == alone
