"""What a method sees of a training step: B prompts with G rollouts each.

Plain numpy and tuples, so that a method is tested without Ray, verl or a model. The hidden truth of
an unlabelled item is not in here at all; asking for it raises an error that names the rule.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import HiddenTruthError

_RULE = "a method cannot read the hidden truth of an unlabelled item"


class GivenLabels(Sequence[str]):
    """The labels that were given to the learner, by position in the batch (length B).

    Reading the label of an unlabelled item raises HiddenTruthError: there is none to read, and code
    that tries would work only where the truth leaks.
    """

    __slots__ = ("_labels",)

    def __init__(self, labels: Sequence[str | None]) -> None:
        self._labels = tuple(labels)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[str]: ...
    def __getitem__(self, position: int | slice) -> str | Sequence[str]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        label = self._labels[position]
        if label is None:
            raise HiddenTruthError(
                f"{_RULE}: label {position} of the batch was read, and that item is unlabelled; "
                "fix: ask groups.labelled first"
            )
        return label

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, slots=True)
class RolloutGroups:
    """One step's rollouts, grouped by prompt: B prompts x G rollouts.

    `index` is the persistent identity of an item: histories are keyed by it. Positions in the
    batch change from step to step.
    """

    index: NDArray[np.int64]  # [B] extra_info.index
    labelled: NDArray[np.bool_]  # [B] whether a label was given
    labels: GivenLabels  # [B] given labels; unlabelled positions raise
    answers: tuple[tuple[str | None, ...], ...]  # [B][G] extracted answers, None where there is none
    lengths: NDArray[np.int64]  # [B, G] response lengths in tokens, without padding; 0 where a rollout failed
    rollout: NDArray[np.int64]  # [B, G] number of a rollout within its group, 0 .. G-1
    step: int  # 1-based training step
    epoch: int  # 0-based pass over the training rows
    partner: NDArray[np.int64] | None = None  # [B] index of the paraphrase in the same batch; None without pairs
    teacher_answers: tuple[tuple[str | None, ...], ...] | None = None  # [B][..] answers of the EMA teacher
    oracle: tuple[str, ...] | None = field(default=None, repr=False)  # [B] truth, for controls that declare it

    def __len__(self) -> int:
        return len(self.index)

    @property
    def rollouts_per_prompt(self) -> int:
        """G, the size of a group."""
        return int(self.lengths.shape[1])

    @property
    def truth(self) -> tuple[str, ...]:
        """The truth of every item ([B]), for a control that declares `uses_hidden_truth`.

        Raises HiddenTruthError for every other method: the truth belongs to the diagnostics of the runner.
        """
        if self.oracle is None:
            raise HiddenTruthError(
                f"{_RULE}: groups.truth was read; fix: use groups.labels where groups.labelled holds"
            )
        return self.oracle


class NoTarget:
    """The type of NO_TARGET, which equals nothing, itself included."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return "NO_TARGET"


NO_TARGET: Final = NoTarget()
"""The target of an item for which there is nothing to compare with: every rollout scores 0."""


class TargetSource(StrEnum):
    """Where the target of an item comes from."""

    GIVEN = "given"
    """The label that was given with the item."""
    PSEUDO = "pseudo"
    """Built by the method from the rollouts."""
    REFINED = "refined"
    """A given label that the method replaced by a pseudo label, because it takes it for wrong."""
    NONE = "none"
    """There is no target."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What the rollouts of each prompt are compared with, and why."""

    values: tuple[str | NoTarget, ...]  # [B]
    sources: tuple[TargetSource, ...]  # [B]
    confidence: NDArray[np.float64]  # [B] in [0, 1], NaN where the method states none


class EvidenceKind(StrEnum):
    """Quantities of the current policy that a method may ask for."""

    ENTROPY = "entropy"
    """Entropy of the next-token distribution, in nats, per token."""
    LOG_PROBS = "log_probs"
    """Log-probability of the sampled token, in nats, per token."""
    SELF_CERTAINTY = "self_certainty"
    """KL(uniform || next-token distribution), in nats, per token (Intuitor, arXiv 2505.19590)."""
    HIDDEN_STATES = "hidden_states"
    """Hidden states of chosen layers, averaged over the response."""
    ATTENTION = "attention"
    """Attention mass on far response tokens, per token."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The declared evidence; a kind that was not declared is None.

    Per-token kinds are ragged: `entropy[b][g]` is a float array over the valid response tokens only, so
    no padding can enter a mean. A rollout that was not admitted has empty arrays.
    """

    entropy: tuple[tuple[NDArray[np.float64], ...], ...] | None = None  # [B][G][T]
    log_probs: tuple[tuple[NDArray[np.float64], ...], ...] | None = None  # [B][G][T]
    self_certainty: tuple[tuple[NDArray[np.float64], ...], ...] | None = None  # [B][G][T]
    hidden_states: tuple[tuple[NDArray[np.float32], ...], ...] | None = None  # [B][G][layers, width]
    attention: tuple[tuple[NDArray[np.float64], ...], ...] | None = None  # [B][G][T]
