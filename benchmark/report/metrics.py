"""Estimators over the sampled responses of a benchmark. Pure numpy; n responses per question, c correct.

A question without a judged response has no accuracy: it is NaN here, and it makes every average above it
missing (None) instead of being left out. n is what exists, never what was configured: dividing by the configured
number turns missing responses into wrong ones.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Average:
    """An unweighted mean of benchmarks; without a value there is a reason."""

    value: float | None
    benchmarks: tuple[str, ...]  # over which it is taken, or would be
    reason: str = ""


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


def g_pass_at_k(
    correct: NDArray[np.int64], samples: NDArray[np.int64], k: int, threshold: float
) -> NDArray[np.float64]:
    """Return G-Pass@k by item: the chance that at least `threshold` of k responses are right, all [Q].

    sum over j >= max(1, ceil(threshold k)) of C(c, j) C(n - c, k - j) / C(n, k) (Liu et al. 2024, arXiv 2412.13147);
    NaN where n < k. A threshold up to 1 / k is pass@k, a threshold of 1 is "all of k are right".
    """
    needed = max(1, ceil(threshold * k - 1e-9))
    return _by_count(correct, samples, k, lambda c, n: _at_least(c, n, k, needed))


def mean_g_pass_at_k(correct: NDArray[np.int64], samples: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return mG-Pass@k by item: G-Pass@k averaged over the thresholds above one half, all [Q].

    2 / k times the sum over i from ceil(k / 2) + 1 to k of G-Pass@k at i / k (the same paper); NaN where n < k, and
    for k = 1, which has no such threshold.
    """
    if k < 2:
        return np.full(len(samples), np.nan)
    counts = range(ceil(k / 2) + 1, k + 1)
    return _by_count(correct, samples, k, lambda c, n: 2 / k * sum(_at_least(c, n, k, i) for i in counts))


def mean_or_missing(values: NDArray[np.float64]) -> float | None:
    """Return the mean of item values, None where there is no item or where an item has no value."""
    return float(values.mean()) if len(values) and bool(np.isfinite(values).all()) else None


def macro_average(means: Iterable[float | None]) -> float | None:
    """Return the unweighted mean of benchmark means; one missing benchmark makes the average missing."""
    present = list(means)
    values = [value for value in present if value is not None]
    return sum(values) / len(values) if values and len(values) == len(present) else None


def group_average(means: Mapping[str, float | None]) -> Average:
    """Average the benchmarks of a group, which are the keys; without a value the reason names what is missing."""
    lacking = [name for name, value in means.items() if value is None]
    if not means:
        return Average(None, (), "no benchmark of this group was evaluated")
    if lacking:
        reason = f"no value on {len(lacking)} of {len(means)} benchmarks: {', '.join(lacking)}"
        return Average(None, tuple(means), reason)
    return Average(macro_average(means.values()), tuple(means))


def powers_of_two(limit: int) -> tuple[int, ...]:
    """Return 1, 2, 4, ... up to `limit`: the k at which pass@k is reported."""
    return tuple(2**i for i in range(limit.bit_length()) if 2**i <= limit)


def _by_count(
    correct: NDArray[np.int64], samples: NDArray[np.int64], k: int, value: Callable[[int, int], float]
) -> NDArray[np.float64]:
    """Evaluate a function of (c, n) once per distinct pair, NaN where n < k."""
    found = np.full(len(samples), np.nan)
    enough = samples >= k
    if enough.any():
        pairs, place = np.unique(np.stack([correct, samples])[:, enough], axis=1, return_inverse=True)
        found[enough] = np.array([value(int(c), int(n)) for c, n in pairs.T])[place.ravel()]
    return found


@lru_cache(maxsize=1 << 14)
def _at_least(c: int, n: int, k: int, needed: int) -> float:
    """Return the hypergeometric chance of `needed` or more right ones among k of n, c of which are right."""
    return sum(comb(c, j) * comb(n - c, k - j) for j in range(needed, min(c, k) + 1)) / comb(n, k)
