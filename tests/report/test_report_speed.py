"""Speed of the statistics of a large table, against the plain form in the same run."""

import time

import numpy as np

from benchmark.report import stats
from benchmark.report.stats import difference_of, resample

ARMS, SEEDS, BENCHMARKS, QUESTIONS = 12, 5, 9, 100


def differences() -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.3, (ARMS, SEEDS, BENCHMARKS * QUESTIONS))


NAMES = np.repeat([f"b{i}" for i in range(BENCHMARKS)], QUESTIONS)


def test_the_intervals_of_a_table_of_12_arms_and_900_questions(benchmark):
    data = differences()

    def table():
        stats._question_weights.cache_clear()
        stats._seed_weights.cache_clear()
        return [difference_of(arm, NAMES) for arm in data]

    found = benchmark(table)
    assert len(found) == ARMS


def test_the_vectorised_bootstrap_is_ten_times_as_fast_as_a_loop_over_repetitions():
    data = differences()[0]
    strata = tuple(np.flatnonzero(name == NAMES) for name in np.unique(NAMES))

    def loop(repetitions):
        generator = np.random.default_rng(0)
        for _ in range(repetitions):
            rows = data[generator.integers(0, SEEDS, SEEDS)]
            np.mean([rows[:, generator.choice(where, len(where))].mean() for where in strata])

    def fastest(call, times):
        taken = []
        for _ in range(times):
            start = time.process_time()
            call()
            taken.append(time.process_time() - start)
        return min(taken)

    resample(data, strata, 2000, 0)  # the draws are shared by the arms of a table
    vectorised, of_200 = fastest(lambda: resample(data, strata, 2000, 0), 5), fastest(lambda: loop(200), 3)
    assert 10 * vectorised < 10 * of_200  # left: ten times the vectorised form; right: a loop of 2,000
