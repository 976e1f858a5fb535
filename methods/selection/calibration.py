"""Thresholds on a ranking from a few labelled questions (PivotTrace; DE-Venus, section 4.3).

Published: a small set of questions spread over the ranking is annotated, and sliding-window statistics of their
empirical correctness calibrate where to annotate, to keep unlabelled and to discard. RECONSTRUCTION: how many, the
width of the window, both levels of correctness, and the isotonic fit that makes the windows monotone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class CalibrationRule:
    """How many questions are labelled for the calibration, and what correctness the thresholds stand for."""

    share: float = 0.02  # of the pool
    least: int = 100  # questions, where the pool is large enough
    most: float = 0.5  # of the pool
    window: float = 0.2  # of the labelled questions
    mastered: float = 0.9  # correctness from which a question is discarded
    hard: float = 0.5  # correctness up to which a question is annotated
    agreement: float = -0.1  # Spearman correlation above which the scores are not trusted


def probe_ranks(pool: int, rule: CalibrationRule) -> NDArray[np.int64]:
    """Return the evenly spaced ranks to label: max(least, share of the pool), but no more than `most` of it."""
    count = min(max(rule.least, round(rule.share * pool)), int(rule.most * pool))
    return np.asarray(np.floor((np.arange(count) + 0.5) * pool / max(count, 1)), dtype=np.int64)


def correctness_by_rank(
    ranks: NDArray[np.int64], correctness: NDArray[np.float64], pool: int, rule: CalibrationRule
) -> NDArray[np.float64]:
    """Return the calibrated correctness at every rank ([pool], never falling) from probes by rising rank ([m]).

    Means over ceil(window * m) consecutive probes stand at the mean rank of their window; an isotonic regression
    makes them monotone, and ranks between two windows are interpolated.
    """
    from sklearn.isotonic import IsotonicRegression

    width = int(np.ceil(rule.window * len(ranks)))
    kernel = np.full(width, 1.0 / width)
    centres = np.convolve(ranks, kernel, mode="valid")
    means = np.convolve(correctness, kernel, mode="valid")
    fit = IsotonicRegression(increasing=True, out_of_bounds="clip").fit(centres, means)
    return np.asarray(fit.predict(np.arange(pool)), dtype=np.float64)


def thresholds(calibrated: NDArray[np.float64], rule: CalibrationRule) -> tuple[int, int]:
    """Return (annotate, discard): ranks below the first are annotated, ranks from the second on are discarded."""
    slack = 1e-9  # sums of shares reach a level such as 0.9 up to rounding only
    annotate = int(np.searchsorted(calibrated, rule.hard + slack, side="right"))
    discard = int(np.searchsorted(calibrated, rule.mastered - slack, side="left"))
    return annotate, discard


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Return the rank correlation in [-1, 1]; None where it is undefined (one value only, or fewer than two)."""
    from scipy.stats import spearmanr

    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(spearmanr(x, y).statistic)
