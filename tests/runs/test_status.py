"""Where cells stand, from a store and a ledger that a real run of tiny stages has left."""

import json
from pathlib import Path

import pytest
from tiny_suite import HERE, run_tiny, tiny_plan

from benchmark.runs.ledger import EventKind, Ledger
from benchmark.runs.progress import CellState
from benchmark.runs.status import cell_statuses
from benchmark.runs.store import Store
from benchmark.stage import StageKind


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", HERE)


def states(root):
    plan = tiny_plan()
    found = cell_statuses(plan, Store(root))
    return [found[cell.id] for cell in plan.cells]


def test_nothing_has_happened_yet(tmp_path):
    assert [status.state for status in states(tmp_path / "store")] == [CellState.PENDING] * 3


def test_a_failed_cell_says_why_and_where_to_look(tmp_path, monkeypatch):
    monkeypatch.setenv("TINY", json.dumps({"ttrl": "bad data"}))
    run_tiny(tmp_path)
    base, grpo, ttrl = states(tmp_path)
    assert (base.state, grpo.state, ttrl.state) == (CellState.DONE, CellState.DONE, CellState.FAILED)
    assert ttrl.reason == "train: config: row 3 has no prompt"
    assert "row 3 has no prompt" in Path(ttrl.log).read_text()


def test_a_damaged_record_says_that_the_next_run_repairs_it(tmp_path):
    plan, _ = run_tiny(tmp_path)
    record = Store(tmp_path).path(StageKind.RECORD, plan.cells[0].stages[StageKind.RECORD])
    (record / "artifact.json").write_text("cut")
    base, grpo, _ = states(tmp_path)
    assert (base.state, base.reason) == (CellState.PENDING, "damaged, built again by the next run: record")
    assert (grpo.state, grpo.reason) == (CellState.DONE, "")


def test_an_attempt_without_a_driver_was_interrupted(tmp_path):
    plan, store = tiny_plan(), Store(tmp_path)
    key = plan.cells[2].stages[StageKind.TRAIN]
    with Ledger(store.ledger_path) as ledger:
        ledger.append(EventKind.STAGE_STARTED, key=key, stage="train", attempt=1, pid=1)
    assert states(tmp_path)[2].reason == "interrupted in train"
    with store.lock():
        assert states(tmp_path)[2].state is CellState.RUNNING
        assert states(tmp_path)[2].reason == "train, attempt 1"
        assert states(tmp_path)[1].state is CellState.PENDING


def test_a_lost_training_artifact_makes_a_cell_pending_as_its_curves_are_gone(tmp_path):
    plan, _ = run_tiny(tmp_path)
    Store(tmp_path).quarantine(StageKind.TRAIN, plan.cells[2].stages[StageKind.TRAIN])
    assert [status.state for status in states(tmp_path)] == [CellState.DONE, CellState.DONE, CellState.PENDING]
