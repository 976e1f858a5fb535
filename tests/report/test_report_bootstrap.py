"""Bootstrap weights against a plain loop over the same draws."""

import numpy as np

from benchmark.report.bootstrap import multinomial_counts, question_counts, resampled_macro_means, resampled_means


def test_a_matrix_product_equals_a_loop_over_the_same_draws():
    repetitions, sizes = 40, (4, 7)
    values = np.random.default_rng(3).normal(0, 1, (sum(sizes), 2))
    strata = (np.array([0, 3, 5, 10]), np.array([1, 2, 4, 6, 7, 8, 9]))
    draws = np.random.default_rng((9, 0))
    chosen = [draws.integers(0, n, (repetitions, n), dtype=np.int32) for n in sizes]
    expected = [
        np.mean([values[where[own[r]]].mean(axis=0) for where, own in zip(strata, chosen, strict=True)], axis=0)
        for r in range(repetitions)
    ]
    np.testing.assert_allclose(resampled_macro_means(values, strata, repetitions, 9), expected, atol=1e-6)


def test_seeds_are_resampled_apart_from_questions():
    values = np.random.default_rng(1).normal(0, 1, (5, 3))
    drawn = np.random.default_rng((2, 1)).integers(0, 5, (30, 5), dtype=np.int32)
    np.testing.assert_allclose(resampled_means(values, 30, 2), values[drawn].mean(axis=1), atol=1e-6)


def test_counts_do_not_depend_on_how_many_are_drawn_at_a_time(monkeypatch):
    whole = multinomial_counts(50, 100, np.random.default_rng(0))
    monkeypatch.setattr("benchmark.report.bootstrap._CHUNK", 1000)
    np.testing.assert_array_equal(multinomial_counts(50, 100, np.random.default_rng(0)), whole)
    assert (whole.sum(axis=1) == 50).all()


def test_benchmarks_of_equal_size_have_draws_of_their_own():
    first, second = question_counts((30, 30), 10, 0)
    assert (first != second).any()


def test_shared_draws_cannot_be_changed_by_one_who_reads_them():
    assert not question_counts((30, 30), 10, 0)[0].flags.writeable
