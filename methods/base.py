"""The four surfaces on which a method acts, in the order of a training step (DE-Venus, section 2.6).

    rollouts -> targets -> admit -> verified reward -> rewards -> GRPO advantage -> advantages -> update

A surface that a method does not override is the identity, and a method that overrides none is plain
GRPO with the labels that were given. Trade-off taken: surfaces are methods of one class rather
than four registered callables, because most methods share state (histories) between surfaces, and a
newcomer finds all of a method in one place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from methods.groups import NO_TARGET, Evidence, EvidenceKind, RolloutGroups, Targets, TargetSource
from methods.teacher import TeacherPlan
from methods.transitions.base import Transition


class LabelNeed(StrEnum):
    """How a method relates to the label ratio of a cell."""

    REQUIRED = "required"
    """Learns from labels only: a label ratio of 0 is refused."""
    OPTIONAL = "optional"
    """Uses labels where they are given, and builds a signal for the rest."""
    IGNORED = "ignored"
    """Never reads a label: has one cell, not one per label ratio."""


class TrainingRows(StrEnum):
    """Which rows of the pool a method trains on."""

    ALL = "all"
    """The whole pool, labelled or not."""
    LABELLED = "labelled"
    """The labelled rows only; the rest of the pool is not used."""
    PAIRED = "paired"
    """The whole pool, and beside each question a paraphrase of it, in the same batch."""


class Module(StrEnum):
    """Where a method acts (DE-Venus, section 2): by the time at which it decides."""

    BASELINE = "baseline"
    """A reference: labels as they are given."""
    CONSTRUCTION = "construction"
    """Weak supervision construction: a signal for items without a label."""
    REFINEMENT = "refinement"
    """Training-time refinement: which signals are used, corrected or weighed down."""
    CONTROL = "control"
    """A control: what it gains is no merit of a method."""


class SourceConfidence(StrEnum):
    """What the implementation was written from."""

    CODE = "code"
    """The behaviour of the authors' code, and the paper."""
    PAPER = "paper"
    """The text of the paper."""
    RECONSTRUCTION = "reconstruction"
    """Published in outline only: formulas or thresholds are this project's choice."""


@dataclass(frozen=True, slots=True)
class NoOptions:
    """Options of a method that has none."""


SURFACES = ("targets", "admit", "rewards", "advantages")


class Method:
    """Base of all methods; every surface is the identity.

    Class attributes declare what the runner must know before anything runs. `Options` is a frozen
    dataclass with a default for every field.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1  # bump when the behaviour changes: it enters the identity of a cell
    summary: ClassVar[str]  # one line for `venus methods` and the tables
    module: ClassVar[Module]
    paper: ClassVar[str] = ""  # arXiv id
    confidence: ClassVar[SourceConfidence] = SourceConfidence.CODE
    label_need: ClassVar[LabelNeed] = LabelNeed.OPTIONAL
    rows: ClassVar[TrainingRows] = TrainingRows.ALL
    evidence: ClassVar[frozenset[EvidenceKind]] = frozenset()
    uses_hidden_truth: ClassVar[bool] = False  # allowed in the suite `controls` only
    refines_labels: ClassVar[bool] = False  # whether it may replace given labels, which noisy ones need
    stateful: ClassVar[bool] = False  # whether state_dict has anything to keep
    Options: ClassVar[type] = NoOptions

    def __init__(self, options: Any = None) -> None:
        self.options = self.Options() if options is None else options
        self.report: dict[str, float] = {}  # of the last step; logged under supervision/method/

    def targets(self, groups: RolloutGroups) -> Targets:
        """Say what the rollouts of each prompt are compared with.

        Labelled items must keep their given label, unless the method declares `refines_labels`;
        `given_targets` is the default.
        """
        return given_targets(groups)

    def admit(self, groups: RolloutGroups, targets: Targets) -> NDArray[np.bool_]:
        """Say which prompts ([B]) or rollouts ([B, G]) take part in the update."""
        return np.ones(len(groups), dtype=np.bool_)

    def rewards(self, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence) -> NDArray[np.float64]:
        """Turn the verified rewards into the scores that are trained on, both [B, G]."""
        return verified

    def advantages(
        self, groups: RolloutGroups, advantages: NDArray[np.float64], evidence: Evidence
    ) -> NDArray[np.float64]:
        """Weigh the advantage of each prompt: [B] weights in [0, 1] for advantages [B, G].

        The loss stays normalised by the tokens of all admitted rollouts, so a weight shrinks the
        update instead of redistributing it.
        """
        return np.ones(len(groups), dtype=np.float64)

    @property
    def teacher(self) -> TeacherPlan | None:
        """How a slowly moving average of the policy is kept and sampled; None where there is no teacher."""
        return None

    @property
    def transition(self) -> Transition | None:
        """How labels change between rounds of training; None where training is one round."""
        return None

    def state_dict(self) -> Mapping[str, Any]:
        """Return everything that must survive checkpoint and resume.

        Each value is a numpy array or JSON-serialisable data; both are restored bit for bit.
        """
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned, bit for bit."""
        if state:
            raise ValueError(f"{self.name} keeps no state, found keys {sorted(state)}")


def given_targets(groups: RolloutGroups) -> Targets:
    """Use the given label where there is one, and NO_TARGET elsewhere."""
    return Targets(
        values=tuple(groups.labels[i] if groups.labelled[i] else NO_TARGET for i in range(len(groups))),
        sources=tuple(TargetSource.GIVEN if given else TargetSource.NONE for given in groups.labelled),
        confidence=np.full(len(groups), np.nan),
    )


def surfaces_used(method: Method | type[Method]) -> frozenset[str]:
    """Name the surfaces that a method overrides; the others are the identity."""
    cls = method if isinstance(method, type) else type(method)
    return frozenset(name for name in SURFACES if getattr(cls, name) is not getattr(Method, name))


def option_names(cls: type[Method]) -> tuple[str, ...]:
    """Name the options that a method accepts."""
    return tuple(field.name for field in fields(cls.Options))
