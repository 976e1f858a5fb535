"""The split of a variance into seeds, questions and interaction, by hand; t intervals; standard errors."""

import numpy as np
import pytest

from benchmark.report.intervals import clustered_standard_error, t_interval, t_quantile, two_sided_p, variance_of
from benchmark.report.stats import difference_of

ALL = (np.arange(3),)


def test_the_variance_of_a_small_study_by_hand():
    # Means of seeds 2 and 4, means of questions 2, 3 and 4; residuals 1, 0, -1 and -1, 0, 1.
    differences = np.array([[2.0, 2.0, 2.0], [2.0, 4.0, 6.0]])
    found = variance_of(differences, ALL)
    assert found.seed == pytest.approx(2 / 2)  # sample variance 2 of two means, over S = 2
    assert found.question_total == pytest.approx(1 / 3)  # sample variance 1 of three means, over Q = 3
    assert found.interaction == pytest.approx(4 / ((2 - 1) * (3 - 1)) / 6)  # mean square 2, over S Q
    assert found.question == 0  # 1/3 - 1/3
    assert found.total == pytest.approx(1.0)
    assert found.degrees == pytest.approx(1)  # nothing but two seeds


def test_parallel_seeds_leave_no_interaction_and_the_two_sources_add_up():
    questions = np.array([0.0, 1.0, 5.0])
    found = variance_of(np.stack([questions, questions + 1, questions + 2]), ALL)
    assert found.interaction == pytest.approx(0)
    assert found.question == pytest.approx(7 / 3)  # sample variance 7 over 3 questions
    assert found.total == pytest.approx(7 / 3 + 1 / 3)  # and of the seeds, 1 over 3 seeds
    upper = (1 / 3) * (1 + 2)  # two standard errors of a variance with 2 degrees: twice itself
    assert found.degrees == pytest.approx((upper + 7 / 3) ** 2 / (upper**2 / 2 + (7 / 3) ** 2 / 2))


def test_a_macro_average_takes_a_quarter_of_the_variance_of_each_of_two_benchmarks():
    differences = np.array([[0.0, 2.0, 0.0, 4.0], [0.0, 2.0, 0.0, 4.0]])
    found = variance_of(differences, (np.array([0, 1]), np.array([2, 3])))
    assert found.questions.tolist() == [pytest.approx(2 / 2 / 4), pytest.approx(8 / 2 / 4)]
    assert found.question_degrees == pytest.approx(1.25**2 / (0.25**2 + 1.0**2))


def test_one_seed_tells_about_questions_alone():
    found = variance_of(np.array([[1.0, 2.0, 6.0]]), ALL)
    assert (found.seed, found.interaction) == (0, 0)
    assert found.total == found.question_total == pytest.approx(7 / 3)
    assert found.degrees == pytest.approx(2)


def test_two_crossed_factors_are_estimated_without_bias():
    generator = np.random.default_rng(0)
    shape = (4000, 5, 40)
    data = generator.normal(0, 0.02, (4000, 5, 1)) + generator.normal(0, 0.1, (4000, 1, 40))
    data += generator.normal(0, 0.2, shape)
    strata = (np.arange(40),)
    found = [variance_of(study, strata) for study in data]
    truth = 0.02**2 / 5 + 0.1**2 / 40 + 0.2**2 / 200
    assert np.mean([one.total for one in found]) == pytest.approx(truth, rel=0.02)
    assert np.mean([one.interaction for one in found]) == pytest.approx(0.2**2 / 200, rel=0.02)
    assert data.mean(axis=(1, 2)).var() == pytest.approx(truth, rel=0.1)


def test_the_t_interval_of_three_seeds_by_hand():
    low, high = t_interval(np.array([0.01, 0.02, 0.03]))
    half = 4.302653 * 0.01 / 3**0.5  # t(0.975, 2) x sd / sqrt(3)
    assert (low, high) == (pytest.approx(0.02 - half), pytest.approx(0.02 + half))


def test_infinite_degrees_of_freedom_are_the_normal_distribution():
    assert t_quantile(np.inf) == pytest.approx(1.959964)
    assert t_quantile(4) == pytest.approx(2.776445)
    assert two_sided_p(1.959964, 1.0, np.inf) == pytest.approx(0.05)
    assert two_sided_p(-2.776445, 1.0, 4) == pytest.approx(0.05)


def test_no_difference_has_p_one_and_so_has_one_whose_error_nothing_tells():
    assert two_sided_p(0.0, 0.0, np.inf) == 1
    assert two_sided_p(0.1, 0.0, np.inf) == 1
    assert two_sided_p(0.1, 1e-6, np.inf) < 1e-12


def test_a_variance_that_cancels_by_luck_is_that_of_the_questions():
    difference = difference_of(np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]]), np.array(["a"] * 4))
    assert 0.1 < difference.p_value < 1
    assert difference.low < 0 < difference.high


def test_a_difference_without_any_spread_is_unknown_and_not_certain():
    for found in (difference_of(np.full((s, 3), 0.5), np.array(["a"] * 3)) for s in (1, 2, 5)):
        assert (found.low, found.high, found.p_value, found.excludes_zero) == (-1, 1, 1, False)


def test_the_standard_error_is_clustered_by_question():
    accuracy, one = np.array([1.0, 0.0, 1.0, 0.0]), np.array(["a"] * 4)
    assert clustered_standard_error(accuracy, one) == pytest.approx((1 / 3 / 4) ** 0.5)
    twice, two = np.tile(accuracy, 2), np.repeat(["a", "b"], 4)
    assert clustered_standard_error(twice, two) == pytest.approx((2 * (1 / 3 / 4)) ** 0.5 / 2)


@pytest.mark.parametrize("accuracy", [[], [0.5], [0.5, np.nan]])
def test_a_standard_error_that_is_undefined_is_missing(accuracy):
    assert clustered_standard_error(np.array(accuracy), np.array(["a"] * len(accuracy), dtype=np.str_)) is None
