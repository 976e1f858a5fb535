"""Estimators over the sampled responses of a benchmark. Pure numpy; n responses per question, c correct.

A question without a judged response has no accuracy: it is NaN here, and it makes every average above it
missing (None) instead of being left out.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def item_accuracy(correct: NDArray[np.int64], samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return avg@n by item, c / n in [0, 1], both [Q]; NaN where n is 0."""
    accuracy = np.full(len(samples), np.nan)
    np.divide(correct, samples, out=accuracy, where=samples > 0)
    return accuracy


def pass_at_k(correct: NDArray[np.int64], samples: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return the unbiased pass@k by item, 1 - C(n - c, k) / C(n, k), all [Q]; NaN where n < k.

    The formula is that of Chen et al. 2021 (arXiv 2107.03374), equation 1. The ratio is taken factor by factor, so
    that no binomial overflows.
    """
    wrong = samples - correct
    all_wrong = np.ones(len(samples))
    enough = samples >= k
    for drawn in range(k):
        left = np.where(enough, samples - drawn, 1)
        all_wrong *= np.maximum(wrong - drawn, 0) / left
    return np.where(enough, 1.0 - all_wrong, np.nan)


def mean_or_missing(values: NDArray[np.float64]) -> float | None:
    """Return the mean of item values, None where there is no item or where an item has no value."""
    return float(values.mean()) if len(values) and bool(np.isfinite(values).all()) else None


def macro_average(means: Iterable[float | None]) -> float | None:
    """Return the unweighted mean of benchmark means; one missing benchmark makes the average missing."""
    present = list(means)
    values = [value for value in present if value is not None]
    return sum(values) / len(values) if values and len(values) == len(present) else None


def powers_of_two(limit: int) -> tuple[int, ...]:
    """Return 1, 2, 4, ... up to `limit`: the k at which pass@k is reported."""
    return tuple(2**i for i in range(limit.bit_length()) if 2**i <= limit)
