"""The table of stages: which function runs a kind, in which version, and on what.

Raise a version when the artifact of a stage changes for equal parameters; it enters the keys of that
stage and of everything downstream, so that old artifacts are left alone and new ones are built.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmark.stage import StageKind


class Place(StrEnum):
    """Where a stage runs."""

    DRIVER = "driver"
    """In a thread of the driver: pure Python, done in seconds."""
    PROCESS = "process"
    """In a process of its own, on one CPU slot."""
    WHOLE_MACHINE = "whole_machine"
    """In a process of its own, on every CPU slot that is free when it starts."""
    LANE = "lane"
    """In a process of its own that drives workers on the Ray cluster, with the resources of a cell."""


@dataclass(frozen=True, slots=True)
class StageDefinition:
    """How a kind of stage is run; `function` is "module:name" and is imported where it runs."""

    function: str
    version: int
    place: Place


STAGES: Mapping[StageKind, StageDefinition] = {
    StageKind.BASE_MODEL: StageDefinition("benchmark.data.base_model:run", 1, Place.WHOLE_MACHINE),
    StageKind.POOL: StageDefinition("benchmark.data.pool:run", 2, Place.DRIVER),
    StageKind.BENCHMARKS: StageDefinition("benchmark.evaluation.benchmarks:run", 2, Place.DRIVER),
    StageKind.PROBE: StageDefinition("benchmark.evaluation.probe:run", 1, Place.PROCESS),
    StageKind.SELECT: StageDefinition("benchmark.data.select:run", 1, Place.DRIVER),
    StageKind.SUPERVISE: StageDefinition("benchmark.data.supervise:run", 2, Place.DRIVER),
    StageKind.TRAIN: StageDefinition("benchmark.training.entry:run", 2, Place.LANE),
    StageKind.TRANSITION: StageDefinition("benchmark.data.transition:run", 1, Place.DRIVER),
    StageKind.GENERATE: StageDefinition("benchmark.evaluation.generate:run", 2, Place.PROCESS),
    StageKind.GRADE: StageDefinition("benchmark.evaluation.grade:run", 3, Place.DRIVER),
    StageKind.RECORD: StageDefinition("benchmark.report.record:run", 3, Place.DRIVER),
}
