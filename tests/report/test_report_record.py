"""The record stage on artifacts as the stages before it leave them."""

import json
import shutil

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchmark import artifacts
from benchmark.errors import DataError, StageError
from benchmark.report.collect import load_seed
from benchmark.report.record import run
from benchmark.stage import StageJob, StageKind

BENCHMARKS = [
    {"benchmark": "b", "group": "id", "item_id": "q1", "question": "?", "gold": "7", "kind": "math"},
    {"benchmark": "b", "group": "id", "item_id": "q2", "question": "?", "gold": "8", "kind": "math"},
    {"benchmark": "a", "group": "ood", "item_id": "q1", "question": "?", "gold": "9", "kind": "math"},
]
VERDICTS = {  # (benchmark, item) -> verdict and extracted answer of each sample
    ("b", "q1"): [("correct", "7"), ("correct", "7.0"), ("wrong", "6"), ("no_answer", None)],
    ("b", "q2"): [("wrong", "1"), ("wrong", "1"), ("correct", "8"), ("correct", "8")],
    ("a", "q1"): [("truncated", None), ("correct", "9"), ("wrong", "3"), ("wrong", "3")],
}


def write(folder, rows, schema, name):
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / name)
    return folder


@pytest.fixture
def job(tmp_path):
    def build(verdicts=VERDICTS, info='{"grader_version": "1"}'):
        judged, samples = [], []
        for (benchmark, item), found in verdicts.items():
            for n, (verdict, answer) in enumerate(found):
                key = {"benchmark": benchmark, "item_id": item, "sample": n}
                judged.append({**key, "group": "id", "verdict": verdict, "extracted": answer, "method": "text"})
                samples.append({**key, "response_tokens": 10 + n})
        inputs = {
            "benchmarks": write(tmp_path / "benchmarks", BENCHMARKS, artifacts.BENCHMARKS_SCHEMA, artifacts.BENCHMARKS),
            "samples": write(tmp_path / "samples", samples, artifacts.SAMPLES_SCHEMA, artifacts.SAMPLES),
            "verdicts": write(tmp_path / "verdicts", judged, artifacts.VERDICTS_SCHEMA, artifacts.VERDICTS),
        }
        (inputs["verdicts"] / artifacts.GRADE_INFO).write_text(info, encoding="utf-8")
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        return StageJob(StageKind.RECORD, "0" * 64, {}, inputs, tmp_path, out, 1, {})

    return build


def record_of(job):
    run(job)
    return json.loads((job.out / artifacts.RECORD).read_text(encoding="utf-8"))


def test_items_and_summary_by_hand(job):
    record = record_of(job())
    assert list(record["benchmarks"]) == ["b", "a"]  # in the order of the evaluation, not of the alphabet
    b = record["benchmarks"]["b"]
    assert (b["group"], b["items"], b["samples"], b["accuracy"]) == ("id", 2, 4, 0.5)
    assert b["pass_at"] == {"1": 0.5, "2": pytest.approx(5 / 6), "4": 1.0}  # 1 - C(2,2)/C(4,2)
    assert b["majority"] == pytest.approx(0.75)  # q1: 7 wins; q2: tie of 1 and 8
    assert (b["no_answer_rate"], b["truncated_rate"], b["ungraded_rate"]) == (0.125, 0.0, 0.0)
    assert record["benchmarks"]["a"]["truncated_rate"] == 0.25
    assert record["benchmarks"]["a"]["majority"] == 0.0
    assert record["averages"] == {"id": 0.5, "ood": 0.25}
    assert record["costs"] is None
    assert record["versions"] == {"grader": "1"}


def test_items_follow_the_contract(job):
    work = job()
    run(work)
    items = pq.read_table(work.out / artifacts.ITEMS)
    assert items.schema.equals(artifacts.ITEMS_SCHEMA)
    assert [(row["benchmark"], row["item_id"], row["samples"], row["correct"]) for row in items.to_pylist()] == [
        ("a", "q1", 4, 1),
        ("b", "q1", 4, 2),
        ("b", "q2", 4, 2),
    ]


def test_an_unjudged_response_is_neither_right_nor_wrong(job):
    verdicts = VERDICTS | {("a", "q1"): [("correct", "9"), ("timeout", None), ("error", None), ("wrong", "3")]}
    entry = record_of(job(verdicts))["benchmarks"]["a"]
    assert (entry["accuracy"], entry["ungraded_rate"]) == (0.5, 0.5)


def test_a_question_of_which_nothing_was_judged_makes_its_averages_missing(job):
    record = record_of(job(VERDICTS | {("b", "q2"): [("gold_invalid", None)] * 4}))
    assert record["benchmarks"]["b"]["accuracy"] is None
    assert record["benchmarks"]["b"]["majority"] is None
    assert record["averages"] == {"id": None, "ood": 0.25}


def test_a_missing_response_is_refused(job):
    with pytest.raises(StageError, match="found 3 to 4 samples per item"):
        run(job(VERDICTS | {("a", "q1"): VERDICTS["a", "q1"][:3]}))


def test_a_missing_question_is_refused(job):
    with pytest.raises(StageError, match=r"different items, first \('b', 'q2'\)"):
        run(job({key: value for key, value in VERDICTS.items() if key != ("b", "q2")}))


def test_verdicts_of_other_samples_are_refused(job):
    work = job()
    path = work.inputs["verdicts"] / artifacts.VERDICTS
    table = pq.read_table(path)
    pq.write_table(table.filter(pc.not_equal(table["sample"], 3)), path)
    with pytest.raises(StageError, match=r"differ, first at \('a', 'q1', 3\)"):
        run(work)


def test_verdicts_without_a_grader_version_are_refused(job):
    with pytest.raises(StageError, match="names no grader_version"):
        run(job(info="{}"))


def test_a_trained_cell_carries_its_costs(world):
    seed = load_seed(world.cell("x", 0.5, labels=154), world.root / "x-train")
    assert seed.costs is not None
    assert (seed.costs.labels, seed.costs.panel_labels, seed.costs.rollouts) == (154, 198, 15360)
    assert seed.curves[artifacts.PANEL_ACCURACY].steps.tolist() == [1, 10, 20, 30, 40, 50, 60]
    assert "actor/grad_norm" not in seed.curves


def test_a_summary_without_a_figure_is_refused(world):
    world.cell("x", 0.5, labels=154)
    info = world.root / "x-record" / artifacts.RECORD
    record = json.loads(info.read_text(encoding="utf-8"))
    record["costs"]["rollouts"] = None
    info.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(DataError, match="found rollouts = None, allowed a number"):
        load_seed(info.parent)
