"""Holm's adjustment for the comparisons of one table, which is the declared family.

Own code because it is one line of arithmetic: scipy has no Holm, and statsmodels would be a large dependency for it.
"""

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values adjusted for their number, in the order given, in [0, 1].

    The i-th smallest of m is multiplied by m - i + 1, then no value is below one of a smaller p (Holm 1979); it holds
    the family-wise error rate whatever the dependence, so arms may share their reference.
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(stepped, 1.0)
    return tuple(adjusted.tolist())
