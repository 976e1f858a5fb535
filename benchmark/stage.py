"""The vocabulary of stages: what a unit of work is, and what its function receives.

A cell is a chain of stages, and a stage is a pure function of its parameters and of the
artifacts of its inputs. Its key is the hash of exactly that, so equal work is done once and shared
by every cell that needs it. Which function runs a stage, with which version and on which resources,
is the table in `benchmark.runs.stages`; what it writes is in `benchmark.artifacts`.

This module sits below all packages on purpose: the functions live in data, training, evaluation
and report, and none of those may import `benchmark.runs`.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

SHORT_ID = 12
"""Characters of a digest that people are shown."""


class StageKind(StrEnum):
    """The kinds of stages, in the order of a cell's life."""

    BASE_MODEL = "base_model"
    """Obtain the untrained policy: pre-train the micro model, or fetch published weights."""
    POOL = "pool"
    """Obtain the training questions and the validation panel, with their answers."""
    BENCHMARKS = "benchmarks"
    """Obtain the evaluation items."""
    PROBE = "probe"
    """Sample answers to the pool from a policy, with evidence; nothing is learnt from them."""
    SELECT = "select"
    """Score the questions of the pool by a probe and route them: annotate, keep unlabelled, discard."""
    SUPERVISE = "supervise"
    """Hide and corrupt labels: write the parquet that verl trains on."""
    TRAIN = "train"
    """One verl job."""
    TRANSITION = "transition"
    """Change labels between two rounds of training."""
    GENERATE = "generate"
    """Sample responses to the benchmarks."""
    GRADE = "grade"
    """Judge the responses."""
    RECORD = "record"
    """Condense a cell into what tables need."""


def canonical_json(value: Any) -> str:
    """Serialise `value` the one way that is hashed: sorted keys, no blanks, no NaN.

    Raises ValueError for NaN or infinity and TypeError for what JSON cannot hold.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the sha256 of the canonical JSON of `value`, in hexadecimal (64 characters)."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Stage:
    """One unit of work, identified by its content.

    `params` is canonical JSON (so that the stage hashes and compares by value); `inputs` maps a
    name that the stage's function expects to the key of the stage that produces it.
    """

    kind: StageKind
    version: int
    params: str
    inputs: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """sha256 over kind, version, parameters and the keys of the inputs."""
        inputs = canonical_json(dict(self.inputs))  # params are canonical already: the text is put together
        text = f'{{"inputs":{inputs},"params":{self.params},"stage":"{self.kind.value}","version":{self.version}}}'
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class StageJob:
    """What a stage's function receives: `run(job: StageJob) -> None`.

    The function writes its artifact into `out`, which exists and is empty. `work` survives a crash
    and a retry (checkpoints and logs go there) and is removed after the artifact is published.
    """

    kind: StageKind
    key: str
    params: Mapping[str, Any]
    inputs: Mapping[str, Path]
    work: Path
    out: Path
    attempt: int
    runtime: Mapping[str, Any]  # where it runs (threads, Ray address, ...): never changes the result
