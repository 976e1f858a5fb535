import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_models import write_model

from benchmark import artifacts
from benchmark.errors import DataError, StageError
from benchmark.evaluation import generate
from benchmark.evaluation.engines.base import Completion, SamplingParameters
from benchmark.stage import StageJob, StageKind

CONTEXT = 64
TEMPLATE_TOKENS = 2  # <|user|> and <|assistant|> around a prompt of one token per character
PARAMS = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 12, "engine": "transformers", "seed": 3}
ITEMS = [("sub", "b", "7-3?"), ("add", "d", "1+1?"), ("add", "c", "2+2?")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    write_model(folder / artifacts.MODEL_DIR, CONTEXT)
    return folder


def run(tmp_path, model, items=ITEMS, **params):
    benchmarks, out = tmp_path / "benchmarks", tmp_path / "out"
    benchmarks.mkdir()
    out.mkdir()
    rows = [
        {"benchmark": name, "group": "id", "item_id": item, "question": "never sent", "prompt": prompt}
        | {"gold": "4", "kind": "math", "choices": None, "tolerance": None}
        for name, item, prompt in items
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.BENCHMARKS_SCHEMA), benchmarks / artifacts.BENCHMARKS)
    inputs = {"model": model, "benchmarks": benchmarks}
    job = StageJob(StageKind.GENERATE, "0" * 64, PARAMS | params, inputs, tmp_path, out, 1, {"threads": 1})
    generate.run(job)
    found = pq.read_table(out / artifacts.SAMPLES).to_pylist()
    return found, json.loads((out / artifacts.GENERATE_INFO).read_text())


def test_each_benchmark_has_its_own_number_of_samples(tmp_path, model):
    rows, info = run(tmp_path, model, samples={"add": 3, "sub": 1})
    assert [(row["benchmark"], row["item_id"], row["sample"]) for row in rows] == [
        *(("add", "c", n) for n in range(3)),
        *(("add", "d", n) for n in range(3)),
        ("sub", "b", 0),
    ]
    assert info["sampling"]["samples"] == {"add": 3, "sub": 1}
    assert {name: entry["sampling"]["samples"] for name, entry in info["benchmarks"].items()} == {"add": 3, "sub": 1}
    assert (info["prompts"], info["responses"]) == (3, 7)
    assert (info["benchmarks"]["add"]["prompts"], info["benchmarks"]["add"]["responses"]) == (2, 6)


def test_a_number_of_samples_holds_for_every_benchmark(tmp_path, model):
    rows, info = run(tmp_path, model, samples=2)
    assert len(rows) == 6
    assert info["sampling"] == {"samples": 2, "stop": []} | {k: v for k, v in PARAMS.items() if k != "engine"}


def test_the_settings_that_were_sent_are_recorded_by_benchmark(tmp_path, model):
    _, info = run(tmp_path, model, samples=2, stop=["9"])
    for entry in info["benchmarks"].values():
        assert entry["sampling"] == {"temperature": 0.7, "top_p": 0.9, "max_tokens": 12, "samples": 2} | {
            "seed": 3,
            "stop": ["9"],
        }
        assert (entry["least_max_tokens"], entry["shortened"], entry["too_long"]) == (12, 0, 0)
    assert info["engine"]["context"] == CONTEXT


def test_totals_are_sums_over_benchmarks(tmp_path, model):
    rows, info = run(tmp_path, model, samples=2)
    for name in ("prompts", "responses", "prompt_tokens", "response_tokens", "truncated"):
        assert info[name] == sum(entry[name] for entry in info["benchmarks"].values())
    assert info["truncated"] == sum(row["finish_reason"] == "length" for row in rows)
    assert info["prompt_tokens"] == 3 * 6


def test_the_prompt_of_an_item_is_sent_not_its_question(tmp_path, model):
    rows, _ = run(tmp_path, model, samples=1)
    assert {row["prompt_tokens"] for row in rows} == {len("2+2?") + TEMPLATE_TOKENS}


def test_a_prompt_near_the_end_of_the_context_gets_the_tokens_that_are_left(tmp_path, model):
    long = "1" * (CONTEXT - TEMPLATE_TOKENS - 5)
    rows, info = run(tmp_path, model, [("add", "a", long), ("add", "b", "1+1?")], samples=4)
    first = [row for row in rows if row["item_id"] == "a"]
    assert all(row["response_tokens"] <= 5 for row in first)
    assert any(row["finish_reason"] == "length" and row["response_tokens"] == 5 for row in first)
    entry = info["benchmarks"]["add"]
    assert (entry["shortened"], entry["too_long"], entry["least_max_tokens"]) == (1, 0, 5)


def test_a_prompt_that_fills_the_context_is_stored_as_cut_off_and_counted(tmp_path, model):
    long = "1" * (CONTEXT - TEMPLATE_TOKENS)
    rows, info = run(tmp_path, model, [("add", "a", long), ("add", "b", "1+1?")], samples=2)
    first = [row for row in rows if row["item_id"] == "a"]
    assert [(row["response"], row["finish_reason"], row["response_tokens"]) for row in first] == [("", "length", 0)] * 2
    assert first[0]["prompt_tokens"] == CONTEXT
    assert info["benchmarks"]["add"]["too_long"] == 1
    assert all(row["response_tokens"] > 0 for row in rows if row["item_id"] == "b")


def test_nothing_is_sent_where_no_prompt_fits(tmp_path, model):
    rows, info = run(tmp_path, model, [("add", "a", "1" * CONTEXT)], samples=3)
    assert len(rows) == 3
    assert (info["benchmarks"]["add"]["sampling"]["max_tokens"], info["response_tokens"]) == (0, 0)


def test_a_benchmark_without_a_number_of_samples_is_refused(tmp_path, model):
    with pytest.raises(DataError, match="found none for sub, allowed a number for each"):
        run(tmp_path, model, samples={"add": 3})


def test_fewer_responses_than_asked_for_are_an_error_that_names_the_item():
    asked = SamplingParameters(temperature=1.0, top_p=1.0, max_tokens=8, samples=2, seed=0)
    one = Completion("4", (15, 1), "stop", 6, 2)
    requests = [generate.Request("add", item, "", [3, 4], asked, asked) for item in ("a", "b", "c")]
    generate.check_counts(requests, [[one, one]] * 3)
    with pytest.raises(StageError, match=r"missing for 2 of 3 items: found 1 for add/b, allowed 2"):
        generate.check_counts(requests, [[one, one], [one], []])
