"""Speed of the statistics, against the plain form in the same run.

Time is that of the processor, the least of several interleaved turns: another job on the machine then slows both
sides alike, or neither.
"""

import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from naive_majority import majority_correctness

from benchmark.report import bootstrap
from benchmark.report.iqm import interquartile_mean, interquartile_mean_interval
from benchmark.report.record import score_items
from benchmark.report.stats import differences_of

ARMS, SEEDS, REPETITIONS = 12, 5, 2000
SIZES = {"aime24": 30, "aime25": 30, "amc": 83, "math500": 500, "minerva": 272, "olympiad": 1676}
NAMES = np.repeat(list(SIZES), list(SIZES.values()))  # 2,591 questions


def fastest(*calls: Callable[[], object], turns: int = 5) -> list[float]:
    """Return the least processor time of each call, in seconds, taking turns."""
    taken = [[] for _ in calls]
    for _ in range(turns):
        for call, times in zip(calls, taken, strict=True):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
    return [min(times) for times in taken]


def table_of_12_arms() -> list[np.ndarray]:
    return list(np.random.default_rng(0).normal(0, 0.3, (ARMS, SEEDS, len(NAMES))))


def intervals(arms: list[np.ndarray]) -> object:
    """Compute the intervals of a table from nothing, drawing included."""
    bootstrap.question_counts.cache_clear()
    bootstrap.seed_counts.cache_clear()
    return differences_of(arms, NAMES, repetitions=REPETITIONS)


def test_the_intervals_of_12_arms_and_2591_questions(benchmark):
    arms = table_of_12_arms()
    assert len(benchmark(lambda: intervals(arms))) == ARMS


def test_the_intervals_of_a_table_take_0_3_seconds_and_a_tenth_of_a_loop():
    arms = table_of_12_arms()
    strata = [np.flatnonzero(name == NAMES) for name in SIZES]

    def loop(repetitions: int = 20) -> None:
        generator = np.random.default_rng(0)
        for arm in arms:
            for _ in range(repetitions):
                rows = arm[generator.integers(0, SEEDS, SEEDS)]
                np.mean([rows[:, generator.choice(where, len(where))].mean() for where in strata])

    vectorised, of_20 = fastest(lambda: intervals(arms), loop)
    assert vectorised < 0.3
    assert 10 * vectorised < of_20 * REPETITIONS / 20


def test_an_interquartile_mean_with_50_000_repetitions(benchmark):
    scores = np.random.default_rng(0).uniform(0.2, 0.8, (3, 9))
    found = benchmark(lambda: interquartile_mean_interval(scores, repetitions=50_000))
    assert found.low < found.value < found.high


def test_an_interquartile_mean_takes_0_15_seconds_and_a_tenth_of_a_loop():
    scores = np.random.default_rng(0).uniform(0.2, 0.8, (3, 9))
    places = np.arange(9)

    def loop(repetitions: int = 500) -> None:
        generator = np.random.default_rng(0)
        for _ in range(repetitions):
            interquartile_mean(scores[generator.integers(0, 3, (3, 9)), places])

    vectorised, of_500 = fastest(lambda: interquartile_mean_interval(scores, repetitions=50_000), loop)
    assert vectorised < 0.15
    assert 10 * vectorised < of_500 * 100


def million_verdicts(questions: int = 31_250, samples: int = 32) -> tuple[pa.Table, pa.Table]:
    """Build a million verdicts with answers around the gold, and their benchmarks."""
    generator = np.random.default_rng(0)
    names = np.repeat([f"b{i}" for i in range(10)], questions // 10)
    ids = np.array([f"{i:016x}" for i in range(questions)])
    offset = generator.geometric(0.5, questions * samples) - 1
    silent = generator.random(len(offset)) < 0.02
    columns = {
        "benchmark": np.repeat(names, samples),
        "group": np.repeat("id", len(offset)),
        "item_id": np.repeat(ids, samples),
        "sample": np.tile(np.arange(samples), questions),
        "verdict": np.where(silent, "no_answer", np.where(offset == 0, "correct", "wrong")),
        "extracted": pa.array((np.repeat(np.arange(questions), samples) + offset).astype(str), mask=silent),
        "choice": pa.nulls(len(offset), pa.string()),
    }
    gold = [str(i) for i in range(questions)]
    return pa.table(columns), pa.table({"benchmark": names, "group": ["id"] * questions, "item_id": ids, "gold": gold})


@pytest.mark.slow
def test_a_million_verdicts_become_items_in_a_second_and_a_fifth_of_a_loop():
    verdicts, benchmarks = million_verdicts()
    gold = {(row["benchmark"], row["item_id"]): row["gold"] for row in benchmarks.to_pylist()}
    part = verdicts.slice(0, len(verdicts) // 25)

    def loop() -> dict:
        rows = defaultdict(list)
        for row in part.to_pylist():
            rows[row["benchmark"], row["item_id"]].append(row)
        return {
            key: (
                sum(row["verdict"] == "correct" for row in own),
                majority_correctness([row["extracted"] for row in own], gold[key]),
            )
            for key, own in rows.items()
        }

    items = score_items(verdicts, benchmarks)
    plain = loop()
    first = items.slice(0, len(plain)).to_pylist()
    found = {(row["benchmark"], row["item_id"]): (row["correct"], row["majority"]) for row in first}
    assert found == plain
    vectorised, of_a_part = fastest(lambda: score_items(verdicts, benchmarks), loop, turns=3)
    assert vectorised < 1.0
    assert 5 * vectorised < 25 * of_a_part
