"""The ledger: state by replay, torn tails moved aside, never fatal."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.runs.failures import FailureKind
from benchmark.runs.ledger import EventKind, Ledger, StageState, read_events, replay


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def start(ledger, key="k"):
    ledger.append(EventKind.STAGE_STARTED, key=key, stage="train", attempt=1, pid=1)


def fail(ledger, key="k"):
    ledger.append(EventKind.STAGE_FAILED, key=key, stage="train", failure="oom", message="no memory")


def finish(ledger, key="k"):
    ledger.append(EventKind.STAGE_FINISHED, key=key, stage="train", seconds=2.5)


def test_state_is_what_the_last_event_says(path):
    with Ledger(path) as ledger:
        assert ledger.history.of("k").state is StageState.PENDING
        start(ledger)
        assert ledger.history.of("k").state is StageState.RUNNING
        fail(ledger)
        assert (ledger.history.of("k").state, ledger.history.of("k").failure) == (StageState.FAILED, FailureKind.OOM)
        start(ledger)
        assert ledger.history.of("k").failure is None
        finish(ledger)
        assert (ledger.history.of("k").state, ledger.history.of("k").attempts) == (StageState.DONE, 2)
        ledger.append(EventKind.ARTIFACT_QUARANTINED, key="k", stage="train", message="")
        assert ledger.history.of("k").state is StageState.PENDING


def test_a_reader_sees_what_the_writer_saw(path):
    with Ledger(path) as ledger:
        ledger.append(EventKind.RUN_STARTED, suite="quick")
        start(ledger, "a")
        fail(ledger, "a")
        start(ledger, "b")
        assert replay(read_events(path)) == ledger.history
        assert ledger.history.open_run == "quick"
        ledger.append(EventKind.RUN_FINISHED, suite="quick")
        assert ledger.history.open_run is None


def test_an_absent_ledger_is_an_empty_one(path):
    assert list(read_events(path)) == []
    assert not path.exists()


def test_a_torn_tail_is_moved_aside_and_the_rest_is_kept(path):
    with Ledger(path) as ledger:
        start(ledger)
        finish(ledger)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"event":"stage_fa')
    assert replay(read_events(path)).of("k").state is StageState.DONE
    with Ledger(path) as ledger:
        assert ledger.torn == 18
        start(ledger, "next")
    assert path.read_bytes().startswith(whole)
    assert [event["event"] for event in read_events(path)] == ["stage_started", "stage_finished", "stage_started"]
    assert path.with_name("ledger.jsonl.torn").read_bytes() == b'{"event":"stage_fa\n'


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(cut=st.integers(0, 10_000))
def test_a_ledger_cut_anywhere_opens_and_goes_on(path, cut):
    path.unlink(missing_ok=True)
    with Ledger(path) as ledger:
        for key in "abc":
            start(ledger, key)
            finish(ledger, key)
    content = path.read_bytes()
    cut %= len(content)
    path.write_bytes(content[:cut])
    whole = content[:cut].count(b"\n")
    with Ledger(path) as ledger:
        finish(ledger, "z")
    assert len(list(read_events(path))) == whole + 1


def test_an_unreadable_line_and_an_unknown_event_are_skipped(path):
    with Ledger(path) as ledger:
        start(ledger)
    with path.open("ab") as stream:
        stream.write(b"\x00\x00\n[1]\n")
        stream.write(json.dumps({"event": "stage_failed", "key": "k", "failure": "of_the_future"}).encode() + b"\n")
        stream.write(json.dumps({"event": "of_the_future", "key": "k"}).encode() + b"\n")
    with Ledger(path) as ledger:
        assert ledger.history.of("k").state is StageState.RUNNING
