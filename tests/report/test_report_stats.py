"""Paired differences: hand calculations and what an interval must do; coverage is in test_report_coverage."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import DataError
from benchmark.report.items import ItemScores, item_scores
from benchmark.report.stats import (
    IntervalRule,
    difference_of,
    differences_of,
    paired_difference,
    paired_differences,
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


def test_three_steady_runs_do_not_settle_what_the_questions_leave_open():
    questions = np.linspace(-0.3, 0.5, 12)  # mean 0.1, sample variance 13 (0.8 / 11)^2, standard error 0.0757
    steady = np.stack([questions, questions + 0.001, questions - 0.001])
    found = difference_of(steady, np.array(["a"] * 12))
    assert found.low < 0 < found.high
    assert found.question_low < 0
    assert found.p_value == pytest.approx(0.2133, abs=1e-3)  # t = 1.321 with 11 degrees of freedom
    assert not found.excludes_zero


def test_both_intervals_must_exclude_zero():
    steady = np.stack([np.linspace(-0.3, 0.5, 12)] * 3)
    found = replace(difference_of(steady, np.array(["a"] * 12)), low=0.01, high=0.2)
    assert found.question_low < 0
    assert not found.excludes_zero
    assert replace(found, question_low=0.02).excludes_zero


def test_without_question_variance_three_seeds_give_the_t_interval_of_their_means():
    means = np.array([0.01, 0.02, 0.03])
    found = difference_of(np.tile(means[:, None], (1, 8)), np.array(["a"] * 8))
    half = 4.302653 * 0.01 / 3**0.5  # t(0.975, 2) x sd / sqrt(3)
    assert (found.low, found.high) == (pytest.approx(0.02 - half), pytest.approx(0.02 + half))
    assert (found.question_low, found.question_high) == (pytest.approx(0.02), pytest.approx(0.02))
    assert found.degrees == pytest.approx(2)


def test_the_mean_and_the_p_value_of_an_arm_do_not_depend_on_the_draws():
    generator = np.random.default_rng(4)
    differences = generator.normal(0.05, 0.3, 30) + generator.normal(0, 0.3, (5, 30))
    names = np.array(["a"] * 30)
    one, other = difference_of(differences, names, seed=1), difference_of(differences, names, seed=2)
    assert (one.mean, one.p_value) == (other.mean, other.p_value)
    assert one.low != other.low


def test_arms_of_a_table_are_summarised_as_if_each_stood_alone():
    generator = np.random.default_rng(6)
    arms = [generator.normal(0, 0.3, (seeds, 50)) for seeds in (5, 3, 1, 7)]
    names = np.array(["a"] * 20 + ["b"] * 30)
    for together, alone in zip(differences_of(arms, names), (difference_of(arm, names) for arm in arms), strict=True):
        assert (together.rule, together.seeds, together.p_value) == (alone.rule, alone.seeds, alone.p_value)
        assert together.low == pytest.approx(alone.low, abs=1e-6)
        assert together.high == pytest.approx(alone.high, abs=1e-6)


def test_a_table_without_arms_has_no_differences():
    assert paired_differences({}, {0: scores({"a": [1, 2]})}) == {}


def test_one_question_per_benchmark_leaves_the_variance_of_seeds():
    differences = np.array([[0.1, 0.3], [0.2, 0.4], [0.3, 0.2], [0.0, 0.1], [0.2, 0.3]])
    found = difference_of(differences, np.array(["a", "b"]))
    assert found.question_variance == 0
    assert found.seed_variance == pytest.approx(differences.mean(axis=1).var(ddof=1) / 5)
    assert found.low < found.mean < found.high


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


@given(st.integers(1, 8), st.integers(2, 12), st.integers(0, 2**16))
def test_intervals_move_with_the_data(seeds, questions, seed):
    differences = np.random.default_rng(seed).normal(0, 0.2, (seeds, questions))
    names = np.array(["a"] * questions)
    here = difference_of(differences, names, repetitions=100)
    there = difference_of(differences + 0.5, names, repetitions=100)
    assert there.mean == pytest.approx(here.mean + 0.5)
    assert there.low == pytest.approx(here.low + 0.5, abs=1e-5)
    assert there.high == pytest.approx(here.high + 0.5, abs=1e-5)
