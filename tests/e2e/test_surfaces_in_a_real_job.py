"""A method that uses all four surfaces, evidence and state, inside a real verl job."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from verl_job import METRICS, run_verl_job

from benchmark.training.method_state import load_state
from benchmark.training.results import merge_metrics

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent

STEPS = 4


@pytest.fixture(scope="module")
def padded_job(tmp_path_factory, base_model, supervision, micro_train) -> Path:
    work = tmp_path_factory.mktemp("padded")
    train = {**micro_train, "steps": 1, "panel_every": 0}
    run_verl_job(
        work, base_model, supervision, train, "all_surfaces", module=HERE / "padded_trainer.py", trainer="padded"
    )
    return work


@pytest.fixture(scope="module")
def job(tmp_path_factory, base_model, supervision, micro_train) -> Path:
    work = tmp_path_factory.mktemp("surfaces")
    train = {**micro_train, "steps": STEPS, "panel_every": 4, "panel_samples": 1}
    run_verl_job(work, base_model, supervision, train, "all_surfaces", module=HERE / "all_surfaces.py")
    return work


def metric(work: Path, key: str) -> dict[int, float]:
    rows = merge_metrics([work / METRICS]).to_pylist()
    return {row["step"]: row["value"] for row in rows if row["key"] == key}


def decisions(work: Path, step: int) -> list[dict]:
    return pq.read_table(work / "decisions" / f"step-{step:06d}.parquet").to_pylist()


def test_a_step_that_admits_nothing_leaves_the_policy_as_it_is(job):
    assert metric(job, "supervision/updated") == {1: 1, 2: 0, 3: 1, 4: 1}
    assert 2 not in metric(job, "actor/pg_loss")
    assert {1, 3, 4} <= set(metric(job, "actor/pg_loss"))


def test_rollouts_are_admitted_one_by_one(job):
    shares = {row["admitted"] for row in decisions(job, 1)}
    assert shares == {0.0, 0.5}
    assert all(row["admitted"] == 0.5 for row in decisions(job, 1) if row["labelled"])


def test_a_partial_batch_gives_the_update_that_verl_computes_on_a_padded_one(job, padded_job):
    assert metric(padded_job, "global_seqlen/mean"), "verl's stage has not padded"
    assert not metric(job, "global_seqlen/mean"), "rows were padded"
    for key in ("actor/pg_loss", "actor/kl_loss", "actor/grad_norm", "actor/entropy_loss", "critic/score/mean"):
        assert metric(job, key)[1] == pytest.approx(metric(padded_job, key)[1], rel=1e-4, abs=1e-6), key


def test_pseudo_labels_weigh_half_and_labels_whole(job):
    for row in decisions(job, 3):
        if row["target_source"] == "given":
            assert row["weight"] == 1.0
        if row["target_source"] == "pseudo":
            assert row["weight"] == 0.5


def test_the_transformed_reward_is_what_verl_trains_on(job):
    # The log-probabilities are negative, so the mean score lies below the mean verified reward of what was admitted.
    score = metric(job, "critic/score/mean")
    assert all(value != round(value * 256) / 256 for step, value in score.items() if step != 2)


def test_labelled_targets_are_the_truth_and_pseudo_labels_are_not_always(job):
    rows = [row for step in range(1, STEPS + 1) for row in decisions(job, step)]
    assert all(row["target_is_true"] for row in rows if row["target_source"] == "given")
    assert any(row["target_is_true"] is False for row in rows if row["target_source"] == "pseudo")


def test_the_state_is_in_the_checkpoint_with_one_visit_per_prompt_and_step(job):
    checkpoint = job / "checkpoints" / f"global_step_{STEPS}"
    assert json.loads((checkpoint / "method.json").read_text())["method"] == "all_surfaces"
    assert sum(load_state(checkpoint)["visits"].values()) == STEPS * 32


def test_the_panel_is_evaluated_before_and_after(job):
    assert set(metric(job, "panel/accuracy")) == {0, 4}
