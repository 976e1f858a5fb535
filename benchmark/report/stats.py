"""Differences between an arm and its reference, with intervals that say what they cover.

Arm and reference share labels, prompt order and sampling seeds for each seed, so they are compared pair by
pair: d[s, q] = accuracy of the arm minus accuracy of the reference on question q with seed s. A group of benchmarks
is the unweighted mean of its benchmarks, hence questions are resampled within each benchmark. From two seeds on, the
interval covers another draw of seeds and of questions (`benchmark.report.intervals` has the variance); which form it
takes depends on how many seeds there are (`IntervalRule`). An interval over questions alone says nothing about
another training run, and with fewer than five seeds it is marked provisional.

Sources: Miller 2024 (arXiv 2411.00640) for pairing and clustering by question; Hesterberg 2015 (arXiv 1411.5279) for
widening a bootstrap of few values by sqrt(n / (n - 1)) and by the ratio of the t to the normal quantile.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError
from benchmark.report.bootstrap import resampled_macro_means, resampled_means
from benchmark.report.intervals import (
    LEVEL,
    Variance,
    clustered_standard_error,
    seed_means,
    t_interval,
    t_quantile,
    two_sided_p,
    variance_of,
)
from benchmark.report.items import ItemScores

__all__ = [
    "REPETITIONS",
    "SEED",
    "SEEDS_FOR_BOOTSTRAP",
    "Difference",
    "IntervalRule",
    "clustered_standard_error",
    "difference_of",
    "differences_of",
    "paired_difference",
    "paired_differences",
    "t_interval",
]

REPETITIONS = 2000
SEED = 20240601
SEEDS_FOR_BOOTSTRAP = 5
_TAILS = (50 * (1 - LEVEL), 50 * (1 + LEVEL))  # percent


class IntervalRule(StrEnum):
    """How the 95% interval of a difference was obtained."""

    QUESTIONS = "questions"
    """One seed: bootstrap over questions; another training run may differ by more."""
    SEED_T = "seed_t"
    """Two to four seeds: Student t from the variance over seeds and questions, beside the bootstrap over questions."""
    HIERARCHICAL = "hierarchical"
    """Five seeds or more: bootstrap over seeds and, within benchmarks, over questions."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Arm minus reference, in accuracy (0.01 is one point), with its 95% interval.

    `question_low` and `question_high` are the bootstrap over questions for the seeds at hand; with one seed they
    are the interval itself. The variances are those of the mean (see `benchmark.report.intervals`).
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
    p_value: float  # two-sided, of no difference; Student t with the variance behind the interval
    seed_variance: float  # 0 with one seed, where nothing is known of it
    question_variance: float
    interaction_variance: float
    degrees: float  # degrees of freedom of the interval, may be infinite

    @property
    def excludes_zero(self) -> bool:
        """Whether both the interval and that over questions lie on one side of zero."""
        return min(self.low, self.question_low) > 0 or max(self.high, self.question_high) < 0


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Bootstrap deviations [R] of a mean from itself: what the draw of questions and of seeds adds to it.

    Widened by sqrt(n / (n - 1)), so that their variances are V_Q and V_S; seeds are None below five of them.
    """

    questions: NDArray[np.float64]
    seeds: NDArray[np.float64] | None


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
    return paired_differences({"": arm}, reference, repetitions=repetitions, seed=seed)[""]


def paired_differences(
    arms: Mapping[str, Mapping[int, ItemScores]],
    reference: Mapping[int, ItemScores],
    *,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
) -> dict[str, Difference]:
    """Compare several arms with one reference, sharing the draws of the bootstrap. Raises as `paired_difference`."""
    first = next(iter(reference.values()), None)
    found = [paired_accuracy(arm, reference) for arm in arms.values()]
    names = first.benchmark if first is not None else np.empty(0, dtype=np.str_)
    return dict(zip(arms, differences_of(found, names, repetitions=repetitions, seed=seed), strict=True))


def paired_accuracy(arm: Mapping[int, ItemScores], reference: Mapping[int, ItemScores]) -> NDArray[np.float64]:
    """Return arm minus reference by common seed and question, [S, Q], seeds ascending.

    Raises as `paired_difference`.
    """
    seeds = sorted(arm.keys() & reference.keys())
    if not seeds:
        raise DataError(f"pairing: found seeds {sorted(arm)} and {sorted(reference)}, allowed a common one")
    first = next(iter(reference.values()))
    for number in seeds:
        _require_same_questions(first, reference[number], f"reference, seed {number}")
        _require_same_questions(first, arm[number], f"arm, seed {number}")
    differences = np.stack([arm[number].accuracy - reference[number].accuracy for number in seeds])
    if not np.isfinite(differences).all():
        item = first.item_id[np.argmin(np.isfinite(differences).all(axis=0))]
        raise DataError(f"pairing: item {item} has no judged response; fix: grade it, a difference needs all items")
    return differences


def difference_of(
    differences: NDArray[np.float64],
    benchmark: NDArray[np.str_],
    *,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
) -> Difference:
    """Summarise paired differences [S, Q], `benchmark` [Q] naming the stratum of each question."""
    return differences_of([differences], benchmark, repetitions=repetitions, seed=seed)[0]


def differences_of(
    differences: Sequence[NDArray[np.float64]],
    benchmark: NDArray[np.str_],
    *,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
) -> tuple[Difference, ...]:
    """Summarise the paired differences [S, Q] of several arms with one set of draws; S may differ between arms."""
    strata = strata_of(benchmark)
    replicates = replicates_of(differences, strata, repetitions, seed)
    found = []
    for own, drawn in zip(differences, replicates, strict=True):
        variance, mean = variance_of(own, strata), float(seed_means(own, strata).mean())
        question = _around(mean, drawn.questions, variance.question_degrees)
        provisional = variance.seeds < SEEDS_FOR_BOOTSTRAP
        found.append(
            Difference(
                mean,
                *interval(mean, variance, drawn),
                variance.seeds,
                own.shape[1],
                rule_of(variance.seeds),
                provisional,
                *question,
                two_sided_p(mean, variance.total, variance.degrees),
                variance.seed,
                variance.question,
                variance.interaction,
                variance.degrees,
            )
        )
    return tuple(found)


def rule_of(seeds: int) -> IntervalRule:
    """Return how the interval of so many seeds is obtained."""
    if seeds == 1:
        return IntervalRule.QUESTIONS
    return IntervalRule.SEED_T if seeds < SEEDS_FOR_BOOTSTRAP else IntervalRule.HIERARCHICAL


def strata_of(benchmark: NDArray[np.str_]) -> tuple[NDArray[np.intp], ...]:
    """Return the positions of the questions of each benchmark, benchmarks by name."""
    return tuple(np.flatnonzero(benchmark == name) for name in np.unique(benchmark))


def replicates_of(
    differences: Sequence[NDArray[np.float64]], strata: Sequence[NDArray[np.intp]], repetitions: int, seed: int
) -> tuple[Replicates, ...]:
    """Draw the bootstrap deviations of several arms [S, Q] with shared weights."""
    if not differences:
        return ()
    by_question = np.stack([own.mean(axis=0) for own in differences], axis=1)  # [Q, A]
    for where in strata:
        centred = by_question[where] - by_question[where].mean(axis=0)
        by_question[where] = centred * _widening(len(where))
    questions = resampled_macro_means(by_question, strata, repetitions, seed)
    found = []
    for place, own in enumerate(differences):
        seeds = None
        if rule_of(len(own)) is IntervalRule.HIERARCHICAL:
            means = seed_means(own, strata)
            centred = (means - means.mean()) * _widening(len(means))
            seeds = resampled_means(centred[:, None], repetitions, seed)[:, 0]
        found.append(Replicates(questions[:, place], seeds))
    return tuple(found)


def interval(mean: float, variance: Variance, replicates: Replicates) -> tuple[float, float]:
    """Return the 95% interval of a mean by the rule for its number of seeds.

    The bootstrap adds the draws of seeds, of variance V_S, and those of questions, shrunk to the variance that is
    left without the interaction; together they have the variance V. A difference without any spread has no error
    that could be estimated: its interval is the whole range of differences.
    """
    if variance.total <= 0 and mean != 0:
        return -1.0, 1.0
    rule = rule_of(variance.seeds)
    if rule is IntervalRule.QUESTIONS:
        return _around(mean, replicates.questions, variance.degrees)
    if rule is IntervalRule.SEED_T or replicates.seeds is None:
        half = t_quantile(variance.degrees) * float(np.sqrt(variance.total))
        return mean - half, mean + half
    whole = variance.question_total
    shrunk = np.sqrt(variance.question / whole) if whole > 0 else 0.0
    return _around(mean, replicates.seeds + shrunk * replicates.questions, variance.degrees)


def _around(mean: float, deviations: NDArray[np.float64], degrees: float) -> tuple[float, float]:
    """Return the percentile interval of replicates, widened by the ratio of the t to the normal quantile."""
    low, high = np.percentile(deviations, _TAILS) * (t_quantile(degrees) / t_quantile(np.inf))
    return mean + float(low), mean + float(high)


def _widening(n: int) -> float:
    """Return sqrt(n / (n - 1)): deviations of n values from their own mean are too small by that factor."""
    return float(np.sqrt(n / (n - 1))) if n > 1 else 1.0


def _require_same_questions(expected: ItemScores, found: ItemScores, place: str) -> None:
    if np.array_equal(expected.item_id, found.item_id) and np.array_equal(expected.benchmark, found.benchmark):
        return
    wanted, given = (_keys(scores) for scores in (expected, found))
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    raise DataError(
        f"pairing: {place} has other questions than the reference: found {len(found)}, {len(missing)} missing"
        f"{_first(missing)} and {len(extra)} extra{_first(extra)}, allowed the same {len(expected)}; "
        "fix: evaluate both on the same benchmarks"
    )


def _keys(scores: ItemScores) -> set[tuple[str, str]]:
    return set(zip(scores.benchmark.tolist(), scores.item_id.tolist(), strict=True))


def _first(items: Iterable[tuple[str, str]]) -> str:
    return "".join(f" (first {benchmark} {item})" for benchmark, item in list(items)[:1])
