"""The ledger: what happened to every stage, as an append-only file of JSON lines.

One driver writes, anybody reads. State is never stored, it is replayed, so there is nothing that could
disagree with the events. A line that a crash cut short is moved to a side file when the next driver
opens the ledger; readers skip what they cannot parse.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmark.runs.failures import FailureKind


class EventKind(StrEnum):
    """What an event says."""

    RUN_STARTED = "run_started"
    """A driver took the store to run a suite."""
    STAGE_STARTED = "stage_started"
    """An attempt at a stage began."""
    STAGE_FINISHED = "stage_finished"
    """The artifact of a stage was published."""
    STAGE_FAILED = "stage_failed"
    """An attempt ended without an artifact."""
    ARTIFACT_QUARANTINED = "artifact_quarantined"
    """A damaged artifact was moved aside."""
    RUN_FINISHED = "run_finished"
    """The driver let go of the store in good order."""


class StageState(StrEnum):
    """Where a stage stands, by the last event about it."""

    PENDING = "pending"
    """No attempt yet, or its artifact was damaged."""
    RUNNING = "running"
    """An attempt began; if its driver is gone, the attempt is gone too."""
    FAILED = "failed"
    """The last attempt failed."""
    DONE = "done"
    """The artifact was published."""


@dataclass(slots=True)
class StageHistory:
    """What the ledger knows about one stage."""

    state: StageState = StageState.PENDING
    attempts: int = 0
    started: float = 0.0  # seconds since the epoch, of the last attempt
    seconds: float = 0.0  # of the attempt that succeeded
    failure: FailureKind | None = None  # of the last attempt
    message: str = ""


@dataclass(slots=True)
class History:
    """The replayed ledger."""

    stages: dict[str, StageHistory] = field(default_factory=dict)
    runs: int = 0
    open_run: str | None = None  # suite of the run that has not finished, if any

    def of(self, key: str) -> StageHistory:
        """Return the history of a stage, an empty one where nothing happened."""
        return self.stages.get(key) or StageHistory()


class Ledger:
    """The writer; use as a context manager, under the lock of the store."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.torn = _move_torn_tail(path)  # bytes that were moved aside
        self.history = replay(read_events(path))
        self._stream = path.open("ab", buffering=0)

    def append(self, kind: EventKind, **data: Any) -> None:
        """Write one event to disk before returning."""
        event = {"event": kind.value, "time": round(time.time(), 3), **data}
        self._stream.write(json.dumps(event, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        os.fsync(self._stream.fileno())
        _apply(self.history, event)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a ledger file; an absent file has none, an unreadable line is skipped."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    with stream:
        for line in stream:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and "event" in event:
                yield event


def replay(events: Iterable[dict[str, Any]]) -> History:
    """Derive the state of every stage from the events."""
    history = History()
    for event in events:
        try:
            _apply(history, event)
        except (KeyError, ValueError):
            continue  # written by another version of venus; the store still says what is done
    return history


def _apply(history: History, event: dict[str, Any]) -> None:
    kind = event["event"]
    if kind == EventKind.RUN_STARTED:
        history.runs += 1
        history.open_run = event.get("suite", "")
    elif kind == EventKind.RUN_FINISHED:
        history.open_run = None
    elif (key := event.get("key")) is not None:
        stage = history.stages.get(key)
        if stage is None:
            stage = history.stages[key] = StageHistory()
        if kind == EventKind.STAGE_STARTED:
            stage.state, stage.started = StageState.RUNNING, event["time"]
            stage.attempts += 1
            stage.failure, stage.message = None, ""
        elif kind == EventKind.STAGE_FINISHED:
            stage.state, stage.seconds = StageState.DONE, event["seconds"]
        elif kind == EventKind.STAGE_FAILED:
            stage.state, stage.failure = StageState.FAILED, FailureKind(event["failure"])
            stage.message = event["message"]
        elif kind == EventKind.ARTIFACT_QUARANTINED:
            stage.state = StageState.PENDING


def _move_torn_tail(path: Path) -> int:
    """Cut what follows the last line end and keep it in a side file; return how many bytes that were."""
    if not path.exists():
        return 0
    content = path.read_bytes()
    tail = content[content.rfind(b"\n") + 1 :]
    if tail:
        with path.with_name(f"{path.name}.torn").open("ab") as side:
            side.write(tail + b"\n")
            os.fsync(side.fileno())
        with path.open("r+b") as stream:
            stream.truncate(len(content) - len(tail))
            os.fsync(stream.fileno())
    return len(tail)
