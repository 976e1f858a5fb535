"""What a comparison can resolve: the smallest true difference that it would find with a probability of 80%.

Without it "no difference" and "too few seeds" look alike. The test is the one behind the intervals (Student's t with
the variance over seeds and questions), so its power is that of the table and not of a z-test with a known variance:
the estimated variance of S seeds varies, and is averaged over its chi-square distribution.

Each comparison is judged by its own variances, as arms of one table differ in them by far more than a pooled value
could stand for. A comparison of a single seed knows nothing of the variance over seeds: beside comparisons that do, it
would look the sharpest of all, and is left out.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmark.report.stats import Difference

POWER = 0.8
LEVEL = 0.05
_NODES = 400


def minimal_detectable_differences(
    differences: Sequence[Difference], *, power: float = POWER, level: float = LEVEL, comparisons: int = 1
) -> tuple[float, ...]:
    """Return the true difference, in accuracy, that each comparison finds with probability `power`, ascending.

    Those of a single seed are left out where another has more, and those without any spread, of which nothing is
    known. `comparisons` divides the level, as the first step of Holm's correction does (Bonferroni's).
    """
    spread = [difference for difference in differences if difference.seed_variance + difference.question_variance > 0]
    several = any(difference.seeds > 1 for difference in spread)
    kept = [difference for difference in spread if difference.seeds > 1 or not several]
    return tuple(sorted(minimal_detectable_difference(one, power=power, level=level / comparisons) for one in kept))


def minimal_detectable_difference(difference: Difference, *, power: float = POWER, level: float = LEVEL) -> float:
    """Return the true difference, in accuracy, that a comparison with these variances finds with probability `power`.

    With one seed it is about questions only, for the training runs at hand. 0 where nothing varies.
    """
    question, seeds = difference.question_variance, difference.seeds
    seed = difference.seed_variance if seeds > 1 else 0.0
    error = float(np.sqrt(seed + question))
    low, high = 0.0, error
    while error and detection_power(high, seed, question, seeds, level) < power:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        found = detection_power(middle, seed, question, seeds, level) >= power
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
