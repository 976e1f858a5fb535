"""`venus evaluate` in a process of its own: real stages over a tiny random model, and the mistakes one can make."""

import json
import shutil
from importlib.util import find_spec

import pyarrow.parquet as pq
import pytest
from engine_models import write_model
from venus_command import run_venus

from benchmark.data.data_files import data_directory

DATA = data_directory()
SMALL = ("--limit", "2", "eval.samples=2", "eval.max_tokens=12", "eval.benchmarks=[add,words]")


def venus(*arguments, store):
    return run_venus("evaluate", *arguments, store=store)


def evaluated(*arguments, store):
    result = venus(*arguments, "--json", store=store)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def rows(data, name):
    return pq.read_table(data["files"][name]).to_pylist()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("evaluated") / "tiny", context=8192)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store") / "store"


@pytest.fixture(scope="module")
def micro(model, store):
    return evaluated(model, *SMALL, store=store)


@pytest.mark.slow
def test_a_model_folder_ends_with_samples_verdicts_and_scores(micro):
    assert micro["stages_run"] == 5
    assert micro["failed"] == []
    samples, verdicts = rows(micro, "samples"), rows(micro, "verdicts")
    assert [(row["benchmark"], row["sample"]) for row in samples] == [
        *[("add", 0), ("add", 1)] * 2,
        *[("words", 0), ("words", 1)] * 2,
    ]
    assert len(verdicts) == len(samples)
    for name in ("add", "words"):
        entry = micro["benchmarks"][name]
        right = sum(row["verdict"] == "correct" for row in verdicts if row["benchmark"] == name)
        assert (entry["items"], entry["samples"], entry["accuracy"]) == (2, 2, right / 4)
        assert entry["low"] <= entry["accuracy"] <= entry["high"]
    assert "2 items of a benchmark, not 100" in micro["deviations"]


@pytest.mark.slow
def test_the_same_again_runs_nothing_and_a_changed_model_is_evaluated_anew(model, micro, store, tmp_path):
    again = evaluated(model, *SMALL, store=store)
    assert again["stages_run"] == 0
    assert again["benchmarks"] == micro["benchmarks"]
    changed = shutil.copytree(model, tmp_path / "changed")
    (changed / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    other = evaluated(changed, *SMALL, store=store)
    assert other["stages_run"] == 4  # the benchmarks are shared
    copied = evaluated(shutil.copytree(model, tmp_path / "copied"), *SMALL, store=store)
    assert (copied["stages_run"], copied["cell"]) == (0, micro["cell"])
    assert other["cell"] != micro["cell"]
    assert {row["prompt_hash"] for row in rows(other, "samples")}.isdisjoint(
        row["prompt_hash"] for row in rows(micro, "samples")
    )


@pytest.mark.slow
def test_the_cell_that_is_named_can_be_shown(micro, store):
    shown = run_venus("show", micro["cell"], "--json", store=store)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["total"] == 8


@pytest.mark.slow
def test_people_get_a_table_with_intervals_and_the_places_of_the_samples(model, micro, store):
    result = venus(model, *SMALL, store=store)
    assert result.returncode == 0, result.stderr
    for text in ("tiny on micro", "ID average", "OOD average", "[0.0, ", "95% intervals", "protocol: micro, but for"):
        assert text in result.stdout
    assert f"samples: {micro['files']['samples']}" in result.stdout
    assert "nothing was left to run" in result.stdout


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the real benchmark files are not here (shared/data or VENUS_DATA)")
def test_the_real_benchmarks_end_with_a_record(model, store):
    engine = () if find_spec("vllm") is None else ("eval.engine=transformers",)
    data = evaluated(model, "--eval", "paper", "--limit", "2", "eval.max_tokens=8", *engine, store=store)
    n = {"aime24": 32, "aime25": 32, "amc": 32, "math500": 4, "minerva": 4, "olympiad": 4} | {
        "arc_challenge": 4,
        "gpqa_diamond": 4,
        "mmlu_pro": 1,
    }
    assert {name: entry["samples"] for name, entry in data["benchmarks"].items()} == n
    samples = rows(data, "samples")
    assert len(samples) == 2 * sum(n.values())
    assert all(0 < row["response_tokens"] <= 8 for row in samples)
    assert {entry["benchmarks"] for entry in data["averages"].values()} == {6, 3}
    assert (find_spec("vllm") is None) == any("vllm is not installed" in note for note in data["notes"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--eval", "papre"), "unknown evaluation 'papre'; did you mean 'paper'?"),
        (("train.steps=2",), "override 'train.steps=2': found a setting that an evaluation does not read"),
        (("eval.smaples=2",), "unknown key 'smaples'; did you mean 'samples'?"),
        (("eval.benchmarks=[ad]",), "'ad'"),
        (("eval.engine=transformer",), "did you mean 'transformers'"),
        (("--limit", "0"), "Invalid value for '--limit'"),
        (("eval.benchmarks=[add,add]",), "eval.benchmarks: found 'add' more than once, allowed distinct names"),
        (("eval.source=nope",), "unknown eval.source 'nope'"),
        (("eval.items=100000",), "found 15331, wanted 100000"),
        (("eval.items=0",), "found 0; fix: ask for 1 or more"),
        (("eval.top_p=2",), "eval.top_p: found 2.0, allowed 1 at most"),
        (("eval.top_p=0",), "eval.top_p: found 0, allowed more than 0"),
        (("--eval", "paper", "eval.source=micro", "eval.engine=transformers"), "unknown benchmark 'aime24'"),
        (("eval.source=local",), "unknown benchmark 'add'"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(model, arguments, expected, tmp_path):
    refused(venus(model, *arguments, store=tmp_path / "store"), tmp_path / "store", expected)


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vllm is installed here")
def test_an_engine_that_was_asked_for_and_is_not_installed_is_refused(model, tmp_path):
    result = venus(model, "--eval", "paper", "eval.engine=vllm", store=tmp_path / "store")
    refused(result, tmp_path / "store", "found no package vllm", "pip install -e '.[gpu]'")


def test_a_benchmark_without_its_file_is_refused_before_anything_starts(model, tmp_path):
    (tmp_path / "data").mkdir()
    arguments = ("--eval", "paper", "eval.benchmarks=[aime24]", "eval.engine=transformers")
    result = run_venus("evaluate", model, *arguments, store=tmp_path / "store", VENUS_DATA=str(tmp_path / "data"))
    refused(result, tmp_path / "store", "no file of benchmark aime24: found nothing at")


def test_what_is_no_model_folder_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    store = tmp_path / "store"
    refused(venus(tmp_path / "nowhere", store=store), store, "no model folder at")
    refused(venus(tmp_path / "empty", store=store), store, "not a model folder: found no config.json")


def refused(result, store, *expected):
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    for text in expected:
        assert text in result.stderr
    assert not store.exists()
