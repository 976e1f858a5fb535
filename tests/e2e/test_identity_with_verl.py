"""`grpo` through SupervisionTrainer against verl's own PPOTrainerSync: the same numbers, step by step.

Two real verl jobs on one model, one data set and one seed. Both sample with the batch agent loop of the
CPU backend, so they see the same rollouts as long as their policies agree; verl scores them one by one in
the loop, SupervisionTrainer scores whole groups after sampling.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
STEPS = 5
COMPARED = (
    "actor/pg_loss",
    "actor/kl_loss",
    "actor/grad_norm",
    "actor/ppo_kl",
    "actor/entropy_loss",
    "critic/score/mean",
    "critic/advantages/max",
    "response_length/mean",
)

JOB = """
import json, os, sys
from pathlib import Path
from benchmark.training import entry
from benchmark.training.job_config import JobPaths, compose, job_config
work, base, supervise, trainer, steps = (*map(Path, sys.argv[1:4]), sys.argv[4], int(sys.argv[5]))
paths = JobPaths(base / "model", supervise / "train.parquet", supervise / "panel.parquet", supervise / "truth.parquet",
                 work / "checkpoints", work / "decisions", work / "progress.jsonl")
train = json.loads((work / "train.json").read_text())
params = {"method": {"name": "grpo", "version": 1, "options": {}}, "train": train, "seed": 7}
environment = entry.job_environment("cpu", work.name, work / "metrics.jsonl", 1)
os.environ.update(environment)
config = job_config(compose("cpu"), params, paths, {"checkpoint_every": 1000, "threads": 1})
config.trainer.v1.trainer_mode = trainer
entry.run_on_ray(config, None, environment)
"""


def steps_of(trainer: str, folder: Path, base_model: Path, supervision: Path, train: dict) -> list[dict]:
    work = folder / trainer
    work.mkdir()
    (work / "train.json").write_text(json.dumps(train))
    with (work / "log.txt").open("w") as log:
        subprocess.run(
            [sys.executable, "-c", JOB, str(work), str(base_model), str(supervision), trainer, str(STEPS)],
            stdout=log,
            stderr=log,
            check=True,
            timeout=600,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    return [json.loads(line)["data"] for line in (work / "metrics.jsonl").read_text().splitlines()]


def test_grpo_through_the_supervision_trainer_is_verls_own_grpo(tmp_path, base_model, supervision, micro_train):
    train = {**micro_train, "steps": STEPS, "panel_every": 0}
    theirs = steps_of("sync", tmp_path, base_model, supervision, train)
    ours = steps_of("supervision", tmp_path, base_model, supervision, train)
    assert len(theirs) == len(ours) == STEPS
    for step, (their, our) in enumerate(zip(theirs, ours, strict=True), start=1):
        for key in COMPARED:
            assert our[key] == pytest.approx(their[key], rel=1e-4, abs=1e-6), f"step {step}, {key}"
    assert any(abs(step["actor/pg_loss"]) > 1e-6 for step in theirs), "nothing was learnt: the comparison is empty"
