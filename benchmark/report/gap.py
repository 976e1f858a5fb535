"""Performance gap recovered: how much of the way from a floor to a ceiling an arm goes.

(arm - floor) / (ceiling - floor), a ratio of means over seeds, questions and benchmarks; the mean of ratios would
weigh most the questions on which ceiling and floor hardly differ. The floor is named, because "recovered" means
nothing without it (the base model, or training on the same labels alone); the ratio is not clipped: an arm may beat
the ceiling. Where floor and ceiling cannot be told apart, the ratio is undefined, with the reason. Leaving such cells
out of a mean, or clipping them, would be a selection.

The interval holds every ratio r for which arm - floor - r (ceiling - floor) does not differ from 0 (Fieller 1954),
judged by the same rule as any difference: numerator and denominator share the draws of seeds and questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from benchmark.report.intervals import Variance, seed_means, variance_of
from benchmark.report.items import ItemScores
from benchmark.report.stats import (
    REPETITIONS,
    SEED,
    SEEDS_FOR_BOOTSTRAP,
    Replicates,
    interval,
    paired_accuracy,
    replicates_of,
    strata_of,
)

Scores = Mapping[int, ItemScores] | ItemScores
"""Scores by seed; without seeds (an untrained policy) they stand beside every seed of the others."""

_STEPS = 40


class GapUndefined(StrEnum):
    """Why there is no gap to recover a part of."""

    UNRESOLVED = "unresolved"
    """The interval of ceiling minus floor includes 0."""
    REVERSED = "reversed"
    """The ceiling lies below the floor."""
    NO_COMMON_SEED = "no_common_seed"
    """Arm, floor and ceiling have no seed in common."""


@dataclass(frozen=True, slots=True)
class GapRecovered:
    """The recovered share of a gap with its 95% interval: 1 is all of it; all None where it is undefined."""

    floor: str  # name
    ceiling: str
    value: float | None
    low: float | None
    high: float | None
    seeds: int
    provisional: bool  # fewer than five seeds
    gap: float | None  # ceiling minus floor, in accuracy
    undefined: GapUndefined | None = None
    reason: str = ""  # one line, where it is undefined


def gap_recovered(
    arm: Scores,
    floor: Scores,
    ceiling: Scores,
    *,
    floor_name: str,
    ceiling_name: str,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
) -> GapRecovered:
    """Return the performance gap recovered over the seeds that all three have; questions of one group of benchmarks.

    Raises DataError where they do not have the same questions or an accuracy is missing.
    """
    seeds = _common_seeds(arm, floor, ceiling)
    if not seeds:
        reason = f"the arm, {floor_name} and {ceiling_name} have no seed in common"
        undefined = GapUndefined.NO_COMMON_SEED
        return GapRecovered(floor_name, ceiling_name, None, None, None, 0, True, None, undefined, reason)
    ours, low, high = ({number: _at(scores, number) for number in seeds} for scores in (arm, floor, ceiling))
    family = _Family.of(paired_accuracy(ours, low), paired_accuracy(high, low), low[seeds[0]], repetitions, seed)
    gap, provisional = family.whole, len(seeds) < SEEDS_FOR_BOOTSTRAP
    ends = interval(gap, family.variance_whole, family.drawn[1])
    if ends[0] <= 0:
        undefined = GapUndefined.REVERSED if ends[1] < 0 else GapUndefined.UNRESOLVED
        said = f"{ceiling_name} minus {floor_name} is {100 * gap:+.1f} [{100 * ends[0]:+.1f}, {100 * ends[1]:+.1f}]"
        why = "the ceiling is below the floor" if undefined is GapUndefined.REVERSED else "the interval includes 0"
        reason = f"{said} points: {why}"
        return GapRecovered(floor_name, ceiling_name, None, None, None, len(seeds), provisional, gap, undefined, reason)
    value = family.part / gap
    low_end, high_end = family.end(value, -1), family.end(value, +1)
    return GapRecovered(floor_name, ceiling_name, value, low_end, high_end, len(seeds), provisional, gap)


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """The differences part - r whole for any ratio r: means, variances and replicates."""

    part: float  # mean of arm minus floor
    whole: float  # mean of ceiling minus floor
    variance_part: Variance
    variance_whole: Variance
    variance_sum: Variance  # of part + whole, for their covariance
    drawn: tuple[Replicates, ...]  # of part and of whole

    @classmethod
    def of(
        cls,
        part: NDArray[np.float64],
        whole: NDArray[np.float64],
        about: ItemScores,
        repetitions: int,
        seed: int,
    ) -> "_Family":
        strata = strata_of(about.benchmark)
        return cls(
            float(seed_means(part, strata).mean()),
            float(seed_means(whole, strata).mean()),
            variance_of(part, strata),
            variance_of(whole, strata),
            variance_of(part + whole, strata),
            replicates_of((part, whole), strata, repetitions, seed),
        )

    def end(self, ratio: float, side: int) -> float:
        """Return the ratio furthest out at which the difference still includes 0; side is -1 for low, +1 for high."""

        def includes_zero(r: float) -> bool:
            low, high = interval(self.part - r * self.whole, self._variance(r), self._replicates(r))
            return high >= 0 if side > 0 else low <= 0

        inside, step = ratio, 0.125
        while includes_zero(ratio + side * step):  # ends: the interval of the whole excludes 0
            inside, step = ratio + side * step, 2 * step
        outside = ratio + side * step
        for _ in range(_STEPS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if includes_zero(middle) else (inside, middle)
        return inside

    def _variance(self, r: float) -> Variance:
        a, b, both = self.variance_part, self.variance_whole, self.variance_sum

        def quadratic(name: str) -> NDArray[np.float64]:
            first, second, total = (np.asarray(getattr(each, name)) for each in (a, b, both))
            return np.asarray(np.maximum(first - r * (total - first - second) + r * r * second, 0.0))

        return Variance(
            a.seeds, a.sizes, float(quadratic("seed")), quadratic("questions"), float(quadratic("interaction"))
        )

    def _replicates(self, r: float) -> Replicates:
        part, whole = self.drawn
        seeds = None if part.seeds is None or whole.seeds is None else part.seeds - r * whole.seeds
        return Replicates(part.questions - r * whole.questions, seeds)


def _common_seeds(*scores: Scores) -> list[int]:
    """Return the seeds that all trained sides have; a single one, 0, where nothing was trained."""
    trained = [set(each) for each in scores if not isinstance(each, ItemScores)]
    return sorted(set.intersection(*trained)) if trained else [0]


def _at(scores: Scores, seed: int) -> ItemScores:
    return scores if isinstance(scores, ItemScores) else scores[seed]
