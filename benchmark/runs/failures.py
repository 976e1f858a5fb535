"""Why an attempt at a stage failed, and what to do about it: one table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmark.errors import InfeasibleError, MethodError, StageError, UserError
from benchmark.stage import StageKind


class FailureKind(StrEnum):
    """The kinds of failure that are told apart because they are treated differently."""

    INFEASIBLE = "infeasible"
    """The cluster can never fit the stage."""
    CONFIG = "config"
    """What was asked for is wrong: data, options or configuration."""
    OOM = "oom"
    """Memory ran out, on the host or on a GPU."""
    NODE_LOST = "node_lost"
    """A node, a Ray worker or a process that the stage needed died."""
    HANG = "hang"
    """The attempt passed its deadline."""
    DIVERGED = "diverged"
    """Training left the finite numbers."""
    GRADER = "grader"
    """The grader failed its canaries."""
    INCOMPLETE_STEPS = "incomplete_steps"
    """The trainer returned without having trained the planned steps, or its state does not fit."""
    CODE = "code"
    """Any other exception or crash."""


class Action(StrEnum):
    """What to do after a failure, as long as attempts are left."""

    RESUME = "resume"
    """Try again in the same work folder, from the last checkpoint."""
    RETRY = "retry"
    """Try again in an empty work folder."""
    GIVE_UP = "give_up"
    """Do not try again: it would fail in the same way."""


POLICY: Mapping[FailureKind, Action] = {
    FailureKind.INFEASIBLE: Action.GIVE_UP,
    FailureKind.CONFIG: Action.GIVE_UP,
    FailureKind.OOM: Action.RESUME,
    FailureKind.NODE_LOST: Action.RESUME,
    FailureKind.HANG: Action.RESUME,
    FailureKind.DIVERGED: Action.GIVE_UP,
    FailureKind.GRADER: Action.GIVE_UP,
    FailureKind.INCOMPLETE_STEPS: Action.RETRY,
    FailureKind.CODE: Action.RESUME,
}

# Matched by name, so that neither torch nor ray is imported to ask.
_BY_NAME = {
    "OutOfMemoryError": FailureKind.OOM,
    "MemoryError": FailureKind.OOM,
    "ActorDiedError": FailureKind.NODE_LOST,
    "ActorUnavailableError": FailureKind.NODE_LOST,
    "NodeDiedError": FailureKind.NODE_LOST,
    "WorkerCrashedError": FailureKind.NODE_LOST,
    "RaySystemError": FailureKind.NODE_LOST,
    "ConnectionError": FailureKind.NODE_LOST,
    "ActorUnschedulableError": FailureKind.INFEASIBLE,
    "TaskUnschedulableError": FailureKind.INFEASIBLE,
    "FloatingPointError": FailureKind.DIVERGED,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """How an attempt ended without an artifact; `message` is one line."""

    kind: FailureKind
    message: str


def classify(error: BaseException, stage: StageKind) -> Failure:
    """Tell the kind of a failure from the exception that ended a stage.

    The whole chain of causes is looked at, as Ray wraps what a worker raised.
    """
    return Failure(_kind(error, stage), one_line(error))


def classify_exit(status: int) -> Failure:
    """Tell the kind of a failure from the exit status of a process that left no report.

    A process that nobody of ours killed, yet died of SIGKILL, was most likely shot by the kernel for the
    memory it used.
    """
    if status == -9:
        return Failure(FailureKind.OOM, "the process was killed by the system (SIGKILL), most likely out of memory")
    cause = f"signal {-status}" if status < 0 else f"status {status}"
    return Failure(FailureKind.CODE, f"the process ended with {cause} and left no report")


def one_line(error: BaseException) -> str:
    """Return the message of an exception in one line, with its type unless it is written for people."""
    text = " ".join(str(error).split())
    if isinstance(error, UserError | StageError | MethodError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _kind(error: BaseException, stage: StageKind) -> FailureKind:
    for cause in _chain(error):
        if isinstance(cause, InfeasibleError):
            return FailureKind.INFEASIBLE
        if isinstance(cause, UserError):
            return FailureKind.CONFIG
        for cls in type(cause).__mro__:
            if cls.__name__ in _BY_NAME:
                return _BY_NAME[cls.__name__]
        if isinstance(cause, StageError):
            # What these two stages raise it for: failed canaries, and fewer steps than planned.
            return {
                StageKind.GRADE: FailureKind.GRADER,
                StageKind.TRAIN: FailureKind.INCOMPLETE_STEPS,
            }.get(stage, FailureKind.CODE)
    return FailureKind.CODE


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it came from: its cause, what Ray wrapped, or what was being handled."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        wrapped = getattr(current, "cause", None)
        context = None if current.__suppress_context__ else current.__context__
        current = current.__cause__ or (wrapped if isinstance(wrapped, BaseException) else context)
