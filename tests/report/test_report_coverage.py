"""Coverage by simulation: 95% intervals contain the truth in 93 to 97% of 1,000 synthetic studies.

Every world draws seeds and questions anew in each study, since that is what the intervals claim to cover. The worlds
differ in which source of variance dominates; in each, the bounds hold for the intervals and for the p-values.
"""

import numpy as np
import pytest

from benchmark.report.gap import GapUndefined, gap_recovered
from benchmark.report.items import item_scores
from benchmark.report.stats import IntervalRule, differences_of

STUDIES, BENCHMARKS, QUESTIONS = 1000, 3, 40
NAMES = np.repeat([f"b{i}" for i in range(BENCHMARKS)], QUESTIONS)
TOTAL = BENCHMARKS * QUESTIONS

# Standard deviations of the mean that come from seeds, questions and their interaction, in points.
WORLDS = {
    "questions dominate": (0.0, 2.0, 0.3),
    "seeds dominate": (2.0, 0.2, 0.3),
    "interaction dominates": (0.0, 0.2, 2.0),
    "seeds and questions": (1.5, 1.5, 0.2),
    "seeds with a little of questions": (2.0, 0.6, 0.3),
    "all three": (1.0, 1.0, 1.0),
}


def studies(spread: tuple[float, float, float], seeds: int) -> np.ndarray:
    """Draw paired differences without any true difference, [N, S, Q]."""
    by_seed, by_question, rest = (points / 100 for points in spread)
    generator = np.random.default_rng(7)
    return (
        generator.normal(0, by_seed * np.sqrt(seeds), (STUDIES, seeds, 1))
        + generator.normal(0, by_question * np.sqrt(TOTAL), (STUDIES, 1, TOTAL))
        + generator.normal(0, rest * np.sqrt(seeds * TOTAL), (STUDIES, seeds, TOTAL))
    )


def coverage(data: np.ndarray, names: np.ndarray, rule: IntervalRule) -> tuple[float, float]:
    """Return how often the interval contains 0, and how often the p-value is above 5%."""
    found = differences_of(list(data), names, repetitions=500)
    assert {one.rule for one in found} == {rule}
    return np.mean([one.low <= 0 <= one.high for one in found]), np.mean([one.p_value > 0.05 for one in found])


@pytest.mark.slow
@pytest.mark.parametrize("spread", WORLDS.values(), ids=WORLDS.keys())
def test_the_bootstrap_of_five_seeds_covers(spread):
    for share in coverage(studies(spread, 5), NAMES, IntervalRule.HIERARCHICAL):
        assert 0.93 <= share <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("spread", WORLDS.values(), ids=WORLDS.keys())
def test_the_t_interval_of_three_seeds_covers(spread):
    for share in coverage(studies(spread, 3), NAMES, IntervalRule.SEED_T):
        assert 0.93 <= share <= 0.97


def test_the_bootstrap_over_questions_covers_for_one_run():
    shares = coverage(studies((0.0, 2.0, 0.3), 1), NAMES, IntervalRule.QUESTIONS)
    assert all(0.93 <= share <= 0.97 for share in shares)


def graded(generator: np.random.Generator, seeds: int, sizes: dict[str, int], samples: int) -> np.ndarray:
    """Draw differences of avg@n between two policies of equal ability by question, runs of which vary, [S, Q]."""
    total = sum(sizes.values())
    ability = generator.beta(0.8, 0.8, total)  # many questions are nearly always or nearly never solved
    drift = generator.normal(0, 0.15, (2, total))
    sides = []
    for side in range(2):
        runs = generator.normal(0, 0.03, (seeds, 1))
        chance = np.clip(ability + drift[side] + runs, 0, 1)
        sides.append(generator.binomial(samples, chance) / samples)
    return sides[0] - sides[1]


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "rule"), [(5, IntervalRule.HIERARCHICAL), (3, IntervalRule.SEED_T)])
@pytest.mark.parametrize("samples", [1, 4])
def test_intervals_cover_for_graded_responses_and_benchmarks_of_different_size(seeds, rule, samples):
    sizes = {"aime": 30, "amc": 83, "math": 150}
    names = np.repeat(list(sizes), list(sizes.values()))
    generator = np.random.default_rng(3)
    data = np.stack([graded(generator, seeds, sizes, samples) for _ in range(STUDIES)])
    for share in coverage(data, names, rule):
        assert 0.93 <= share <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [3, 5])
def test_the_interval_of_the_recovered_gap_covers(seeds):
    generator = np.random.default_rng(1)
    questions, found, hits = 60, 0, 0
    columns = (["b"] * questions, ["id"] * questions, [str(i) for i in range(questions)])

    def policy(level: float, ability: np.ndarray) -> dict:
        runs = generator.normal(0, 0.01, (seeds, 1)) + np.clip(ability + level, 0.02, 0.98)
        right = generator.binomial(16, np.clip(runs, 0, 1))
        return {s: item_scores(*columns, right[s], [16] * questions) for s in range(seeds)}

    for _ in range(400):
        ability = generator.uniform(0.2, 0.6, questions)
        ability_of_floor, ability_of_arm, ability_of_ceiling = (
            ability + generator.normal(0, 0.04, questions) for _ in range(3)
        )
        arms = policy(0.10, ability_of_arm), policy(0.0, ability_of_floor), policy(0.2, ability_of_ceiling)
        gap = gap_recovered(*arms, floor_name="base", ceiling_name="full", repetitions=500)
        assert gap.undefined in (None, GapUndefined.UNRESOLVED)
        if gap.low is not None:
            found += 1
            hits += gap.low <= 0.5 <= gap.high
    assert found > 380
    assert 0.92 <= hits / found <= 0.98  # 400 studies: the standard error is one point
