"""What is known about the arms of a suite: results where there are some, a typed state where not.

This is the input of every table, figure and page. It holds values and file locations only, so that a report can be
built from any store, or from none (tests build it by hand).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError
from benchmark.report.costs import Costs
from benchmark.report.items import ItemScores
from benchmark.report.versions import mixed_versions


class CellState(StrEnum):
    """Why a value is there, or is not."""

    DONE = "done"
    """The value is complete."""
    PENDING = "pending"
    """What the value needs has not started."""
    RUNNING = "running"
    """What the value needs is being computed."""
    FAILED = "failed"
    """What the value needs has failed."""
    PARTIAL = "partial"
    """Rests on a part of what was planned, or is withheld because a part is missing."""
    NOT_APPLICABLE = "not_applicable"
    """The value does not exist by definition."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A training metric by step, steps ascending, both [T]."""

    steps: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CellSource:
    """Which cell a result is of, and where the responses behind it lie."""

    cell: str  # id, as `venus plan` prints it and `venus show` takes it
    samples: Path  # folder of the artifact of `generate`; its name is the key
    verdicts: Path  # folder of the artifact of `grade`
    benchmarks: Path | None = None  # folder of the artifact of `benchmarks`: the questions; None where it was removed


@dataclass(frozen=True, slots=True, eq=False)
class SeedResult:
    """A finished cell: its record, its scores by question, its training curves by metric key."""

    record: Mapping[str, Any]  # record.json
    items: ItemScores
    costs: Costs | None  # None for the untrained policy
    path: Path  # folder of the record artifact
    curves: Mapping[str, Curve] = field(default_factory=dict)
    source: CellSource | None = None  # None where the result does not come from a store

    def average(self, group: str) -> float | None:
        """Return the macro average of a group of benchmarks, None where a benchmark lacks a value."""
        value: float | None = self.record["averages"].get(group)
        return value


@dataclass(frozen=True, slots=True)
class MissingSeed:
    """A cell without a result: pending, running or failed, and why."""

    state: CellState
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class ArmResult:
    """The cells of a suite that differ only by seed, under the label that people see."""

    arm: str
    method: str
    label_ratio: float | None  # nominal; None where the method reads no labels
    noise: str  # such as "none" or "50% inactive"
    seeds: Mapping[int, SeedResult | MissingSeed]
    trained: bool = True  # False: one evaluation of the base policy, the same for every seed
    noise_kind: str = "none"
    noise_ratio: float = 0.0  # nominal share of wrong labels
    family: str = ""  # label of the arm without its noise: arms of one family differ by noise alone
    plain: str = ""  # label of the arm that trains on the same labels with plain GRPO; empty where there is none

    @property
    def sources(self) -> dict[int, CellSource]:
        """Where the responses of the finished seeds lie, for those that come from a store."""
        return {number: seed.source for number, seed in self.finished.items() if seed.source is not None}

    @property
    def finished(self) -> dict[int, SeedResult]:
        """The seeds that have a result, ascending."""
        return {n: r for n, r in sorted(self.seeds.items()) if isinstance(r, SeedResult)}

    @property
    def missing(self) -> dict[int, MissingSeed]:
        """The seeds that have none, ascending."""
        return {n: r for n, r in sorted(self.seeds.items()) if isinstance(r, MissingSeed)}

    @property
    def state(self) -> CellState:
        """The state of the arm: partial with some seeds done, else failed before running before pending."""
        if not self.missing:
            return CellState.DONE if self.seeds else CellState.PENDING
        if self.finished:
            return CellState.PARTIAL
        states = {seed.state for seed in self.missing.values()}
        order = (CellState.FAILED, CellState.RUNNING, CellState.PENDING)
        return next((state for state in order if state in states), CellState.PENDING)

    @property
    def reason(self) -> str:
        """Why the arm is not done, seed by seed; empty where it is."""
        if not self.seeds:
            return "no seed is planned"
        return "; ".join(f"seed {n}: {seed.reason or seed.state}" for n, seed in self.missing.items())


@dataclass(frozen=True, slots=True, eq=False)
class SuiteReport:
    """All that a report says, and the one input of its writers."""

    suite: str
    version: int
    title: str
    profile: str
    arms: tuple[ArmResult, ...]
    reference: str  # label of the arm that the others are compared with
    identity: str  # digest of the suite's cells
    data_date: str | None = None  # when the newest result was made, ISO 8601; never the time of the build

    def versions(self, kind: str) -> tuple[str, ...]:
        """Return the versions of a kind (grader, data, protocol, engine) that the results state, sorted."""
        records = (seed.record for arm in self.arms for seed in arm.finished.values())
        found = {str(record["versions"][kind]) for record in records if record.get("versions", {}).get(kind)}
        return tuple(sorted(found))

    @property
    def grader_version(self) -> str | None:
        """The grader of all results, None before the first; a report of several graders is refused with its table."""
        return ", ".join(self.versions("grader")) or None


def refuse_mixed_versions(arms: Sequence[ArmResult]) -> None:
    """Raise DataError where results differ in the version of the grader, the data or the protocol.

    Their figures cannot stand in one table; the message names every version with a result that has it.
    """
    records = {f"{arm.arm!r}, seed {n}": seed.record for arm in arms for n, seed in arm.finished.items()}
    lines = mixed_versions(records)
    if lines:
        raise DataError(f"{'; '.join(lines)}; fix: run the suite again, so that all its results are of one version")
