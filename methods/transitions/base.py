"""What a transition sees and what it returns. Pure: plain values in, plain values out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredLabel:
    """The label that an item carries in the data of the round; `label` is None for an unlabelled item."""

    index: int
    label: str | None
    provenance: str  # "given", or the Change that put it there


@dataclass(frozen=True, slots=True)
class ProbeVisit:
    """One item in one probe pass: the answers of G probe rollouts, None where a response has none."""

    index: int
    answers: tuple[str | None, ...]  # [G]


class ChangeKind(StrEnum):
    """What a transition does to an item."""

    PROMOTED = "promoted"
    """An unlabelled item receives a pseudo label, which is kept from then on."""
    RELABELLED = "relabelled"
    """A stored label is replaced."""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the manifest."""

    index: int
    kind: ChangeKind
    label: str  # the new label
    previous: str | None
    pass_rate: float  # share of the newest probe's answers that equal the new label, in [0, 1]
    slope: float  # of that pass rate, per probe
    margin: float  # over the label it replaces, NaN where there is none


class Transition(Protocol):
    """The decision rule between two rounds."""

    @property
    def rounds(self) -> int:
        """How many rounds of training there are; the planned steps are divided evenly among them."""
        ...

    def decide(self, stored: Sequence[StoredLabel], probes: Sequence[Sequence[ProbeVisit]]) -> tuple[Change, ...]:
        """Return the changes to the data, by rising index.

        `probes[k]` is the probe after round k, oldest first; every probe visits the same items once.
        """
        ...
