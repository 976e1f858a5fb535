"""Failures: each is told apart by its exception, and each has an action."""

import pytest

from benchmark.errors import DataError, InfeasibleError, MethodError, StageError
from benchmark.runs.failures import POLICY, Action, FailureKind, classify, classify_exit
from benchmark.stage import StageKind


class OutOfMemoryError(RuntimeError):
    """Has the name that torch and Ray use."""


class ActorDiedError(Exception):
    """Has the name that Ray uses."""


class TaskError(Exception):
    """Wraps the exception of a worker, as Ray's does."""

    def __init__(self, cause):
        super().__init__("task failed")
        self.cause = cause


def chained(error, cause):
    try:
        raise error from cause
    except type(error) as caught:
        return caught


@pytest.mark.parametrize(
    ("error", "stage", "kind"),
    [
        (DataError("row 3"), StageKind.TRAIN, FailureKind.CONFIG),
        (InfeasibleError("8 GPUs"), StageKind.TRAIN, FailureKind.INFEASIBLE),
        (OutOfMemoryError("CUDA"), StageKind.GENERATE, FailureKind.OOM),
        (MemoryError(), StageKind.GENERATE, FailureKind.OOM),
        (ActorDiedError(), StageKind.TRAIN, FailureKind.NODE_LOST),
        (ConnectionError("no Ray cluster at"), StageKind.TRAIN, FailureKind.NODE_LOST),
        (StageError("verl returned after step 1"), StageKind.TRAIN, FailureKind.INCOMPLETE_STEPS),
        (StageError("canary"), StageKind.GRADE, FailureKind.GRADER),
        (StageError("other"), StageKind.RECORD, FailureKind.CODE),
        (MethodError("shape"), StageKind.TRAIN, FailureKind.CODE),
        (FloatingPointError("loss is not finite"), StageKind.TRAIN, FailureKind.DIVERGED),
        (ValueError("x"), StageKind.TRAIN, FailureKind.CODE),
        (TaskError(DataError("row 3")), StageKind.TRAIN, FailureKind.CONFIG),
        (chained(RuntimeError("worker"), OutOfMemoryError()), StageKind.TRAIN, FailureKind.OOM),
    ],
)
def test_an_exception_tells_the_kind(error, stage, kind):
    assert classify(error, stage).kind is kind


def test_the_message_is_one_line_with_the_type_where_it_is_not_written_for_people():
    assert classify(ValueError("a\n  b"), StageKind.TRAIN).message == "ValueError: a b"
    assert classify(DataError("row 3 has no prompt"), StageKind.TRAIN).message == "row 3 has no prompt"


def test_a_suppressed_context_does_not_count():
    def suppress():
        try:
            raise MemoryError
        except MemoryError:
            raise ValueError("bad") from None

    with pytest.raises(ValueError, match="bad") as caught:
        suppress()
    assert classify(caught.value, StageKind.TRAIN).kind is FailureKind.CODE


def test_an_exit_without_a_report_is_judged_by_its_status():
    assert classify_exit(-9).kind is FailureKind.OOM
    assert classify_exit(-11).kind is FailureKind.CODE
    assert "signal 11" in classify_exit(-11).message
    assert "status 3" in classify_exit(3).message


def test_every_kind_has_an_action_and_hopeless_ones_are_given_up():
    assert set(POLICY) == set(FailureKind)
    hopeless = {FailureKind.CONFIG, FailureKind.INFEASIBLE, FailureKind.DIVERGED, FailureKind.GRADER}
    assert {kind for kind, action in POLICY.items() if action is Action.GIVE_UP} == hopeless
