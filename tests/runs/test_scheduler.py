"""The driver loop, with real processes, threads, store and ledger over tiny stage functions."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from tiny_suite import CELLS, CLUSTER, HERE, cell, run_tiny, tiny_plan, tiny_stages

from benchmark.runs.failures import FailureKind
from benchmark.runs.launch import GRACE_SECONDS
from benchmark.runs.ledger import EventKind, read_events
from benchmark.runs.progress import CellState
from benchmark.runs.stages import Place
from benchmark.runs.store import Store
from benchmark.stage import StageKind
from benchmark.suite.spec import MethodSpec, ProbeSpec

PROBE = ProbeSpec(8, 1.0, 1.0, 40, "transformers")


class Recorder:
    """A listener that keeps what it was told."""

    def __init__(self):
        self.events, self.views = [], []

    def event(self, message):
        self.events.append(message)

    def tick(self, view):
        self.views.append(view)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", HERE)


@pytest.fixture
def behave(monkeypatch):
    def choose(**behaviours):
        monkeypatch.setenv("TINY", json.dumps(behaviours))

    return choose


def events(root, kind):
    return [event for event in read_events(root / "ledger.jsonl") if event["event"] == kind]


def started(root):
    return [(event["stage"], event["attempt"]) for event in events(root, EventKind.STAGE_STARTED)]


def artifact(root, plan, position, kind=StageKind.TRAIN):
    return Store(root).path(kind, plan.cells[position].stages[kind])


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in open(f"/proc/{pid}/status").read()


def wait_until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "condition not met in time"
        time.sleep(0.05)


def test_a_suite_runs_to_its_end_and_then_has_nothing_to_do(tmp_path):
    plan, outcome = run_tiny(tmp_path)
    assert outcome.failed == ()
    assert outcome.stages_run == len(plan.stages) == len(started(tmp_path))
    assert all(Store(tmp_path).has(stage.kind, key) for key, stage in plan.stages.items())
    assert list((tmp_path / "work").iterdir()) == []
    _, again = run_tiny(tmp_path)
    assert again.stages_run == 0
    assert len(started(tmp_path)) == len(plan.stages)


def test_every_stage_sees_its_inputs(tmp_path):
    plan, _ = run_tiny(tmp_path)
    record = json.loads((artifact(tmp_path, plan, 1, StageKind.RECORD) / "artifact.json").read_text())
    assert record["inputs"] == dict.fromkeys(["verdicts", "samples", "benchmarks", "train", "supervise", "pool"], True)


def test_a_crash_is_tried_again_in_the_same_work_folder(tmp_path, behave):
    behave(ttrl="crash once")
    plan, outcome = run_tiny(tmp_path)
    assert outcome.failed == ()
    assert [(event["failure"], "signal 11" in event["message"]) for event in events(tmp_path, "stage_failed")] == [
        ("code", True)
    ]
    assert json.loads((artifact(tmp_path, plan, 2) / "resumed.json").read_text())["resumed"] is True


def test_an_incomplete_training_is_tried_again_from_scratch(tmp_path, behave):
    behave(ttrl="incomplete once")
    plan, outcome = run_tiny(tmp_path)
    assert outcome.failed == ()
    assert json.loads((artifact(tmp_path, plan, 2) / "resumed.json").read_text())["resumed"] is False


def test_a_failure_leaves_the_other_cells_running(tmp_path, behave):
    behave(ttrl="error")
    plan, outcome = run_tiny(tmp_path)
    assert [failed.failure.kind for failed in outcome.failed] == [FailureKind.CODE]
    assert outcome.failed[0].failure.message == "RuntimeError: a line and another"
    assert outcome.failed_cells == (plan.cells[2],)
    assert all(Store(tmp_path).has(StageKind.RECORD, c.stages[StageKind.RECORD]) for c in plan.cells[:2])
    assert started(tmp_path).count(("train", 2)) == 1  # attempts: 2
    assert "attempt 2: error" in (outcome.failed[0].work / "log.txt").read_text()


def test_a_mistake_of_the_user_is_not_tried_again(tmp_path, behave):
    behave(ttrl="bad data")
    _, outcome = run_tiny(tmp_path)
    assert [(failed.failure.kind, failed.failure.message) for failed in outcome.failed] == [
        (FailureKind.CONFIG, "row 3 has no prompt")
    ]
    assert ("train", 2) not in started(tmp_path)


def test_a_stage_without_an_artifact_fails(tmp_path, behave):
    behave(ttrl="writes nothing")
    _, outcome = run_tiny(tmp_path)
    assert "wrote no file" in outcome.failed[0].failure.message


def test_a_failed_cell_is_tried_again_by_the_next_run(tmp_path, behave):
    behave(ttrl="bad data")
    run_tiny(tmp_path)
    before = len(started(tmp_path))
    behave()
    _, outcome = run_tiny(tmp_path)
    assert outcome.failed == ()
    assert [stage for stage, _ in started(tmp_path)[before:]] == ["train", "generate", "grade", "record"]


def test_fail_fast_stops_at_the_first_failure(tmp_path, behave):
    behave(ttrl="bad data", grpo="hang")
    begun = time.monotonic()
    _, outcome = run_tiny(tmp_path, fail_fast=True)
    assert len(outcome.failed) == 1
    assert time.monotonic() - begun < 60
    wait_until(lambda: not alive(int(next(tmp_path.glob("work/train-*/child")).read_text())))


def test_an_attempt_that_passes_its_deadline_is_killed_with_its_children(tmp_path, behave):
    behave(ttrl="hang")
    settings = replace(CLUSTER, deadline_minutes=2 / 60, attempts=1)
    _, outcome = run_tiny(tmp_path, settings=settings)
    assert [failed.failure.kind for failed in outcome.failed] == [FailureKind.HANG]
    work = outcome.failed[0].work
    assert not alive(int((work / "pid").read_text()))
    wait_until(lambda: not alive(int((work / "child").read_text())))


def test_a_hang_is_resumed(tmp_path, behave):
    behave(ttrl="hang unless resumed")
    plan, outcome = run_tiny(tmp_path, settings=replace(CLUSTER, deadline_minutes=3 / 60))
    assert outcome.failed == ()
    assert json.loads((artifact(tmp_path, plan, 2) / "resumed.json").read_text())["resumed"] is True


def with_pool(function):
    stages = tiny_stages(heavy=())
    return {**stages, StageKind.POOL: replace(stages[StageKind.POOL], function=function)}


def test_an_exception_in_the_driver_fails_its_stage_only(tmp_path):
    _, outcome = run_tiny(tmp_path, stages=with_pool("tiny_suite:no_such_function"))
    assert [failed.stage.kind for failed in outcome.failed] == [StageKind.POOL]
    assert "AttributeError" in outcome.failed[0].failure.message
    assert "Traceback" in (outcome.failed[0].work / "log.txt").read_text()
    assert len(outcome.failed_cells) == 2  # the base model needs no pool


def test_a_finished_cell_stays_finished_when_what_it_once_needed_fails(tmp_path):
    plan, _ = run_tiny(tmp_path)
    store = Store(tmp_path)
    for kind in (StageKind.POOL, StageKind.SUPERVISE, StageKind.TRAIN):
        store.quarantine(kind, plan.cells[2].stages[kind])
    recorder = Recorder()
    _, outcome = run_tiny(tmp_path, stages=with_pool("tiny_suite:no_such_function"), listener=recorder)
    assert [cell.label for cell in outcome.failed_cells] == ["ttrl, 0% labels"]
    assert (recorder.views[-1].cells[CellState.DONE], recorder.views[-1].cells[CellState.FAILED]) == (2, 1)


def test_a_light_stage_that_hangs_is_given_up_and_not_repeated(tmp_path):
    settings = replace(CLUSTER, deadline_minutes=1 / 60)
    _, outcome = run_tiny(tmp_path, settings=settings, stages=with_pool("tiny_suite:nap"))
    assert [(failed.stage.kind, failed.failure.kind) for failed in outcome.failed] == [
        (StageKind.POOL, FailureKind.HANG)
    ]
    assert started(tmp_path).count(("pool", 2)) == 0


def test_a_damaged_input_is_quarantined_and_built_again(tmp_path):
    plan, _ = run_tiny(tmp_path)
    store = Store(tmp_path)
    samples = artifact(tmp_path, plan, 2, StageKind.GENERATE) / "artifact.json"
    samples.write_bytes(samples.read_bytes()[::-1])  # same size: only the hash tells
    for kind in (StageKind.GRADE, StageKind.RECORD):
        store.quarantine(kind, plan.cells[2].stages[kind])
    recorder, before = Recorder(), len(started(tmp_path))
    _, outcome = run_tiny(tmp_path, listener=recorder)
    assert outcome.failed == ()
    assert [stage for stage, _ in started(tmp_path)[before:]] == ["generate", "grade", "record"]
    assert [event["stage"] for event in events(tmp_path, EventKind.ARTIFACT_QUARANTINED)] == ["generate"]
    assert any("damaged, built again: generate" in message for message in recorder.events)


def test_lanes_and_cpus_limit_what_runs_side_by_side(tmp_path):
    cells = tuple(cell("ttrl", seed=seed) for seed in range(4))
    stages = tiny_stages(heavy=(StageKind.TRAIN, StageKind.GENERATE))
    recorder = Recorder()
    _, outcome = run_tiny(tmp_path, cells=cells, cpus=1, stages=stages, listener=recorder)
    assert outcome.failed == ()
    assert max(sum(stage.kind in ("train", "generate") for stage in view.running) for view in recorder.views) == 1


def test_references_go_first(tmp_path):
    cells = (cell("ttrl", seed=0), cell("grpo", seed=0), cell("ttrl", seed=1))
    plan, _ = run_tiny(tmp_path, cells=cells, cpus=1)
    trained = [event["key"] for event in events(tmp_path, EventKind.STAGE_STARTED) if event["stage"] == "train"]
    assert trained[0] == plan.cells[1].stages[StageKind.TRAIN]


def test_what_can_never_fit_fails_without_blocking(tmp_path):
    stages = tiny_stages()
    stages[StageKind.TRAIN] = replace(stages[StageKind.TRAIN], place=Place.LANE)
    plan, outcome = run_tiny(tmp_path, settings=replace(CLUSTER, cpus_per_cell=3), stages=stages)
    assert {failed.failure.kind for failed in outcome.failed} == {FailureKind.INFEASIBLE}
    assert "it needs 3 CPUs, 0 GPUs and 1 lanes, the cluster has 2 CPUs" in outcome.failed[0].failure.message
    assert len(outcome.failed_cells) == 2
    assert Store(tmp_path).has(StageKind.RECORD, plan.cells[0].stages[StageKind.RECORD])


def test_a_whole_machine_stage_gets_all_free_cpus_as_threads(tmp_path):
    stages = tiny_stages()
    base = replace(stages[StageKind.TRAIN], place=Place.WHOLE_MACHINE)
    run_tiny(tmp_path, cpus=5, stages={**stages, StageKind.TRAIN: base}, cells=(cell("grpo"),))
    plan = tiny_plan((cell("grpo"),))
    runtime = json.loads((artifact(tmp_path, plan, 0) / "resumed.json").read_text())["runtime"]
    assert runtime["threads"] == 5


def test_the_view_counts_cells_and_stages(tmp_path):
    recorder = Recorder()
    plan, _ = run_tiny(tmp_path, listener=recorder)
    assert recorder.views[-1].cells[CellState.DONE] == len(CELLS)
    assert (recorder.views[-1].stages_done, recorder.views[-1].stages) == (len(plan.stages), len(plan.stages))


def drive(root, **behaviours):
    environment = {**os.environ, "TINY": json.dumps(behaviours)}
    return subprocess.Popen(
        [sys.executable, "-m", "tiny_suite", str(root)],
        cwd=HERE,
        env=environment,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def job_pid(root):
    """Wait until the training job that hangs has said who it is."""
    wait_until(lambda: any(path.read_text() for path in root.glob("work/train-*/child")), seconds=40)
    work = next(root.glob("work/train-*/child")).parent
    return int((work / "pid").read_text())


def test_a_killed_driver_takes_its_jobs_along_and_the_next_one_goes_on(tmp_path, behave):
    driver = drive(tmp_path, ttrl="hang")
    job = job_pid(tmp_path)
    grandchild = int(next(tmp_path.glob("work/train-*/child")).read_text())
    wait_until(lambda: len(events(tmp_path, EventKind.STAGE_FINISHED)) == len(tiny_plan().stages) - 4)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    try:
        wait_until(lambda: not alive(job), seconds=5)
    finally:
        os.kill(grandchild, signal.SIGKILL)  # in the product these are Ray's, which end with their job
    before = len(started(tmp_path))
    plan, outcome = run_tiny(tmp_path)
    assert outcome.failed == ()
    assert started(tmp_path)[before:] == [("train", 2), ("generate", 1), ("grade", 1), ("record", 1)]
    assert json.loads((artifact(tmp_path, plan, 2) / "resumed.json").read_text())["resumed"] is True


def test_an_interrupt_stops_the_jobs_and_exits_130(tmp_path):
    driver = drive(tmp_path, ttrl="hang", grpo="hang")
    job = job_pid(tmp_path)
    driver.send_signal(signal.SIGINT)
    assert driver.wait(timeout=4 * GRACE_SECONDS) == 130
    assert not alive(job)
    wait_until(lambda: not alive(int(next(tmp_path.glob("work/train-*/child")).read_text())))
    with Store(tmp_path).lock():
        assert tmp_path.exists()


def test_the_rounds_of_a_cell_go_before_a_cell_of_as_many_steps(tmp_path):
    """What many stages wait for starts first: six rounds have six starts and follow each other."""
    rounds = replace(cell("ttrl"), method=MethodSpec("trapo_v2", 1, "{}", 2), probe=PROBE)
    cells = (cell("ttrl", seed=1), cell("grpo"), rounds)
    plan, outcome = run_tiny(tmp_path, cells=cells, cpus=1)
    assert not outcome.failed
    trained = [event["key"] for event in events(tmp_path, EventKind.STAGE_STARTED) if event["stage"] == "train"]
    chain = [key for key in plan.chain(plan.cells[2]) if plan.stages[key].kind is StageKind.TRAIN]
    assert len(chain) == 2
    assert trained.index(chain[0]) < trained.index(plan.cells[0].stages[StageKind.TRAIN])
