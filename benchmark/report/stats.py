"""Differences between an arm and its reference, with intervals that say what they cover.

Arm and reference share labels, prompt order and sampling seeds for each seed, so they are compared pair by
pair: d[s, q] = accuracy of the arm minus accuracy of the reference on question q with seed s. A group of benchmarks
is the unweighted mean of its benchmarks, hence questions are resampled within each benchmark. Which interval is
shown depends on how many seeds there are (`IntervalRule`); an interval over questions alone says nothing about
another training run, and is marked provisional.

Sources: Miller 2024 (arXiv 2411.00640) for pairing and clustering by question; Owen 2007 (The pigeonhole
bootstrap) for resampling two crossed factors, which is conservative where seed and question interact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError
from benchmark.report.items import ItemScores

REPETITIONS = 2000
SEED = 20240601
SEEDS_FOR_BOOTSTRAP = 5
_TAILS = (2.5, 97.5)


class IntervalRule(StrEnum):
    """How the 95% interval of a difference was obtained."""

    QUESTIONS = "questions"
    """One seed: bootstrap over questions; another training run may differ by more."""
    SEED_T = "seed_t"
    """Two to four seeds: Student t on the means of the seeds, beside the bootstrap over questions."""
    HIERARCHICAL = "hierarchical"
    """Five seeds or more: bootstrap over seeds and, within benchmarks, over questions."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Arm minus reference, in accuracy (0.01 is one point), with its 95% interval.

    `question_low` and `question_high` are the bootstrap over questions for the seeds at hand; with one seed they
    are the interval itself.
    """

    mean: float
    low: float
    high: float
    seeds: int
    questions: int
    rule: IntervalRule
    provisional: bool
    question_low: float
    question_high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether both the interval and that over questions lie on one side of zero."""
        return min(self.low, self.question_low) > 0 or max(self.high, self.question_high) < 0


def paired_difference(
    arm: Mapping[int, ItemScores],
    reference: Mapping[int, ItemScores],
    *,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
) -> Difference:
    """Compare an arm with the reference over the seeds that both have; questions of one group of benchmarks.

    Raises DataError where the two do not have the same questions, an accuracy is missing or no seed is common.
    """
    seeds = sorted(arm.keys() & reference.keys())
    if not seeds:
        raise DataError(f"pairing: found seeds {sorted(arm)} and {sorted(reference)}, allowed a common one")
    first = reference[seeds[0]]
    for number in seeds:
        _require_same_questions(first, reference[number], f"reference, seed {number}")
        _require_same_questions(first, arm[number], f"arm, seed {number}")
    differences = np.stack([arm[number].accuracy - reference[number].accuracy for number in seeds])
    if not np.isfinite(differences).all():
        item = first.item_id[np.argmin(np.isfinite(differences).all(axis=0))]
        raise DataError(f"pairing: item {item} has no judged response; fix: grade it, a difference needs all items")
    return difference_of(differences, first.benchmark, repetitions=repetitions, seed=seed)


def difference_of(
    differences: NDArray[np.float64],
    benchmark: NDArray[np.str_],
    *,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
) -> Difference:
    """Summarise paired differences [S, Q], `benchmark` [Q] naming the stratum of each question."""
    seeds, questions = differences.shape
    strata = tuple(np.flatnonzero(benchmark == name) for name in np.unique(benchmark))
    seed_means = np.mean([differences[:, where].mean(axis=1) for where in strata], axis=0)  # [S]
    mean = float(seed_means.mean())
    over_questions = _percentiles(resample(differences.mean(axis=0)[None], strata, repetitions, seed))
    if seeds == 1:
        rule, interval = IntervalRule.QUESTIONS, over_questions
    elif seeds < SEEDS_FOR_BOOTSTRAP:
        rule, interval = IntervalRule.SEED_T, t_interval(seed_means)
    else:
        rule = IntervalRule.HIERARCHICAL
        interval = _percentiles(resample(_rescaled(differences), strata, repetitions, seed))
    provisional = seeds < SEEDS_FOR_BOOTSTRAP
    return Difference(mean, *interval, seeds, questions, rule, provisional, *over_questions)


def resample(
    differences: NDArray[np.float64], strata: Sequence[NDArray[np.intp]], repetitions: int, seed: int
) -> NDArray[np.float64]:
    """Return bootstrap replicates [R] of the macro average of [S, Q]: seeds, and questions within each stratum."""
    question_weights = _question_weights(tuple(map(len, strata)), repetitions, seed)
    by_seed = np.zeros((repetitions, len(differences)), dtype=np.float32)  # [R, S]
    for where, weights in zip(strata, question_weights, strict=True):
        by_seed += weights @ differences[:, where].T.astype(np.float32) / len(strata)
    weights_of_seeds = _seed_weights(len(differences), repetitions, seed)
    return np.asarray((by_seed * weights_of_seeds).sum(axis=1), dtype=np.float64)


def t_interval(seed_means: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95% Student t interval of the mean of two or more seeds."""
    from scipy.special import stdtrit

    n = len(seed_means)
    half = float(stdtrit(n - 1, _TAILS[1] / 100) * seed_means.std(ddof=1) / np.sqrt(n))
    return float(seed_means.mean()) - half, float(seed_means.mean()) + half


def clustered_standard_error(accuracy: NDArray[np.float64], benchmark: NDArray[np.str_]) -> float | None:
    """Return the standard error of a macro average, clustered by question; None where it is undefined.

    `accuracy` [Q] is the mean over all responses to a question, so repeated samples do not narrow it (Miller 2024,
    section 2.2). For k benchmarks with n_b questions: sqrt(sum_b var_b / n_b) / k.
    """
    variance = 0.0
    names = np.unique(benchmark)
    for name in names:
        values = accuracy[benchmark == name]
        if len(values) < 2 or not np.isfinite(values).all():
            return None
        variance += values.var(ddof=1) / len(values)
    return float(np.sqrt(variance) / len(names)) if len(names) else None


def _rescaled(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Widen the deviations of S seeds by sqrt(S / (S - 1)): resampling S of S is too narrow by that factor."""
    centre = differences.mean(axis=0)
    seeds = len(differences)
    return np.asarray(centre + np.sqrt(seeds / (seeds - 1)) * (differences - centre))


@lru_cache(maxsize=4)
def _question_weights(sizes: tuple[int, ...], repetitions: int, seed: int) -> tuple[NDArray[np.float32], ...]:
    """Draw the weights of questions, [R, n] per stratum; rows sum to 1.

    All arms of a table share the draws: it is cheaper, and their intervals then differ by their data alone.
    """
    generator = np.random.default_rng((seed, 0))
    return tuple(_multinomial(size, repetitions, generator) for size in sizes)


@lru_cache(maxsize=4)
def _seed_weights(seeds: int, repetitions: int, seed: int) -> NDArray[np.float32]:
    return _multinomial(seeds, repetitions, np.random.default_rng((seed, 1)))


def _multinomial(size: int, repetitions: int, generator: np.random.Generator) -> NDArray[np.float32]:
    drawn = generator.integers(0, size, (repetitions, size), dtype=np.int32)
    flat = (drawn + np.arange(repetitions, dtype=np.int64)[:, None] * size).ravel()
    counts = np.bincount(flat, minlength=repetitions * size).reshape(repetitions, size)
    weights = counts.astype(np.float32) / np.float32(size)
    weights.setflags(write=False)
    return weights


def _percentiles(replicates: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(replicates, _TAILS)
    return float(low), float(high)


def _require_same_questions(expected: ItemScores, found: ItemScores, place: str) -> None:
    wanted = set(zip(expected.benchmark.tolist(), expected.item_id.tolist(), strict=True))
    given = set(zip(found.benchmark.tolist(), found.item_id.tolist(), strict=True))
    if wanted == given and len(expected) == len(found):
        return
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    raise DataError(
        f"pairing: {place} has other questions than the reference: found {len(found)}, {len(missing)} missing"
        f"{_first(missing)} and {len(extra)} extra{_first(extra)}, allowed the same {len(expected)}; "
        "fix: evaluate both on the same benchmarks"
    )


def _first(items: Sequence[tuple[str, str]]) -> str:
    return f" (first {items[0][0]} {items[0][1]})" if items else ""
