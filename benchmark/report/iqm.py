"""Summaries of a suite beside the mean: interquartile mean and probability of improvement.

Both look at a matrix of scores by training seed and benchmark, [S, T], and are secondary: they say how robust a
ranking is, not how large a difference is. Intervals resample seeds within each benchmark (a stratified bootstrap), so
they speak of the same benchmarks and questions; with fewer than five seeds they are too narrow.

Source: Agarwal et al. 2021 (arXiv 2108.13264). Own code because rliable neither imports beside pandas 3 nor honours
its random state, and because this form is far faster: the scores are sorted once, and a replicate is a vector of
counts over that order.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.report.bootstrap import multinomial_counts

REPETITIONS = 50_000
_TAILS = (2.5, 97.5)
_CUT = 0.25
_CHUNK = 1 << 12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95% bootstrap interval."""

    value: float
    low: float
    high: float


def interquartile_mean(scores: NDArray[np.float64]) -> float:
    """Return the mean of the middle half of all scores; a quarter of them, rounded down, is cut at each end."""
    ordered = np.sort(scores, axis=None)
    cut = int(_CUT * ordered.size)
    return float(ordered[cut : ordered.size - cut].mean())


def interquartile_mean_interval(
    scores: NDArray[np.float64], *, repetitions: int = REPETITIONS, seed: int = 0
) -> Estimate:
    """Return the interquartile mean of scores [S, T] with its stratified bootstrap interval."""
    seeds, kinds = scores.shape
    flat = scores.T.ravel()  # benchmark by benchmark
    order = np.argsort(flat, kind="stable")
    cut = int(_CUT * flat.size)
    steps = np.diff(flat[order])
    generator = np.random.default_rng(seed)
    means = np.empty(repetitions)
    for start in range(0, repetitions, _CHUNK):
        rows = min(_CHUNK, repetitions - start)
        counts = multinomial_counts(seeds, rows * kinds, generator).reshape(rows, flat.size)
        means[start : start + rows] = _trimmed_means(counts[:, order], flat[order[-1]], steps, cut)
    return Estimate(interquartile_mean(scores), *_percentiles(means))


def probability_of_improvement(
    arm: NDArray[np.float64], reference: NDArray[np.float64], *, repetitions: int = 2000, seed: int = 0
) -> Estimate:
    """Return how probable it is that a run of the arm beats one of the reference on a random benchmark.

    Scores [S, T] and [S', T]: the mean over benchmarks of P(arm > reference) over all pairs of runs, ties counting
    one half; 0.5 is no difference. The two are resampled apart, as the pairs are of any two runs.
    """
    above = np.sign(arm[:, None] - reference[None]) / 2 + 0.5  # [S, S', T]
    generator = np.random.default_rng(seed)
    total = np.zeros(repetitions)
    for kind in range(arm.shape[1]):
        ours = multinomial_counts(len(arm), repetitions, generator) @ above[:, :, kind]
        total += (ours * multinomial_counts(len(reference), repetitions, generator)).sum(axis=1)
    replicates = total / (len(arm) * len(reference) * arm.shape[1])
    return Estimate(float(above.mean()), *_percentiles(replicates))


def _trimmed_means(
    counts: NDArray[np.uint8], largest: float, steps: NDArray[np.float64], cut: int
) -> NDArray[np.float64]:
    """Average what is left of each replicate without `cut` values at either end; counts [R, N] by ascending value.

    With n[j] the number of kept values up to the j-th, the sum is largest x kept - sum_j n[j] (value[j+1] - value[j]).
    """
    size = counts.shape[1]
    below = np.cumsum(counts, axis=1, dtype=np.int16 if size < 1 << 15 else np.int32)
    kept = np.clip(below[:, :-1], cut, size - cut).astype(np.float32) - np.float32(cut)
    return np.asarray(largest - kept @ steps.astype(np.float32) / (size - 2 * cut))


def _percentiles(replicates: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(replicates, _TAILS)
    return float(low), float(high)
