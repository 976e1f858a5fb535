"""How well a group fits the geometry of correctness, and the affinities of recent steps.

RECONSTRUCTION of GeoMin's distribution match (arXiv 2606.04516), whose formula is not published.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from methods.feature_bank import StepFeatures


def group_affinity(
    scores: NDArray[np.float64], found: StepFeatures, in_majority: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the affinity [B] of each group: the mean log-sigmoid fit of its rollouts, at most 0.

    `scores` [N] say how correct a rollout looks, `in_majority` is [B, G]. A rollout of the majority adds log
    sigmoid(s), one of the minority log sigmoid(-s). A rollout that failed has no hidden states and is left
    out; a group of such rollouts alone has NaN.
    """
    signs = np.where(in_majority[found.row, found.column], 1.0, -1.0)
    fits = -np.logaddexp(0.0, -signs * scores)
    prompts = len(found.first)
    total = np.bincount(found.row, weights=fits, minlength=prompts)
    rollouts = np.bincount(found.row, minlength=prompts)
    return np.where(rollouts > 0, total / np.maximum(rollouts, 1), np.nan)


class RecentAffinities:
    """The affinities of the last `steps` steps, by (step, index)."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._step, self._index = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.values = np.zeros(0)

    def add(self, step: int, index: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Add the affinities [n] of a step, whose indices are distinct, and forget those that are too old."""
        order, age = np.argsort(index), step - self._step
        recent = (age > 0) & (age < self._steps)  # a step that is seen again replaces itself
        self._step = np.concatenate([self._step[recent], np.full(len(index), step, dtype=np.int64)])
        self._index = np.concatenate([self._index[recent], index[order]])
        self.values = np.concatenate([self.values[recent], values[order]])

    def as_state(self) -> dict[str, NDArray[Any]]:
        """Return arrays for a checkpoint."""
        return {"affinity_step": self._step, "affinity_index": self._index, "affinity_value": self.values}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take the affinities from what `as_state` returned."""
        self._step, self._index = state["affinity_step"], state["affinity_index"]
        self.values = state["affinity_value"]
