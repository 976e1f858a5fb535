"""Hidden states of rollouts: those of one step in a fixed order, and the labelled ones of recent steps.

Everything is kept by (step, index, rollout number), never by the order of a batch: sums and matrix products
round differently in another order, and a decision at a threshold would change with it. Trade-off taken:
the bank keeps the pooled states as they come (float32) and normalises them at each decision, which costs a
pass over the bank per step but lets its mean follow the policy. Its room is rows x layers x width x 4
bytes: 2 MiB in the micro world at the cap, 0.9 GiB with 14 layers of width 4,096.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import MethodError
from methods.groups import RolloutGroups

_Hidden = tuple[tuple[NDArray[np.float32], ...], ...]


@dataclass(frozen=True, slots=True)
class StepFeatures:
    """The N rollouts of a step that have hidden states, by (index, rollout number)."""

    values: NDArray[np.float32]  # [N, layers, width]
    row: NDArray[np.int64]  # [N] position of the prompt in the batch
    column: NDArray[np.int64]  # [N] position of the rollout in its group
    first: NDArray[np.bool_]  # [B] False where an earlier prompt of the batch has the same index


def step_features(groups: RolloutGroups, hidden: _Hidden) -> StepFeatures:
    """Stack the hidden states [B][G][layers, width] of a step; rollouts without any are left out.

    Raises MethodError for a value that is not finite, with the index of its item.
    """
    twin = _twin_ranks(groups, hidden)
    present = np.array([[states.size > 0 for states in row] for row in hidden], dtype=np.bool_)
    row, column = np.nonzero(present.reshape(groups.lengths.shape))
    order = np.lexsort((groups.rollout[row, column], twin[row], groups.index[row]))
    row, column = row[order], column[order]
    if not len(row):
        return StepFeatures(np.zeros((0, 0, 0), np.float32), row, column, twin == 0)
    stacked = [hidden[b][g] for b, g in zip(row.tolist(), column.tolist(), strict=True)]
    values = np.concatenate(stacked).reshape(len(row), *stacked[0].shape).astype(np.float32, copy=False)
    if not np.isfinite(values).all():
        worst = int(np.argmin(np.isfinite(values).all(axis=(1, 2))))
        raise MethodError(
            f"evidence hidden_states is not finite: found NaN or infinity for item {int(groups.index[row[worst]])} "
            f"in step {groups.step}; allowed finite values; fix: look at the engine that computes the evidence"
        )
    return StepFeatures(values, row, column, twin == 0)


def _twin_ranks(groups: RolloutGroups, hidden: _Hidden) -> NDArray[np.int64]:
    """Number the prompts that share an index ([B], 0 for the first) by content, so that their order is no matter."""
    ranks = np.zeros(len(groups), dtype=np.int64)
    indices, counts = np.unique(groups.index, return_counts=True)
    for index in indices[counts > 1]:
        twins = np.flatnonzero(groups.index == index)
        content = {b: _content(groups.answers[b], groups.rollout[b], hidden[b]) for b in twins.tolist()}
        for rank, b in enumerate(sorted(content, key=lambda b: content[b])):
            ranks[b] = rank
    return ranks


def _content(
    answers: Sequence[str | None], rollout: NDArray[np.int64], states: Sequence[NDArray[np.float32]]
) -> list[tuple[str, bytes]]:
    return [(answers[g] or "", states[g].tobytes()) for g in np.argsort(rollout).tolist()]


@dataclass(frozen=True, slots=True)
class BankRows:
    """Labelled rollouts by (step, index, rollout number)."""

    features: NDArray[np.float32]  # [n, layers, width]
    step: NDArray[np.int64]  # [n]
    index: NDArray[np.int64]  # [n]
    correct: NDArray[np.bool_]  # [n] whether the answer equals the given label
    mixed: NDArray[np.bool_]  # [n] whether its group has correct and incorrect rollouts

    def __len__(self) -> int:
        return len(self.step)

    def __getitem__(self, chosen: Any) -> "BankRows":
        return BankRows(*(getattr(self, name)[chosen] for name in self.__slots__))

    def smaller_class(self) -> int:
        """Return the number of correct or of incorrect rollouts, whichever is smaller."""
        return int(min(self.correct.sum(), (~self.correct).sum()))


_EMPTY = BankRows(
    np.zeros((0, 0, 0), np.float32), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, bool)
)


class FeatureBank:
    """A ring buffer by step: the labelled rollouts of the last `steps` steps, the newest `cap` of them."""

    def __init__(self, steps: int, cap: int) -> None:
        self._steps, self._cap = steps, cap
        self.rows = _EMPTY

    def add(self, groups: RolloutGroups, found: StepFeatures, correct: NDArray[np.bool_]) -> None:
        """Add the labelled rollouts of a step; `correct` is [B, G]. An index that occurs twice is added once."""
        chosen = groups.labelled[found.row] & found.first[found.row]
        row, column = found.row[chosen], found.column[chosen]
        right = correct[row, column]
        rollouts = np.bincount(row, minlength=len(groups))
        passed = np.bincount(row, weights=right, minlength=len(groups))
        mixed = (passed > 0) & (passed < rollouts)
        kept = slice(-self._cap, None)  # before the features are copied: a step may hold many more than the cap
        new = BankRows(
            found.values[np.flatnonzero(chosen)[kept]],
            np.full(len(row), groups.step, dtype=np.int64)[kept],
            groups.index[row][kept],
            right[kept],
            mixed[row][kept],
        )
        age = groups.step - self.rows.step
        old = self.rows[(age > 0) & (age < self._steps)]  # a step that is seen again replaces itself
        self.rows = _joined(old, new)[kept] if len(old) and len(new) else new if len(new) else old

    def as_state(self) -> dict[str, NDArray[Any]]:
        """Return the rows as arrays, for a checkpoint."""
        return {f"bank_{name}": getattr(self.rows, name) for name in BankRows.__slots__}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take the rows from what `as_state` returned."""
        self.rows = BankRows(*(state[f"bank_{name}"] for name in BankRows.__slots__))


def _joined(old: BankRows, new: BankRows) -> BankRows:
    return BankRows(*(np.concatenate([getattr(old, name), getattr(new, name)]) for name in BankRows.__slots__))
