"""Bootstrap draws as weights: a replicate of a mean is a matrix product, for all arms of a table at once.

Drawing n of n with replacement is a multinomial vector of counts. The counts depend on the number of questions, of
repetitions and on the seed alone, so that all arms share them: it is cheaper, and their intervals then differ by
their data alone. They are kept as bytes (13 million questions and repetitions are 13 MB) and become float32 in
chunks; what is multiplied are deviations from a mean, so float32 costs about 1e-8 of an accuracy.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 20
"""Weights that are drawn or multiplied at a time: a few MB, so that they stay in the cache."""


def resampled_macro_means(
    values: NDArray[np.float64], strata: Sequence[NDArray[np.intp]], repetitions: int, seed: int
) -> NDArray[np.float64]:
    """Return bootstrap replicates [R, A] of A macro averages of `values` [Q, A].

    `strata` holds the positions of the questions of each benchmark; questions are resampled within them and the
    benchmarks weigh equally. All columns share the draws.
    """
    counts = question_counts(tuple(map(len, strata)), repetitions, seed)
    total = np.zeros((repetitions, values.shape[1]))
    for where, drawn in zip(strata, counts, strict=True):
        total += _weighted(drawn, values[where]) / (len(where) * len(strata))
    return total


def resampled_means(values: NDArray[np.float64], repetitions: int, seed: int) -> NDArray[np.float64]:
    """Return bootstrap replicates [R, A] of the means of A columns of `values` [S, A]; all columns share the draws."""
    return _weighted(seed_counts(len(values), repetitions, seed), values) / len(values)


@lru_cache(maxsize=4)
def question_counts(sizes: tuple[int, ...], repetitions: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    """Draw how often each question counts, [R, n] for each benchmark of n questions; rows sum to n."""
    generator = np.random.default_rng((seed, 0))
    return tuple(multinomial_counts(size, repetitions, generator) for size in sizes)


@lru_cache(maxsize=8)
def seed_counts(seeds: int, repetitions: int, seed: int) -> NDArray[np.uint8]:
    """Draw how often each seed counts, [R, S]; rows sum to S."""
    return multinomial_counts(seeds, repetitions, np.random.default_rng((seed, 1)))


def multinomial_counts(size: int, repetitions: int, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Draw `size` of `size` with replacement, `repetitions` times, and return the counts [R, size], read-only.

    A byte is enough: a count above 255 needs more than 255 things, and then has a chance below 1e-500.
    """
    counts = np.empty((repetitions, size), dtype=np.uint8)
    rows = max(1, _CHUNK // size)
    offsets = np.arange(rows, dtype=np.int64)[:, None] * size
    for start in range(0, repetitions, rows):
        block = counts[start : start + rows]
        drawn = generator.integers(0, size, block.shape, dtype=np.int32) + offsets[: len(block)]
        block[:] = np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape)
    counts.setflags(write=False)
    return counts


def _weighted(counts: NDArray[np.uint8], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return counts [R, n] times values [n, A] in chunks of float32."""
    narrow = values.astype(np.float32)
    rows = max(1, _CHUNK // counts.shape[1])
    parts = [counts[start : start + rows].astype(np.float32) @ narrow for start in range(0, len(counts), rows)]
    return np.concatenate(parts).astype(np.float64)
