"""One real verl job of the product, in a process of its own, on the artifacts that a test has built.

`run_verl_job` starts this file again as a child; what a test wants to happen before the job (registering a
method, watching what passes) is a module of its own that is imported there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

METRICS = "metrics-001.jsonl"


def run_verl_job(
    work: Path,
    base_model: Path,
    supervision: Path,
    train: dict[str, Any],
    method: str,
    *,
    module: Path | None = None,
    trainer: str = "supervision",
    checkpoint_every: int = 2,
) -> None:
    """Train `method` with seed 7 in the folder `work`; fails the test with the end of the log if the job fails.

    `module` is a Python file that the job imports first; `trainer` is a name in verl's table of V1 trainers.
    """
    description = {
        "inputs": [str(base_model), str(supervision)],
        "train": train,
        "method": method,
        "module": module.stem if module else None,
        "trainer": trainer,
        "checkpoint_every": checkpoint_every,
    }
    (work / "job.json").write_text(json.dumps(description), encoding="utf-8")
    folders = [str(module.parent)] if module else []
    path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
    with (work / "log.txt").open("w", encoding="utf-8") as log:
        status = subprocess.run(
            [sys.executable, __file__, str(work)],
            stdout=log,
            stderr=log,
            check=False,
            timeout=600,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        ).returncode
    assert status == 0, (work / "log.txt").read_text(encoding="utf-8")[-3000:]


def child(work: Path) -> None:
    """Run the job that `job.json` in the folder describes."""
    import importlib

    from benchmark.training import entry
    from benchmark.training.job_config import JobPaths, compose, job_config

    job = json.loads((work / "job.json").read_text(encoding="utf-8"))
    base_model, supervision = map(Path, job["inputs"])
    paths = JobPaths(
        model=base_model / "model",
        train=supervision / "train.parquet",
        panel=supervision / "panel.parquet",
        truth=supervision / "truth.parquet",
        checkpoints=work / "checkpoints",
        decisions=work / "decisions",
        progress=work / "progress.jsonl",
    )
    environment = entry.job_environment("cpu", work.name, work / METRICS, 1)
    os.environ.update(environment)  # before anything imports verl, which reads it
    if job["module"]:
        importlib.import_module(job["module"])
    params = {"method": {"name": job["method"], "version": 1, "options": {}}, "train": job["train"], "seed": 7}
    runtime = {"checkpoint_every": job["checkpoint_every"], "threads": 1}
    config = job_config(compose("cpu"), params, paths, runtime)
    config.trainer.v1.trainer_mode = job["trainer"]
    entry.run_on_ray(config, None, environment)


if __name__ == "__main__":
    child(Path(sys.argv[1]).resolve())
