"""The evidence of verl's engine against `response_evidence` of the same weights, in both layouts of verl."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmark.evaluation.engines.evidence import KINDS, candidate_layers, response_evidence

pytest.importorskip("verl")
pytestmark = pytest.mark.slow
JOB = Path(__file__).parent / "evidence_job.py"
TEMPERATURE, DEPTH = 0.7, 4
ALL = ("self_certainty", "hidden_states", "attention")
# Lengths of (prompt, response); the last row is what verl pads a batch with: one token that nobody trains on.
LENGTHS = [(9, 50), (3, 7), (14, 1), (5, 44), (20, 33), (8, 12), (2, 40), (7, 1)]


@pytest.fixture(scope="module")
def model():
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=65,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=DEPTH,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=0.2,
        tie_word_embeddings=False,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def sequences():
    rng = np.random.default_rng(3)
    return [(rng.integers(2, 65, p).tolist(), rng.integers(2, 65, r).tolist()) for p, r in LENGTHS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, model, sequences):
    folder = tmp_path_factory.mktemp("evidence")
    model.save_pretrained(folder / "model")
    masks = [[1] * len(response) for _, response in sequences]
    masks[-1] = [0]
    torch.save({"sequences": sequences, "masks": masks}, folder / "inputs.pt")
    return folder


def outputs_of(folder, world):
    """Run `world` ranks side by side and return the outputs of each."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("VERL_")}
    logs = [(folder / f"log-{rank}-of-{world}.txt").open("w") for rank in range(world)]
    ranks = [
        subprocess.Popen(
            [sys.executable, str(JOB), str(folder), str(rank), str(world)],
            stdout=log,
            stderr=log,
            env={**environment, "OMP_NUM_THREADS": "1"},
        )
        for rank, log in enumerate(logs)
    ]
    try:
        for rank, process in enumerate(ranks):
            assert process.wait(timeout=240) == 0, (folder / f"log-{rank}-of-{world}.txt").read_text()[-3000:]
    finally:
        for process, log in zip(ranks, logs, strict=True):
            process.kill()
            log.close()
    return [torch.load(folder / f"outputs-{rank}-of-{world}.pt") for rank in range(world)]


@pytest.fixture(scope="module")
def outputs(folder):
    return outputs_of(folder, world=1)[0]


@pytest.fixture(scope="module")
def expected(model, sequences):
    return response_evidence(model, sequences, KINDS, candidate_layers(DEPTH), TEMPERATURE, pad_id=0)


def assert_equal_evidence(found, expected):
    """Compare all five kinds; verl's own cover the whole sequence, and the value of token t lies at t - 1."""
    for i, own in enumerate(expected):
        size = len(own.entropy)
        for kind in ("entropy", "log_probs"):
            theirs = found[kind][i][-size - 1 : -1].numpy()
            np.testing.assert_allclose(theirs, getattr(own, kind), rtol=1e-4, atol=1e-5, err_msg=f"{kind} {i}")
        assert found["self_certainty"][i].shape == found["attention"][i].shape == (size,)
        assert found["hidden_states"][i].dtype == torch.float32
        np.testing.assert_allclose(found["self_certainty"][i].numpy(), own.self_certainty, rtol=1e-4, atol=1e-5)
        if i < len(LENGTHS) - 1:  # nothing is averaged over the row that verl pads with
            for kind in ("hidden_states", "attention"):
                theirs = found[kind][i].numpy()
                np.testing.assert_allclose(theirs, getattr(own, kind), rtol=1e-4, atol=1e-5, err_msg=f"{kind} {i}")


@pytest.mark.parametrize("case", ["padded", "packed", "micro", "dynamic", "bucket"])
def test_the_engine_says_the_same_as_the_plain_model(outputs, expected, case):
    assert_equal_evidence(outputs[case], expected)


def test_the_comparison_is_not_empty(expected):
    assert max(own.attention.max() for own in expected) > 0.01
    assert min(np.abs(own.hidden_states).max() for own in expected) > 0.1
    assert expected[0].hidden_states.shape == (2, 64)


def test_the_row_that_verl_pads_with_has_no_states_and_is_finite(outputs):
    for case in ("padded", "packed"):
        assert outputs[case]["hidden_states"][-1].abs().max() == 0
        assert all(outputs[case][kind][-1].isfinite().all() for kind in ALL)


def test_without_a_request_the_outputs_are_verls_own(outputs):
    assert set(outputs["silent"]) == {"log_probs", "entropy"}
    for kind in ("log_probs", "entropy"):
        for plain, asked in zip(outputs["silent"][kind], outputs["padded"][kind], strict=True):
            assert torch.equal(plain, asked)


def test_only_the_requested_kinds_are_delivered(outputs):
    assert set(outputs["states"]) == {"log_probs", "entropy", "hidden_states"}


def test_a_temperature_of_one_is_no_special_case(outputs, model, sequences):
    expected = response_evidence(model, sequences, {"self_certainty"}, "all", 1.0, pad_id=0)
    for found, own in zip(outputs["hot"]["self_certainty"], expected, strict=True):
        np.testing.assert_allclose(found.numpy(), own.self_certainty, rtol=1e-4, atol=1e-5)


def test_two_ranks_that_share_the_parameters_deliver_the_same(folder, expected):
    found = outputs_of(folder, world=2)
    for i, own in enumerate(expected[:-1]):
        part = found[i % 2]["packed"]
        for kind in ALL:
            theirs = part[kind][i // 2].numpy()
            np.testing.assert_allclose(theirs, getattr(own, kind), rtol=1e-4, atol=1e-5, err_msg=f"{kind} {i}")


@pytest.mark.parametrize(("backend", "device", "vendor"), [("cpu", "cpu", "cpu"), ("gpu", "cuda", "nvidia")])
def test_each_backend_registers_an_engine_with_evidence(backend, device, vendor, monkeypatch):
    import importlib

    from verl.workers.engine import EngineRegistry

    from benchmark.training.evidence_engine import EvidenceEngine
    from benchmark.training.job_config import compose

    importlib.import_module(compose(backend).actor_rollout_ref.model.external_lib)
    monkeypatch.setenv("VERL_ENGINE_DEVICE", device)
    monkeypatch.setenv("VERL_ENGINE_VENDOR", vendor)
    assert issubclass(EngineRegistry.get_engine_cls("language_model", "fsdp2"), EvidenceEngine)
