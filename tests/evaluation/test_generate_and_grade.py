import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark import artifacts
from benchmark.errors import DataError, StageError
from benchmark.evaluation import generate, grade
from benchmark.evaluation.canaries import CANARIES
from benchmark.evaluation.grader import GRADER_VERSION
from benchmark.stage import StageJob, StageKind

SAMPLING = {"samples": 3, "temperature": 1.0, "top_p": 1.0, "max_tokens": 12, "engine": "transformers", "seed": 1}
ITEMS = [("sub", "id", "b", "7-3?", "4"), ("add", "id", "d", "1+1?", "2"), ("add", "id", "c", "2+2?", "4")]


def job(kind, out, params, **inputs):
    out.mkdir(parents=True)
    return StageJob(kind, "0" * 64, params, inputs, out.parent / "work", out, 1, {"threads": 1})


def write_benchmarks(folder, items=ITEMS):
    folder.mkdir(parents=True)
    names = ("benchmark", "group", "item_id", "question", "gold")
    rows = [dict(zip(names, item, strict=True)) | {"kind": "math", "prompt": item[3]} for item in items]
    pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.BENCHMARKS_SCHEMA), folder / artifacts.BENCHMARKS)
    return folder


def write_samples(folder, rows, n):
    """`rows` are (benchmark, item, sample, response, finish reason)."""
    folder.mkdir(parents=True)
    full = [
        {
            "benchmark": benchmark,
            "item_id": item,
            "sample": sample,
            "prompt_hash": "",
            "response": response,
            "finish_reason": reason,
            "prompt_tokens": 6,
            "response_tokens": 5,
        }
        for benchmark, item, sample, response, reason in rows
    ]
    pq.write_table(pa.Table.from_pylist(full, schema=artifacts.SAMPLES_SCHEMA), folder / artifacts.SAMPLES)
    (folder / artifacts.GENERATE_INFO).write_text(json.dumps({"sampling": {"samples": n}}))
    return folder


def run_grade(tmp_path, rows, n, version=GRADER_VERSION, items=ITEMS):
    benchmarks = write_benchmarks(tmp_path / "benchmarks", items)
    samples = write_samples(tmp_path / "samples", rows, n)
    out = tmp_path / "out"
    grade.run(job(StageKind.GRADE, out, {"grader_version": version}, samples=samples, benchmarks=benchmarks))
    return pq.read_table(out / artifacts.VERDICTS), json.loads((out / artifacts.GRADE_INFO).read_text())


RIGHT = [
    ("add", "c", 0, r"\boxed{4}", "stop"),
    ("add", "d", 0, r"\boxed{2}", "stop"),
    ("sub", "b", 0, r"\boxed{4}", "stop"),
]


def test_generate_then_grade_a_real_model(tmp_path, tiny_model_dir, capsys):
    benchmarks = write_benchmarks(tmp_path / "benchmarks")
    first = job(StageKind.GENERATE, tmp_path / "g", SAMPLING, model=tiny_model_dir.parent, benchmarks=benchmarks)
    generate.run(first)
    assert "generated 3/3" in capsys.readouterr().out
    table = pq.read_table(first.out / artifacts.SAMPLES)
    assert table.schema.equals(artifacts.SAMPLES_SCHEMA)
    rows = table.to_pylist()
    assert [(row["benchmark"], row["item_id"], row["sample"]) for row in rows] == [
        (benchmark, item, sample)
        for benchmark, item in (("add", "c"), ("add", "d"), ("sub", "b"))
        for sample in range(3)
    ]
    assert rows[0]["prompt_hash"] == hashlib.sha256(b"<|user|>2+2?<|assistant|>").hexdigest()
    info = json.loads((first.out / artifacts.GENERATE_INFO).read_text())
    assert info["engine"]["name"] == "transformers"
    assert (info["prompts"], info["responses"], info["prompt_tokens"]) == (3, 9, 18)

    again = job(StageKind.GENERATE, tmp_path / "h", SAMPLING, model=tiny_model_dir.parent, benchmarks=benchmarks)
    generate.run(again)
    assert pq.read_table(again.out / artifacts.SAMPLES).equals(table)

    graded = job(
        StageKind.GRADE, tmp_path / "v", {"grader_version": GRADER_VERSION}, samples=first.out, benchmarks=benchmarks
    )
    grade.run(graded)
    verdicts = pq.read_table(graded.out / artifacts.VERDICTS)
    assert verdicts.num_rows == 9
    for row, verdict in zip(rows, verdicts.to_pylist(), strict=True):  # a random model never writes a box
        assert verdict["verdict"] == ("truncated" if row["finish_reason"] == "length" else "no_answer")


def test_no_benchmark_item_is_refused_before_the_model_is_loaded(tmp_path):
    benchmarks = write_benchmarks(tmp_path / "benchmarks", [])
    with pytest.raises(DataError, match="no benchmark item to answer"):
        generate.run(job(StageKind.GENERATE, tmp_path / "g", SAMPLING, model=tmp_path, benchmarks=benchmarks))


def test_verdicts_and_their_counts_per_benchmark(tmp_path):
    table, info = run_grade(
        tmp_path,
        [
            ("add", "c", 0, r"\boxed{4.0}", "stop"),
            ("add", "c", 1, r"\boxed{5}", "stop"),
            ("add", "d", 0, "two", "stop"),
            ("add", "d", 1, r"\boxed{", "length"),
            ("sub", "b", 0, r"\boxed{4}", "stop"),
            ("sub", "b", 1, r"\boxed{4}", "length"),
        ],
        2,
    )
    assert table.schema.equals(artifacts.VERDICTS_SCHEMA)
    assert table.column("verdict").to_pylist() == ["correct", "wrong", "no_answer", "truncated", "correct", "correct"]
    assert table.column("extracted").to_pylist() == ["4.0", "5", None, None, "4", "4"]
    assert table.column("method").to_pylist() == ["rational", "rational", "extract", "extract", "text", "text"]
    assert set(table.column("group").to_pylist()) == {"id"}
    assert info["grader_version"] == GRADER_VERSION
    assert info["canaries"] == len(CANARIES)
    none = dict.fromkeys(("gold_invalid", "timeout", "error"), 0)
    assert info["verdicts"] == {
        "add": {"correct": 1, "wrong": 1, "no_answer": 1, "truncated": 1} | none,
        "sub": {"correct": 2, "wrong": 0, "no_answer": 0, "truncated": 0} | none,
    }


@pytest.mark.parametrize(
    ("rows", "n", "message"),
    [
        (RIGHT[1:], 1, r"items without samples: found 1 \(add/c\)"),
        ([*RIGHT, ("add", "z", 0, "", "stop")], 1, r"samples of unknown items: found 1 \(add/z\)"),
        ([*RIGHT, RIGHT[0]], 1, r"items without exactly the samples 0..0: found 1 \(add/c\)"),
        (RIGHT, 2, r"items without exactly the samples 0..1: found 3 \(add/c, add/d, sub/b\)"),
        ([], 1, r"items without samples: found 3"),
    ],
)
def test_samples_that_are_not_exactly_n_per_item_are_refused_by_name(tmp_path, rows, n, message):
    with pytest.raises(DataError, match=message):
        run_grade(tmp_path, rows, n)


def test_a_repeated_benchmark_item_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"occur twice: found 1 \(sub/b\)"):
        run_grade(tmp_path, RIGHT, 1, items=[*ITEMS, ITEMS[0]])


def test_another_grader_version_is_refused(tmp_path):
    with pytest.raises(StageError, match="grader version changed under way"):
        run_grade(tmp_path, RIGHT, 1, version="0")
