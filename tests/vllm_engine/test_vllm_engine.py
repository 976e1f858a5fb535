"""vLLM for real, on a CPU: `make test-vllm`. What it shares with other engines is in test_engine_contract.py."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_models import write_model

from benchmark import artifacts
from benchmark.evaluation import generate
from benchmark.evaluation.engines import make_engine
from benchmark.evaluation.engines.base import SamplingParameters, prompt_seed
from benchmark.stage import StageJob, StageKind

vllm = pytest.importorskip("vllm", reason="vllm is not installed here; `make test-vllm` runs this file")

PARAMS = SamplingParameters(temperature=0.8, top_p=0.9, max_tokens=12, samples=3, seed=7)
QUESTIONS = ("1+1?", "12+13+14?", "2*3?")


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("vllm") / "model")


@pytest.fixture(scope="module")
def engine(model_dir):
    return make_engine("vllm", model_dir, threads=1)


@pytest.fixture
def sent(engine, monkeypatch):
    """The prompts and settings that vLLM is given, in its order; the calls go through."""
    original, calls = engine.llm.generate, []

    def watched(prompts, params, **options):
        calls.extend(zip([prompt["prompt_token_ids"] for prompt in prompts], params, strict=True))
        return original(prompts, params, **options)

    monkeypatch.setattr(engine.llm, "generate", watched)
    return calls


def prompts(engine):
    return [engine.encode(engine.render([{"role": "user", "content": question}])) for question in QUESTIONS]


def test_greedy_responses_are_those_of_transformers(engine, model_dir):
    greedy = replace(PARAMS, temperature=0.0, samples=1, max_tokens=40)
    other = make_engine("transformers", model_dir, threads=1)
    assert engine.generate(prompts(engine), greedy) == other.generate(prompts(other), greedy)


def test_the_longest_prompt_is_first(engine, sent):
    engine.generate(prompts(engine), PARAMS)
    assert [len(ids) for ids, _ in sent] == [11, 6, 6]


def test_what_is_sent_is_what_was_asked_with_a_seed_for_each_prompt(engine, sent):
    asked = replace(PARAMS, stop=("9",))
    engine.generate(prompts(engine), asked)
    for ids, request in sent:
        assert (request.n, request.temperature, request.top_p, request.max_tokens) == (3, 0.8, 0.9, 12)
        assert (request.stop, request.stop_token_ids) == (["9"], [1])
        assert request.seed == prompt_seed(ids, 7)
        assert (request.top_k, request.repetition_penalty, request.presence_penalty) in ((0, 1.0, 0.0), (-1, 1.0, 0.0))
    assert len({request.seed for _, request in sent}) == 3


def test_prompts_of_more_tokens_than_one_step_takes_are_sampled_with_their_seeds(tmp_path):
    engine = make_engine("vllm", write_model(tmp_path / "model", context=8192), threads=1)
    asked = [engine.encode("1" * 3000), engine.encode("2" * 5000), engine.encode("3" * 7000)]
    found = engine.generate(asked, PARAMS)
    assert [[one.prompt_tokens for one in own] for own in found] == [[3000] * 3, [5000] * 3, [7000] * 3]
    assert all(one.response_tokens > 0 for own in found for one in own)


def test_the_stage_generates_all_benchmarks_with_vllm(tmp_path, model_dir, capsys):
    rows = [
        {"benchmark": name, "group": "id", "item_id": f"{number:016x}", "question": question, "prompt": question}
        | {"gold": "2", "kind": "math", "choices": None, "tolerance": None}
        for name, questions in (("long", ["9" * 120, "8" * 200, "7+7?"]), ("short", QUESTIONS))
        for number, question in enumerate(questions)
    ]
    benchmarks, out = tmp_path / "benchmarks", tmp_path / "out"
    benchmarks.mkdir()
    out.mkdir()
    pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.BENCHMARKS_SCHEMA), benchmarks / artifacts.BENCHMARKS)
    params = {"samples": {"short": 3, "long": 2}, "temperature": 1.0, "top_p": 1.0, "max_tokens": 12, "seed": 1}
    inputs = {"model": model_dir.parent, "benchmarks": benchmarks}
    job = StageJob(StageKind.GENERATE, "0" * 64, {**params, "engine": "vllm"}, inputs, tmp_path, out, 1, {"threads": 1})
    generate.run(job)
    assert "generated 5/5" in capsys.readouterr().out  # 200 characters fill the context of 128 tokens
    table = pq.read_table(out / artifacts.SAMPLES)
    assert table.schema.equals(artifacts.SAMPLES_SCHEMA)
    assert table.num_rows == 3 * 2 + 3 * 3
    info = json.loads((out / artifacts.GENERATE_INFO).read_text())
    assert info["engine"]["name"] == "vllm"
    assert info["benchmarks"]["long"]["too_long"] == 1
    assert info["benchmarks"]["long"]["shortened"] == 1
    assert info["benchmarks"]["long"]["least_max_tokens"] == 128 - 122
