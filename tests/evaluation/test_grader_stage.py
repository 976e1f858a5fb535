"""The stage `grade` on items of both kinds, with numbers of samples that differ by benchmark."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark import artifacts
from benchmark.errors import DataError
from benchmark.evaluation import grade
from benchmark.evaluation.grade import check_complete, second_grader_rates
from benchmark.evaluation.grader import GRADER_VERSION
from benchmark.stage import StageJob, StageKind

ITEMS = [
    {"benchmark": "olympiad", "group": "id", "item_id": "t", "gold": "14.2", "kind": "math", "tolerance": "1e-1"},
    {"benchmark": "olympiad", "group": "id", "item_id": "u", "gold": "9a+11", "kind": "math"},
    {"benchmark": "arc", "group": "ood", "item_id": "c", "gold": "B", "kind": "multiple_choice", "choices": ["x", "y"]},
]
RESPONSES = [
    ("olympiad", "t", 0, r"\boxed{14.1}"),
    ("olympiad", "t", 1, r"\boxed{14.0}"),
    ("olympiad", "u", 0, r"\boxed{11+9a}"),
    ("olympiad", "u", 1, r"\boxed{a+11=9}"),
    ("arc", "c", 0, r"\boxed{y}"),
]


def run(tmp_path, samples, responses=RESPONSES):
    for name in ("benchmarks", "samples", "out"):
        (tmp_path / name).mkdir()
    rows = [{"question": "", "prompt": "", "choices": None, "tolerance": None} | item for item in ITEMS]
    table = pa.Table.from_pylist(rows, schema=artifacts.BENCHMARKS_SCHEMA)
    pq.write_table(table, tmp_path / "benchmarks" / artifacts.BENCHMARKS)
    names = ("benchmark", "item_id", "sample", "response")
    rows = [dict(zip(names, one, strict=True)) | {"finish_reason": "stop"} for one in responses]
    table = pa.Table.from_pylist(rows, schema=artifacts.SAMPLES_SCHEMA)
    pq.write_table(table, tmp_path / "samples" / artifacts.SAMPLES)
    (tmp_path / "samples" / artifacts.GENERATE_INFO).write_text(json.dumps({"sampling": {"samples": samples}}))
    inputs = {"samples": tmp_path / "samples", "benchmarks": tmp_path / "benchmarks"}
    params = {"grader_version": GRADER_VERSION}
    grade.run(StageJob(StageKind.GRADE, "0" * 64, params, inputs, tmp_path / "work", tmp_path / "out", 1, {}))
    verdicts = pq.read_table(tmp_path / "out" / artifacts.VERDICTS, schema=artifacts.VERDICTS_SCHEMA).to_pylist()
    return verdicts, json.loads((tmp_path / "out" / artifacts.GRADE_INFO).read_text())


def test_every_sample_is_judged_by_the_kind_and_the_tolerance_of_its_item(tmp_path):
    verdicts, info = run(tmp_path, {"olympiad": 2, "arc": 1})
    assert [(row["item_id"], row["verdict"], row["method"], row["second"]) for row in verdicts] == [
        ("t", "correct", "tolerance", "wrong"),
        ("t", "wrong", "rational", "wrong"),
        ("u", "correct", "symbolic", "correct"),
        ("u", "wrong", "symbolic", "wrong"),
        ("c", "correct", "choice_box", "no_answer"),
    ]
    assert info["second_grader"] == {
        "arc": {"compared": 1, "disagreed": 1, "rate": 1.0},
        "olympiad": {"compared": 4, "disagreed": 1, "rate": 0.25},
    }


def test_each_benchmark_must_have_its_own_number_of_samples(tmp_path):
    with pytest.raises(DataError, match=r"items without exactly the samples 0\.\.2: found 1 \(arc/c\)"):
        run(tmp_path, {"olympiad": 2, "arc": 3})
    check_complete([("a", "1")], [{"benchmark": "a", "item_id": "1", "sample": 0}], {"a": 1})


def test_samples_without_a_second_verdict_are_not_compared():
    rows = [
        {"benchmark": "a", "verdict": "gold_invalid", "second": None},
        {"benchmark": "b", "verdict": "wrong", "second": "no_answer"},
        {"benchmark": "b", "verdict": "truncated", "second": "correct"},
    ]
    assert second_grader_rates(rows) == {
        "a": {"compared": 0, "disagreed": 0, "rate": None},
        "b": {"compared": 2, "disagreed": 1, "rate": 0.5},
    }
