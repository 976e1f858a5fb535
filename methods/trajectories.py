"""What the course of an item's pass rate says: its slope, and how much it resembles reliable ones.

Pure numpy. A trajectory is a sequence of pass rates in [0, 1], one per visit, oldest first. Sources: OLR
(arXiv 2604.03993) for the slope; TraPO (arXiv 2512.13106) for the consistency score (TCS).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHORTEST = 2
"""Visits below which a trajectory has neither a slope nor a shape."""


def slope(trajectory: Sequence[float]) -> float:
    """Return the least-squares slope per visit; 0 with fewer than two visits.

    With whole numbers w_k = 2k - (n - 1) it is 6 sum(w p) / (n (n^2 - 1)): pass rates over a power of two
    rollouts are summed exactly, so that a slope equal to the threshold is not lost to rounding.
    """
    n = len(trajectory)
    if n < SHORTEST:
        return 0.0
    weighted = math.fsum((2 * k - (n - 1)) * rate for k, rate in enumerate(trajectory))
    return 6 * weighted / (n * (n * n - 1))


def consistency(
    queries: Sequence[Sequence[float]], database: Sequence[Sequence[float]], centred: bool = True
) -> NDArray[np.float64]:
    """Return the trajectory consistency score of each query, in [-1, 1]; NaN where it has none.

    Centred (the authors' code): the mean Pearson correlation with the rows of the database. Uncentred (the
    paper's text): the cosine with the mean row; pass rates are never negative, so it is nearly always high.
    Everything is cut to the first m entries, m the length of the shortest row; a query with fewer, m < 2
    or an empty database gives NaN. A trajectory without shape (constant, or all 0 if uncentred) scores 0.
    """
    scores = np.full(len(queries), np.nan)
    m = min(map(len, database), default=0)
    long_enough = [q for q, query in enumerate(queries) if len(query) >= m]
    if m < SHORTEST or not long_enough:
        return scores
    rows = np.array([row[:m] for row in database], dtype=np.float64)  # [D, m]
    asked = np.array([queries[q][:m] for q in long_enough], dtype=np.float64)  # [Q, m]
    mean_direction = _directions(rows, True).mean(axis=0) if centred else _directions(rows.mean(axis=0)[None], False)[0]
    # Summed row by row, not as a matrix product, whose rounding depends on the position of a row.
    scores[long_enough] = (_directions(asked, centred) * mean_direction).sum(axis=1)
    return scores


def _directions(rows: NDArray[np.float64], centred: bool) -> NDArray[np.float64]:
    """Scale rows [N, m] to length 1 after subtracting their mean if centred; rows without shape become 0."""
    shapeless = rows.max(axis=1) == rows.min(axis=1) if centred else rows.max(axis=1) == 0
    moved = rows - rows.mean(axis=1, keepdims=True) if centred else rows
    lengths = np.where(shapeless, 1.0, np.sqrt((moved * moved).sum(axis=1)))
    return np.where(shapeless[:, None], 0.0, moved / lengths[:, None])
