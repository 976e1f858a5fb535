"""`grpo` through SupervisionTrainer against verl's own PPOTrainerSync: the same numbers, step by step.

Two real verl jobs on one model, one data set and one seed. Both sample with the batch agent loop of the
CPU backend, so they see the same rollouts as long as their policies agree; verl scores them one by one in
the loop, SupervisionTrainer scores whole groups after sampling.
"""

import json
from pathlib import Path

import pytest
from verl_job import METRICS, run_verl_job

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


def steps_of(trainer: str, folder: Path, base_model: Path, supervision: Path, train: dict) -> list[dict]:
    work = folder / trainer
    work.mkdir()
    run_verl_job(work, base_model, supervision, train, "grpo", trainer=trainer, checkpoint_every=1000)
    return [json.loads(line)["data"] for line in (work / METRICS).read_text().splitlines()]


def test_grpo_through_the_supervision_trainer_is_verls_own_grpo(tmp_path, base_model, supervision, micro_train):
    train = {**micro_train, "steps": STEPS, "panel_every": 0}
    theirs = steps_of("sync", tmp_path, base_model, supervision, train)
    ours = steps_of("supervision", tmp_path, base_model, supervision, train)
    assert len(theirs) == len(ours) == STEPS
    for step, (their, our) in enumerate(zip(theirs, ours, strict=True), start=1):
        for key in COMPARED:
            assert our[key] == pytest.approx(their[key], rel=1e-4, abs=1e-6), f"step {step}, {key}"
    assert any(abs(step["actor/pg_loss"]) > 1e-6 for step in theirs), "nothing was learnt: the comparison is empty"
