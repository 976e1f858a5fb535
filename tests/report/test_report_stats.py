"""Paired differences: hand calculations, the bootstrap against a plain loop, coverage by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import DataError
from benchmark.report.items import ItemScores, item_scores
from benchmark.report.stats import (
    IntervalRule,
    clustered_standard_error,
    difference_of,
    paired_difference,
    resample,
    t_interval,
)


def scores(correct: dict[str, list[int]], samples: int = 4) -> ItemScores:
    names = [name for name, values in correct.items() for _ in values]
    ids = [f"{name}{i}" for name, values in correct.items() for i in range(len(values))]
    counts = [value for values in correct.values() for value in values]
    return item_scores(names, ["id"] * len(ids), ids, counts, [samples] * len(ids))


def test_benchmarks_of_different_size_weigh_equally():
    arm = scores({"small": [4], "large": [2, 2, 2, 2]})
    reference = scores({"small": [0], "large": [4, 2, 2, 2]})
    found = paired_difference({0: arm}, {0: reference})
    assert found.mean == pytest.approx((1.0 - 0.125) / 2)
    assert (found.seeds, found.questions) == (1, 5)


def test_the_t_interval_of_three_seeds_by_hand():
    low, high = t_interval(np.array([0.01, 0.02, 0.03]))
    half = 4.302653 * 0.01 / 3**0.5  # t(0.975, 2) x sd / sqrt(3)
    assert (low, high) == (pytest.approx(0.02 - half), pytest.approx(0.02 + half))


@pytest.mark.parametrize(
    ("seeds", "rule", "provisional"),
    [
        (1, IntervalRule.QUESTIONS, True),
        (2, IntervalRule.SEED_T, True),
        (4, IntervalRule.SEED_T, True),
        (5, IntervalRule.HIERARCHICAL, False),
    ],
)
def test_the_number_of_seeds_decides_the_rule(seeds, rule, provisional):
    differences = np.random.default_rng(1).normal(0.1, 0.3, (seeds, 40))
    found = difference_of(differences, np.array(["a", "b"] * 20))
    assert (found.rule, found.provisional, found.seeds) == (rule, provisional, seeds)
    assert found.low < found.mean < found.high
    assert found.question_low < found.mean < found.question_high
    assert ((found.low, found.high) == (found.question_low, found.question_high)) is (seeds == 1)


def test_with_few_seeds_both_intervals_must_exclude_zero():
    questions = np.linspace(-0.3, 0.5, 12)  # mean 0.1: questions alone cannot tell
    steady = np.stack([questions, questions + 0.001, questions - 0.001])
    found = difference_of(steady, np.array(["a"] * 12))
    assert found.low > 0 > found.question_low
    assert not found.excludes_zero


def test_equal_arms_differ_by_exactly_nothing():
    same = scores({"a": [1, 2, 3], "b": [0, 4, 4]})
    found = paired_difference({0: same, 1: same}, {0: same, 1: same})
    assert (found.mean, found.low, found.high) == (0, 0, 0)
    assert not found.excludes_zero


def test_only_seeds_that_both_have_are_paired():
    up, down = scores({"a": [4, 4]}), scores({"a": [0, 0]})
    assert paired_difference({0: up, 1: down}, {0: down, 2: down}).mean == 1.0
    with pytest.raises(DataError, match=r"found seeds \[0\] and \[1\], allowed a common one"):
        paired_difference({0: up}, {1: up})


def test_other_questions_are_refused_by_name():
    with pytest.raises(DataError, match=r"1 missing \(first a a2\) and 1 extra \(first b b0\)"):
        paired_difference({3: scores({"a": [1, 1], "b": [1]})}, {3: scores({"a": [1, 1, 1]})})


def test_an_unjudged_question_is_refused_by_name():
    unjudged = item_scores(["a", "a"], ["id", "id"], ["x", "y"], [0, 1], [0, 1])
    judged = item_scores(["a", "a"], ["id", "id"], ["x", "y"], [1, 1], [1, 1])
    with pytest.raises(DataError, match="item x has no judged response"):
        paired_difference({0: unjudged}, {0: judged})


def test_the_order_of_the_questions_does_not_matter():
    generator = np.random.default_rng(5)
    columns = (np.array(["a"] * 30), np.array(["id"] * 30), np.arange(30).astype(str), generator.integers(0, 5, 30))
    order = generator.permutation(30)
    plain = item_scores(*columns, [4] * 30)
    mixed = item_scores(*(column[order] for column in columns), [4] * 30)
    other = scores({"a": [0] * 30})
    reference = item_scores(other.benchmark, other.group, np.arange(30).astype(str), other.correct, other.samples)
    assert paired_difference({0: plain}, {0: reference}) == paired_difference({0: mixed}, {0: reference})


def test_the_bootstrap_is_reproducible_and_depends_on_its_seed():
    differences = np.random.default_rng(2).normal(0, 0.3, (5, 60))
    names = np.array(["a"] * 20 + ["b"] * 40)
    assert difference_of(differences, names) == difference_of(differences, names)
    assert difference_of(differences, names).low != difference_of(differences, names, seed=1).low


def test_the_vectorised_bootstrap_equals_a_plain_loop():
    repetitions, seeds, sizes = 50, 3, (4, 7)
    differences = np.random.default_rng(3).normal(0, 1, (seeds, sum(sizes)))
    strata = (np.arange(4), np.arange(4, 11))
    draws = np.random.default_rng((9, 0))
    questions = [draws.integers(0, n, (repetitions, n), dtype=np.int32) for n in sizes]
    drawn_seeds = np.random.default_rng((9, 1)).integers(0, seeds, (repetitions, seeds), dtype=np.int32)
    expected = []
    for r in range(repetitions):
        by_seed = []
        for s in drawn_seeds[r]:
            means = [
                np.mean([differences[s, w[q]] for q in chosen[r]]) for w, chosen in zip(strata, questions, strict=True)
            ]
            by_seed.append(np.mean(means))
        expected.append(np.mean(by_seed))
    np.testing.assert_allclose(resample(differences, strata, repetitions, 9), expected, atol=1e-6)


def test_the_standard_error_is_clustered_by_question():
    accuracy, one = np.array([1.0, 0.0, 1.0, 0.0]), np.array(["a"] * 4)
    assert clustered_standard_error(accuracy, one) == pytest.approx((1 / 3 / 4) ** 0.5)
    twice, two = np.tile(accuracy, 2), np.repeat(["a", "b"], 4)
    assert clustered_standard_error(twice, two) == pytest.approx((2 * (1 / 3 / 4)) ** 0.5 / 2)


@pytest.mark.parametrize("accuracy", [[], [0.5], [0.5, np.nan]])
def test_a_standard_error_that_is_undefined_is_missing(accuracy):
    assert clustered_standard_error(np.array(accuracy), np.array(["a"] * len(accuracy), dtype=np.str_)) is None


@given(st.integers(1, 8), st.integers(2, 12), st.integers(0, 2**16))
def test_intervals_move_with_the_data(seeds, questions, seed):
    differences = np.random.default_rng(seed).normal(0, 0.2, (seeds, questions))
    names = np.array(["a"] * questions)
    here = difference_of(differences, names, repetitions=100)
    there = difference_of(differences + 0.5, names, repetitions=100)
    assert there.mean == pytest.approx(here.mean + 0.5)
    assert there.low == pytest.approx(here.low + 0.5, abs=1e-5)
    assert there.high == pytest.approx(here.high + 0.5, abs=1e-5)


def coverage(seeds: int, seed_sd: float, question_sd: float, noise_sd: float, studies: int = 300) -> float:
    """Return how often the interval of a study without any difference contains 0."""
    generator = np.random.default_rng(11)
    names = np.repeat(["a", "b", "c"], 50)
    hits = 0
    for _ in range(studies):
        effects = generator.normal(0, seed_sd, (seeds, 1)) + generator.normal(0, question_sd, 150)
        found = difference_of(effects + generator.normal(0, noise_sd, (seeds, 150)), names, repetitions=500)
        hits += found.low <= 0 <= found.high
    return hits / studies


def test_the_interval_over_questions_covers_when_runs_do_not_differ():
    assert coverage(1, 0.0, 0.2, 0.2) == pytest.approx(0.95, abs=0.035)


def test_the_t_interval_covers_when_questions_are_fixed():
    assert coverage(3, 0.02, 0.0, 0.1) == pytest.approx(0.95, abs=0.035)


@pytest.mark.parametrize("spread", [(0.02, 0.05, 0.1), (0.01, 0.2, 0.3)], ids=["seeds", "mixed"])
def test_the_hierarchical_interval_covers_seeds_and_questions(spread):
    assert coverage(5, *spread) >= 0.915
