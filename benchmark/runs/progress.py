"""What a run looks like at a moment: the values that a display shows."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

PROGRESS = "progress.jsonl"  # written by a training job: {"step", "steps", "reward", "time"} per step
_TAIL = 8192  # bytes: room for a few dozen lines


class CellState(StrEnum):
    """Where a cell stands."""

    DONE = "done"
    """Its record is in the store."""
    RUNNING = "running"
    """A stage that belongs to it alone is running."""
    PENDING = "pending"
    """It waits for a shared stage or for resources."""
    FAILED = "failed"
    """A stage that it needs has failed for good."""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a training job is, from the last lines that it wrote."""

    step: int
    steps: int
    reward: float | None  # mean of the last step, None where it was not finite
    seconds_left: float | None  # at the pace of the last steps, None while there is no pace


@dataclass(frozen=True, slots=True)
class RunningStage:
    """A stage in progress."""

    kind: str
    label: str  # the cell that it belongs to, or how many share it
    attempt: int
    seconds: float
    progress: JobProgress | None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run at a moment."""

    cells: dict[CellState, int]
    stages_done: int
    stages: int  # that this run has to do
    running: tuple[RunningStage, ...]
    seconds: float


def read_progress(work: Path, since: float) -> JobProgress | None:
    """Read how far the job in a work folder is; None where it has not written a line yet.

    Lines from before `since` (seconds since the epoch) belong to an earlier attempt.
    """
    try:
        with (work / PROGRESS).open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - _TAIL))
            lines = stream.read().splitlines()
    except OSError:
        return None
    entries = []
    for line in lines:
        try:
            entry = json.loads(line)
            if float(entry["time"]) >= since:
                entries.append((int(entry["step"]), int(entry["steps"]), entry["reward"], float(entry["time"])))
        except (ValueError, KeyError, TypeError):
            continue  # cut by the seek, or still being written
    if not entries:
        return None
    step, steps, reward, now = entries[-1]
    begun, then = entries[0][0], entries[0][3]
    pace = (now - then) / (step - begun) if step > begun else None
    reward = float(reward) if isinstance(reward, int | float) and reward == reward else None  # noqa: PLR0124 (NaN)
    return JobProgress(step, steps, reward, None if pace is None else pace * (steps - step))
