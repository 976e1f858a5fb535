"""The command itself, on a suite with a method of a plugin: killed in the middle of training, and run again.

Everything is real but small: a base model that is hardly pre-trained, eight steps, one benchmark.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
STEPS, KILL_AT, CHECKPOINT_EVERY = 8, 5, 2
SUITE = f"""
name: own
version: 1
title: A method of one's own
profile: micro
seeds: [0]
reference: {{method: grpo, label_ratio: 1.0, steps: 2}}
cells:
  - {{method: grpo, label_ratio: 1.0, steps: 2}}
  - {{method: own_method, label_ratio: 0.25, steps: {STEPS}}}
"""
SETTINGS = (
    "model.recipe.steps=200",
    "data.pool=128",
    "data.panel=8",
    "train.panel_every=0",
    "eval.benchmarks=[add]",
    "eval.items=10",
    "eval.samples=2",
    f"cluster.checkpoint_every={CHECKPOINT_EVERY}",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.yaml").write_text(SUITE)
    return folder


def command(folder: Path) -> list[str]:
    plugin = ["--plugin", str(HERE / "own_method.py")]
    venus = [sys.executable, "-m", "benchmark.cli", "run", str(folder / "own.yaml")]
    return [*venus, *SETTINGS, *plugin, "--store", str(folder / "store"), "--json"]


def progress(folder: Path) -> int:
    """Return the newest step of the cell with more than two steps."""
    lines = [line for path in folder.glob("store/work/*/progress.jsonl") for line in path.read_text().splitlines()]
    return max((json.loads(line)["step"] for line in lines if json.loads(line)["steps"] == STEPS), default=0)


def own_processes(folder: Path) -> list[str]:
    found = subprocess.run(["pgrep", "-f", f"benchmark.runs.job {folder}"], capture_output=True, text=True, check=False)
    return found.stdout.split()


@pytest.fixture(scope="module")
def killed(folder) -> int:
    """Run the suite, kill the driver without warning in the middle of training, and return the step it had reached."""
    with (folder / "killed.txt").open("w") as log:
        driver = subprocess.Popen(command(folder), stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 600
        while progress(folder) < KILL_AT and driver.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        reached = progress(folder)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
    assert KILL_AT <= reached < STEPS, (folder / "killed.txt").read_text()[-2000:]
    return reached


@pytest.fixture(scope="module")
def outcome(folder, killed) -> dict:
    for _ in range(100):
        if not own_processes(folder):
            break
        time.sleep(0.1)
    assert not own_processes(folder), "a job outlived its driver"
    again = subprocess.run(command(folder), capture_output=True, text=True, check=False, timeout=600)
    assert again.returncode == 0, again.stderr[-2000:]
    return json.loads(again.stdout)


def trained(folder: Path, name: str) -> Path:
    for path in (folder / "store" / "train").iterdir():
        if json.loads((path / "manifest.json").read_text())["params"]["method"]["name"] == name:
            return path
    raise AssertionError(f"no trained cell of {name}")


def test_finished_stages_are_not_run_again(outcome, folder):
    ledger = [json.loads(line) for line in (folder / "store" / "ledger.jsonl").read_text().splitlines()]
    finished = [event["key"] for event in ledger if event["event"] == "stage_finished"]
    assert len(finished) == len(set(finished))
    assert outcome["failed"] == []


def test_the_killed_cell_goes_on_from_its_checkpoint(outcome, folder, killed):
    info = json.loads((trained(folder, "own_method") / "train.json").read_text())
    assert info["attempts"] == 2
    metrics = pq.read_table(trained(folder, "own_method") / "metrics.parquet").to_pylist()
    steps = sorted(row["step"] for row in metrics if row["key"] == "supervision/updated")
    assert steps == list(range(1, STEPS + 1))


def test_the_state_of_the_method_counts_every_visit_once(outcome, folder):
    metrics = pq.read_table(trained(folder, "own_method") / "metrics.parquet").to_pylist()
    visits = {row["step"]: row["value"] for row in metrics if row["key"] == "supervision/method/visits"}
    assert visits == {step: 32.0 * step for step in range(1, STEPS + 1)}


def test_the_teacher_was_asked_at_every_step(outcome, folder):
    info = json.loads((trained(folder, "own_method") / "train.json").read_text())
    assert info["rollouts"] == STEPS * 32 * (8 + 4)
