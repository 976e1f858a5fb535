"""What is particular to the engine of transformers; what all engines owe is in test_engine_contract.py."""

import json
import shutil
from importlib.util import find_spec

import pytest

from benchmark.errors import DataError, UnknownNameError, UserError
from benchmark.evaluation.engines import make_engine
from benchmark.evaluation.engines.base import SamplingParameters

PARAMS = SamplingParameters(temperature=1.0, top_p=1.0, max_tokens=12, samples=4, seed=7)
QUESTIONS = ["1+1?", "12+13+14?", "2*3?", "1+1?"]


@pytest.fixture(scope="module")
def engine(tiny_model_dir):
    return make_engine("transformers", tiny_model_dir, threads=1)


@pytest.fixture
def prompts(engine):
    return [engine.encode(engine.render([{"role": "user", "content": question}])) for question in QUESTIONS]


def test_progress_is_reported_after_each_batch(engine, prompts, monkeypatch):
    monkeypatch.setattr("benchmark.evaluation.engines.transformers.ROWS_PER_BATCH", 8)
    seen = []
    engine.generate(prompts, PARAMS, lambda done, total: seen.append((done, total)))
    assert seen == [(2, 4), (4, 4)]


@pytest.mark.parametrize("rows", [1, 5, 9, 512])
def test_the_size_of_a_batch_does_not_change_the_samples(engine, prompts, monkeypatch, rows):
    expected = engine.generate(prompts, PARAMS)
    monkeypatch.setattr("benchmark.evaluation.engines.transformers.ROWS_PER_BATCH", rows)
    assert engine.generate(prompts, PARAMS) == expected


def test_a_model_without_a_chat_template_is_refused(tiny_model_dir, tmp_path):
    folder = tmp_path / "bare"
    shutil.copytree(tiny_model_dir, folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match="no chat template"):
        make_engine("transformers", folder, threads=1).render([{"role": "user", "content": "1"}])


def test_end_tokens_of_the_generation_config_and_the_tokenizer_both_end_a_response(tiny_model_dir, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model_dir, folder)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [7, 8]}))
    engine = make_engine("transformers", folder, threads=1)
    assert engine.eos_ids == (7, 8, 1)
    found = engine.generate([engine.encode("<|user|>1+1?<|assistant|>")], PARAMS)[0]
    assert {one.token_ids[-1] for one in found if one.finish_reason == "stop"} <= {1, 7, 8}


def test_an_unknown_engine_is_named_with_the_nearest_one(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'transformers'"):
        make_engine("transformer", tmp_path, threads=1)


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vllm is installed here")
def test_vllm_where_it_is_not_installed_is_a_mistake_that_names_the_extra(tmp_path):
    with pytest.raises(UserError, match=r"no package vllm.*pip install -e '\.\[gpu\]'.*eval\.engine=transformers"):
        make_engine("vllm", tmp_path, threads=1)
