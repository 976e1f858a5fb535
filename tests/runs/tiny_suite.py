"""A real plan over tiny stage functions, for tests of the scheduler; also a driver of its own.

The functions run where the table says, in threads and processes, through the same store, ledger and job
module as the product's stages. How a training stage behaves is read from the environment variable
TINY, a JSON mapping from the name of a method to a behaviour.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmark.errors import DataError, StageError
from benchmark.runs.cluster import RayCluster
from benchmark.runs.console import Silent
from benchmark.runs.ledger import EventKind, Ledger
from benchmark.runs.planner import plan_suite
from benchmark.runs.resources import Node
from benchmark.runs.scheduler import Scheduler
from benchmark.runs.stages import Place, StageDefinition
from benchmark.runs.store import Store
from benchmark.stage import StageKind
from benchmark.suite.compose import Cluster
from benchmark.suite.spec import CellSpec, DataSpec, EvalSpec, MethodSpec, ModelSpec, SupervisionSpec, TrainSpec

HERE = str(Path(__file__).parent)
CLUSTER = Cluster(
    address="local",
    lanes=2,
    cpus_per_cell=1,
    gpus_per_cell=0,
    memory_gb_per_cell=0.1,
    threads=1,
    checkpoint_every=1,
    deadline_minutes=1,
    attempts=2,
)
TRAIN = TrainSpec("cpu", 4, 2, 2, 1.0, 1.0, 1e-3, 0, 0.0, 0.0, 0.2, "grpo", True, 0.0, 8, 8, 0, 1)
EVAL = EvalSpec("micro", ("add",), 1, "micro", "1", 0.6, 1.0, 8, "transformers", 100)


def cell(method: str, ratio: float = 1.0, seed: int = 0) -> CellSpec:
    """Build a cell; "base" is the untrained policy."""
    return CellSpec(
        MethodSpec(method, 1),
        SupervisionSpec(ratio),
        seed,
        ModelSpec("micro", "{}"),
        DataSpec("micro", 8, 2, "{}"),
        TRAIN,
        EVAL,
    )


CELLS = (cell("base", 0.0), cell("grpo"), cell("ttrl", 0.0))


def tiny_stages(heavy=(StageKind.TRAIN,)):
    """Build the stage table; `heavy` kinds run in processes of their own."""
    return {
        kind: StageDefinition(
            f"tiny_suite:{'train' if kind is StageKind.TRAIN else 'write'}",
            1,
            Place.PROCESS if kind in heavy else Place.DRIVER,
        )
        for kind in StageKind
    }


def tiny_plan(cells=CELLS):
    """Plan the cells over the tiny stages; the second cell is the reference."""
    return plan_suite(cells, cells[min(1, len(cells) - 1)], tiny_stages())


def run_tiny(root, cells=CELLS, settings=CLUSTER, cpus=2, listener=None, fail_fast=False, stages=None):
    """Run the tiny suite in this process and return the plan and the outcome."""
    store, plan = Store(Path(root)), tiny_plan(cells)
    with store.lock(), Ledger(store.ledger_path) as ledger:
        ledger.append(EventKind.RUN_STARTED, suite="tiny")
        scheduler = Scheduler(
            plan,
            store,
            ledger,
            settings,
            [Node("here", cpus, 0, 1.0)],
            RayCluster(settings),
            listener or Silent(),
            stages or tiny_stages(),
        )
        return plan, scheduler.run(fail_fast)


def write(job):
    """Write an artifact that says what it was made from."""
    found = {name: (path / "artifact.json").exists() for name, path in job.inputs.items()}
    text = json.dumps({"kind": job.kind.value, "params": dict(job.params), "inputs": found}, sort_keys=True)
    (job.out / "artifact.json").write_text(text)


def nap(job):
    """Take longer than any test waits for."""
    time.sleep(30)


def train(job):
    """Do what TINY says for the method: succeed by default."""
    behaviour = json.loads(os.environ.get("TINY", "{}")).get(job.params["method"]["name"], "")
    print(f"attempt {job.attempt}: {behaviour or 'succeeds'}", flush=True)
    checkpoint = job.work / "checkpoint"
    resumed = checkpoint.exists()
    checkpoint.write_text(str(job.attempt))
    (job.work / "pid").write_text(str(os.getpid()))
    if behaviour == "crash once" and job.attempt == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    elif behaviour == "incomplete once" and job.attempt == 1:
        raise StageError("verl returned after step 1, planned 4")
    elif behaviour == "bad data":
        raise DataError("row 3 has no prompt")
    elif behaviour == "error":
        raise RuntimeError("a line\nand another")
    elif behaviour == "writes nothing":
        return
    elif behaviour == "hang":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
        (job.work / "child").write_text(str(child.pid))
        time.sleep(120)
    elif behaviour == "hang unless resumed" and not resumed:
        time.sleep(120)
    write(job)
    (job.out / "resumed.json").write_text(json.dumps({"resumed": resumed, "runtime": dict(job.runtime)}))


if __name__ == "__main__":
    try:
        _, result = run_tiny(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if result.failed else 0)
