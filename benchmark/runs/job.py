"""A stage in a process of its own: `python -m benchmark.runs.job WORK_FOLDER`.

The driver writes job.json into the work folder and starts this module in a new session. The process ends
with the driver, even if the driver is killed without warning: a training job that nobody watches
would hold memory and GPUs for ever. The outcome is left in result.json or failure.json.
"""

import ctypes
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmark.files import write_atomically
from benchmark.runs.failures import Failure, FailureKind, classify
from benchmark.runs.store import OUT
from benchmark.stage import StageJob, StageKind

JOB = "job.json"
RESULT = "result.json"
FAILURE = "failure.json"
FAILED = 1  # exit status of a job that has left a report of its failure

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def make_job(
    kind: StageKind,
    key: str,
    params: Mapping[str, Any],
    inputs: Mapping[str, Path],
    work: Path,
    attempt: int,
    runtime: Mapping[str, Any],
) -> StageJob:
    """Build what the stage function receives; its artifact grows in `work`/out."""
    return StageJob(kind, key, params, inputs, work, work / OUT, attempt, runtime)


def write_job(job: StageJob, function: str) -> None:
    """Write job.json for a process, and remove what an earlier attempt reported."""
    for name in (RESULT, FAILURE):
        (job.work / name).unlink(missing_ok=True)
    description = {
        "function": function,
        "kind": job.kind.value,
        "key": job.key,
        "params": job.params,
        "inputs": {name: str(path.resolve()) for name, path in job.inputs.items()},
        "attempt": job.attempt,
        "runtime": job.runtime,
        "driver": os.getpid(),
    }
    write_atomically(job.work / JOB, json.dumps(description, indent=1, allow_nan=False))


def stage_function(path: str) -> Callable[[StageJob], None]:
    """Import a stage function, given as "module:name"."""
    module, _, name = path.partition(":")
    function: Callable[[StageJob], None] = getattr(importlib.import_module(module), name)
    return function


def read_failure(work: Path) -> Failure | None:
    """Read the failure that a job reported, None where it has not."""
    try:
        report = json.loads((work / FAILURE).read_text(encoding="utf-8"))
        return Failure(FailureKind(report["kind"]), report["message"])
    except (OSError, ValueError, KeyError):
        return None


def main(work: Path) -> int:
    """Run the job of a work folder and return the exit status."""
    description = json.loads((work / JOB).read_text(encoding="utf-8"))
    _die_with(description["driver"])
    job = make_job(
        kind=StageKind(description["kind"]),
        key=description["key"],
        params=description["params"],
        inputs={name: Path(path) for name, path in description["inputs"].items()},
        work=work,
        attempt=description["attempt"],
        runtime=description["runtime"],
    )
    start = time.perf_counter()
    try:
        stage_function(description["function"])(job)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is reported and ends the process)
        traceback.print_exc()
        failure = classify(error, job.kind)
        report = {"kind": failure.kind.value, "message": failure.message, "traceback": traceback.format_exc()}
        write_atomically(work / FAILURE, json.dumps(report, indent=1))
        return FAILED
    write_atomically(work / RESULT, json.dumps({"seconds": time.perf_counter() - start}))
    return 0


def _die_with(driver: int) -> None:
    """Ask the kernel to kill this process when the driver dies, and go at once if it is dead already."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != driver:
        os._exit(FAILED)


if __name__ == "__main__":
    # Not sys.exit alone: a stuck non-daemon thread of a library must not keep a finished job alive.
    status = main(Path(sys.argv[1]).resolve())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
