"""What a table can resolve: the smallest true difference that it would find with a probability of 80%.

Without it "no difference" and "too few seeds" look alike. The test is the one behind the intervals (Student's t with
the variance over seeds and questions), so its power is that of the table and not of a z-test with a known variance:
the estimated variance of S seeds varies, and is averaged over its chi-square distribution.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmark.report.stats import Difference

POWER = 0.8
LEVEL = 0.05
_NODES = 400


def minimal_detectable_difference(
    differences: Sequence[Difference], *, power: float = POWER, level: float = LEVEL, comparisons: int = 1
) -> float | None:
    """Return the true difference, in accuracy, that a comparison of the table finds with probability `power`.

    The variances are averaged over the differences of the table (the paired standard deviation across seeds, pooled),
    with the least number of seeds among them. `comparisons` divides the level, as Holm's first step does. With one
    seed it is about questions only. None for a table without a comparison, 0 where nothing varies.
    """
    if not differences:
        return None
    seeds = min(difference.seeds for difference in differences)
    seed, question = (
        float(np.mean([getattr(difference, name) for difference in differences]))
        for name in ("seed_variance", "question_variance")
    )
    if seeds == 1:
        seed = 0.0
    error = float(np.sqrt(seed + question))
    low, high = 0.0, error
    while error and detection_power(high, seed, question, seeds, level / comparisons) < power:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        found = detection_power(middle, seed, question, seeds, level / comparisons) >= power
        low, high = (low, middle) if found else (middle, high)
    return high


def detection_power(
    difference: float, seed_variance: float, question_variance: float, seeds: int, level: float = LEVEL
) -> float:
    """Return the probability that the two-sided test finds a true difference; the variances are those of the mean.

    Questions are taken as many, so that their variance is known. Without question variance it is the power of the
    paired t test.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    if seeds == 1 or seed_variance == 0:
        limits: NDArray[np.float64] = np.asarray([-ndtri(level / 2) * np.sqrt(question_variance)])
    else:
        estimated = seed_variance * _chi_square_nodes(seeds - 1) / (seeds - 1)
        upper = estimated * (1 + 2 * np.sqrt(2 / (seeds - 1)))  # as in intervals.Variance.degrees
        degrees = (seeds - 1) * ((upper + question_variance) / upper) ** 2
        limits = stdtrit(degrees, 1 - level / 2) * np.sqrt(estimated + question_variance)
    error = np.sqrt(seed_variance + question_variance)
    if error == 0:
        return float(difference != 0)
    return float(np.mean(ndtr((difference - limits) / error) + ndtr((-difference - limits) / error)))


@lru_cache(maxsize=32)
def _chi_square_nodes(degrees: int) -> NDArray[np.float64]:
    """Return values that stand for equal shares of the chi-square distribution, [N]."""
    from scipy.special import chdtri

    return np.asarray(chdtri(degrees, 1 - (np.arange(_NODES) + 0.5) / _NODES))
