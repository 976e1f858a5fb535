"""Every kind of evidence from a real verl job, against `response_evidence` of the weights that the job began with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmark.evaluation.engines.evidence import KINDS, ResponseEvidence, candidate_layers, response_evidence
from benchmark.training.results import merge_metrics

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
STEPS, TEMPERATURE = 3, 0.8

# The evidence is recorded where the trainer reads it, together with the tokens that it is about.
JOB = """
import json, os, sys
from pathlib import Path
import torch
from benchmark.training import entry
from benchmark.training.job_config import JobPaths, compose, job_config
work, base, supervise = map(Path, sys.argv[1:4])
paths = JobPaths(base / "model", supervise / "train.parquet", supervise / "panel.parquet", supervise / "truth.parquet",
                 work / "checkpoints", work / "decisions", work / "progress.jsonl")
train = json.loads((work / "train.json").read_text())
params = {"method": {"name": "all_evidence", "version": 1, "options": {}}, "train": train, "seed": 7}
environment = entry.job_environment("cpu", work.name, work / "metrics-001.jsonl", 1)
os.environ.update(environment)
import all_evidence
from benchmark.training import groups as queue

read_evidence = queue.read_evidence

def recorded(partition, layout, declared, present, groups):
    evidence = read_evidence(partition, layout, declared, present, groups)
    keys = layout.selected(present)
    tokens = queue.tq.kv_batch_get(keys=keys, partition_id=partition, select_fields=["prompts", "responses"])
    pairs = zip(tokens["prompts"].unbind(), tokens["responses"].unbind(), strict=True)
    seen = {
        "evidence": {kind: getattr(evidence, kind) for kind in queue.FIELD_OF_EVIDENCE},
        "sequences": dict(zip(keys, [(p.tolist(), r.tolist()) for p, r in pairs], strict=True)),
        "keys": layout.keys, "present": present, "lengths": groups.lengths,
    }
    torch.save(seen, work / f"evidence-{groups.step}.pt")
    return evidence

queue.read_evidence = recorded
config = job_config(compose("cpu"), params, paths, {"checkpoint_every": 2, "threads": 1})
entry.run_on_ray(config, None, environment)
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory, base_model, supervision, micro_train) -> Path:
    work = tmp_path_factory.mktemp("evidence")
    train = {**micro_train, "steps": STEPS, "panel_every": 0, "temperature": TEMPERATURE, "warmup_steps": 0}
    (work / "train.json").write_text(json.dumps(train))
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    with (work / "log.txt").open("w") as log:
        status = subprocess.run(
            [sys.executable, "-c", JOB, str(work), str(base_model), str(supervision)],
            stdout=log,
            stderr=log,
            check=False,
            timeout=600,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        ).returncode
    assert status == 0, (work / "log.txt").read_text()[-3000:]
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
    rows = merge_metrics([job / "metrics-001.jsonl"]).to_pylist()
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
