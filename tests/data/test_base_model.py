"""The base_model stage: what it writes reloads identically; bad sources are refused in one line."""

import json
import shutil

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmark.data import base_model
from benchmark.data.micro.tokenizer import prompt_ids
from benchmark.errors import DataError, UnknownNameError
from benchmark.stage import StageJob, StageKind

RECIPE = {
    "hidden": 64,
    "layers": 2,
    "heads": 4,
    "mlp": 192,
    "steps": 20,
    "batch": 8,
    "learning_rate": 0.004,
    "muon_learning_rate": 0.02,
    "seed": 0,
}


def run(out, source, recipe):
    out.mkdir()
    base_model.run(
        StageJob(
            kind=StageKind.BASE_MODEL,
            key="k",
            params={"source": source, "recipe": recipe},
            inputs={},
            work=out,
            out=out,
            attempt=0,
            runtime={"threads": 1},
        )
    )
    return out


@pytest.fixture(scope="module")
def micro(tmp_path_factory):
    return run(tmp_path_factory.mktemp("base") / "out", "micro", RECIPE)


def test_a_micro_run_reloads_with_identical_logits_and_encodings(micro, tmp_path):
    model = AutoModelForCausalLM.from_pretrained(micro / "model")
    again = run(tmp_path / "again", "micro", RECIPE)
    twin = AutoModelForCausalLM.from_pretrained(again / "model")
    ids = torch.tensor([prompt_ids("646+475?")])
    with torch.inference_mode():
        assert torch.equal(model(ids).logits, twin(ids).logits)
    assert model.config.eos_token_id == 1
    assert model.config.pad_token_id == 0


def test_the_reloaded_weights_are_the_trained_ones(micro):
    from benchmark.data.micro.pretrain import Recipe, pretrain

    trained = pretrain(Recipe(**RECIPE)).model
    reloaded = AutoModelForCausalLM.from_pretrained(micro / "model")
    ids = torch.tensor([prompt_ids("646+475?")])
    with torch.inference_mode():
        assert torch.equal(trained(ids).logits, reloaded(ids).logits)


def test_the_reloaded_tokenizer_renders_and_encodes_as_in_pretraining(micro):
    tokenizer = AutoTokenizer.from_pretrained(micro / "model")
    messages = [{"role": "user", "content": "nineteen minus eight?"}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == "<|user|>nineteen minus eight?<|assistant|>"
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == prompt_ids("nineteen minus eight?")
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id) == (0, 1)


def test_the_information_file_states_size_steps_and_loss(micro):
    info = json.loads((micro / "base_model.json").read_text())
    assert info["parameters"] == 115_136  # micro_world.md
    assert info["steps"] == 20
    assert info["seconds"] > 0
    assert 0 < info["loss"] < 6


def test_a_local_folder_is_copied_and_independent_of_its_origin(micro, tmp_path):
    origin = tmp_path / "origin"
    shutil.copytree(micro / "model", origin)
    out = run(tmp_path / "out", "local", {"path": str(origin)})
    weights = (origin / "model.safetensors").read_bytes()
    (origin / "model.safetensors").write_bytes(b"")
    assert (out / "model" / "model.safetensors").read_bytes() == weights
    assert json.loads((out / "base_model.json").read_text())["source"] == "local"


@pytest.mark.parametrize("lost", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_local_folder_without_a_part_of_the_model_is_refused(micro, tmp_path, lost):
    origin = tmp_path / "origin"
    shutil.copytree(micro / "model", origin)
    (origin / lost).unlink()
    with pytest.raises(DataError, match="not a model folder: found no"):
        run(tmp_path / "out", "local", {"path": str(origin)})


def test_a_missing_local_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="no such model folder"):
        run(tmp_path / "out", "local", {"path": str(tmp_path / "nowhere")})


def test_an_unreachable_hub_is_one_line(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="model 'venus-bench/none' at revision 'main' could not be fetched") as caught:
        run(tmp_path / "out", "hub", {"id": "venus-bench/none", "revision": "main"})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "recipe", "error"),
    [
        ("micr", {}, UnknownNameError),
        ("hub", {}, DataError),
        ("local", {"path": 3}, DataError),
        ("micro", {**RECIPE, "hiden": 64}, DataError),
    ],
)
def test_a_wrong_source_or_recipe_is_refused(tmp_path, source, recipe, error):
    with pytest.raises(error):
        run(tmp_path / "out", source, recipe)
