"""Every kind of evidence from a real verl job, against `response_evidence` of the weights that the job began with."""

from pathlib import Path

import numpy as np
import pytest
import torch
from verl_job import METRICS, run_verl_job

from benchmark.evaluation.engines.evidence import KINDS, ResponseEvidence, candidate_layers, response_evidence
from benchmark.training.results import merge_metrics

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
STEPS, TEMPERATURE = 3, 0.8


@pytest.fixture(scope="module")
def job(tmp_path_factory, base_model, supervision, micro_train) -> Path:
    work = tmp_path_factory.mktemp("evidence")
    train = {**micro_train, "steps": STEPS, "panel_every": 0, "temperature": TEMPERATURE, "warmup_steps": 0}
    run_verl_job(work, base_model, supervision, train, "all_evidence", module=HERE / "evidence_recorder.py")
    return work


def seen_in(job: Path, step: int) -> dict:
    return torch.load(job / f"evidence-{step}.pt", weights_only=False)


def base_evidence(base_model: Path, sequences: list) -> list[ResponseEvidence]:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base_model / "model", dtype=torch.float32).eval()
    layers = candidate_layers(model.config.num_hidden_layers)
    return response_evidence(model, sequences, KINDS, layers, TEMPERATURE, pad_id=0)


def test_the_evidence_of_the_first_step_is_that_of_the_base_model(job, base_model):
    seen = seen_in(job, 1)
    keys = list(seen["sequences"])
    expected = dict(zip(keys, base_evidence(base_model, [seen["sequences"][key] for key in keys]), strict=True))
    compared = 0
    for b, row in enumerate(seen["keys"]):
        for g, key in enumerate(row):
            for kind in KINDS:
                found = seen["evidence"][kind][b][g]
                if not seen["present"][b, g]:
                    assert found.size == 0
                    continue
                own = getattr(expected[key], kind)
                assert found.shape == own.shape
                np.testing.assert_allclose(found, own, rtol=1e-4, atol=1e-5, err_msg=f"{kind} of {key}")
                compared += 1
    assert compared == 5 * 32 * 4  # half of 32 x 8 rollouts


def test_per_token_evidence_has_one_value_per_response_token(job):
    for step in (1, 3):
        seen = seen_in(job, step)
        for kind in KINDS - {"hidden_states"}:
            sizes = np.array([[len(tokens) for tokens in row] for row in seen["evidence"][kind]])
            assert (sizes == np.where(seen["present"], seen["lengths"], 0)).all()


def test_evidence_is_not_read_where_nothing_is_admitted(job):
    assert not (job / "evidence-2.pt").exists()
    rows = merge_metrics([job / METRICS]).to_pylist()
    updated = {row["step"]: row["value"] for row in rows if row["key"] == "supervision/updated"}
    assert updated == {1: 1, 2: 0, 3: 1}


def test_the_evidence_follows_the_policy(job, base_model):
    # Step 1 has moved the weights, so what step 3 sees is no longer what the base model would say.
    seen = seen_in(job, 3)
    key = next(iter(seen["sequences"]))
    place = next((b, row.index(key)) for b, row in enumerate(seen["keys"]) if key in row)
    before = base_evidence(base_model, [seen["sequences"][key]])[0]
    now = seen["evidence"]["log_probs"][place[0]][place[1]]
    assert np.abs(now - before.log_probs).max() > 1e-3
