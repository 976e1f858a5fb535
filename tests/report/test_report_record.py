"""The record stage on artifacts as the stages before it leave them."""

import json
import re
import shutil

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchmark import artifacts
from benchmark.errors import DataError, StageError
from benchmark.report.collect import load_seed
from benchmark.report.record import run
from benchmark.report.versions import COMPARABLE
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
    def build(verdicts=VERDICTS, info='{"grader_version": "1"}', planned=4, second=None, choices=None):
        judged, samples = [], []
        for (benchmark, item), found in verdicts.items():
            for n, (verdict, answer) in enumerate(found):
                key = {"benchmark": benchmark, "item_id": item, "sample": n}
                row = {**key, "group": "id", "verdict": verdict, "extracted": answer, "method": "text"}
                told = {
                    name: (of or {}).get((benchmark, item, n)) for name, of in (("second", second), ("choice", choices))
                }
                judged.append(row | told)
                samples.append({**key, "response_tokens": 10 + n})
        inputs = {
            "benchmarks": write(tmp_path / "benchmarks", BENCHMARKS, artifacts.BENCHMARKS_SCHEMA, artifacts.BENCHMARKS),
            "samples": write(tmp_path / "samples", samples, artifacts.SAMPLES_SCHEMA, artifacts.SAMPLES),
            "verdicts": write(tmp_path / "verdicts", judged, artifacts.VERDICTS_SCHEMA, artifacts.VERDICTS),
        }
        (inputs["verdicts"] / artifacts.GRADE_INFO).write_text(info, encoding="utf-8")
        generated = {"sampling": {"samples": planned, "seed": 3, "temperature": 0.6}}
        generated["engine"] = {"name": "transformers", "version": "5"}
        (inputs["samples"] / artifacts.GENERATE_INFO).write_text(json.dumps(generated), encoding="utf-8")
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
    assert record["flags"] == []
    assert b["verdicts"] == {
        "correct": 4,
        "wrong": 3,
        "no_answer": 1,
        "truncated": 0,
        "gold_invalid": 0,
        "timeout": 0,
        "error": 0,
    }


def test_a_record_carries_the_versions_that_its_figures_rest_on(job):
    versions = record_of(job())["versions"]
    assert set(versions) == {*COMPARABLE, "engine"}  # a table asks for no version that no record states
    assert versions["grader"] == "1"
    assert versions["engine"] == "transformers (5)"
    assert re.fullmatch("[0-9a-f]{12}", versions["data"])
    assert re.fullmatch("sampling-[0-9a-f]{12}", versions["protocol"])


def test_stability_and_majorities_of_fewer_responses_by_hand(job):
    b = record_of(job())["benchmarks"]["b"]
    # Two of four right in both questions: of six pairs one is all right, five have one right.
    assert b["g_pass_at"] == {
        "k": 2,
        "0.25": pytest.approx(5 / 6),
        "0.5": pytest.approx(5 / 6),
        "0.75": pytest.approx(1 / 6),
        "1.0": pytest.approx(1 / 6),
        "mean": pytest.approx(1 / 6),
    }
    # q1: right, right, wrong, silent. Pairs: RR 1, RW half (2), RN 1 (2), WN 0. q2: two right, two equal wrong.
    assert b["majority_at"] == {
        "1": 0.5,
        "2": pytest.approx(((1 + 1 + 2) / 6 + (1 + 4 / 2) / 6) / 2),
        "4": pytest.approx(0.75),
    }


def test_right_and_wrong_answers_are_grouped_by_the_same_rule(job):
    def majority(*answers):
        return record_of(job(VERDICTS | {("a", "q1"): list(answers)}))["benchmarks"]["a"]["majority"]

    right, wrong = [("correct", "0.5"), ("correct", r"\frac{1}{2}")], [("wrong", "0.25"), ("wrong", "1/4")]
    assert majority(*right, ("wrong", "3"), ("wrong", "4")) == 1.0
    assert majority(*wrong, ("correct", "3"), ("correct", "4")) == 0.0
    assert majority(*right, *wrong) == 0.5
    # Spellings that only algebra merges stay apart on both sides: the grader merging the right ones would make a tie.
    assert majority(("correct", r"\sqrt{3}"), ("correct", "3^{1/2}"), *[("wrong", r"\sqrt{2}")] * 2) == 0.0


def test_where_members_of_a_cluster_are_judged_differently_their_share_counts(job):
    verdicts = [("correct", "9"), ("wrong", "9.0"), ("timeout", "9"), ("wrong", "3")]
    entry = record_of(job(VERDICTS | {("a", "q1"): verdicts}))["benchmarks"]["a"]
    assert entry["majority"] == pytest.approx(1 / 3)
    assert entry["majority_at"] == {
        "1": 0.25,  # the accuracy
        "2": pytest.approx((3 * 1 / 3 + 3 * 1 / 3 / 2) / 6),  # of six pairs three are of the cluster, three ties
        "4": pytest.approx(1 / 3),
    }


def test_a_choice_is_voted_for_by_its_label(job):
    stated = ["A", "A", "B", "B. green", r"\text{green}", "b"]
    verdicts = [("correct", text) if text == "A" else ("wrong", text) for text in stated]
    choices = {("a", "q1", n): label for n, label in enumerate("AABBBB")}
    found = record_of(job(VERDICTS | {("a", "q1"): verdicts}, planned={"a": 6, "b": 4}, choices=choices))
    assert found["benchmarks"]["a"]["majority"] == 0.0
    assert found["benchmarks"]["a"]["accuracy"] == pytest.approx(1 / 3)


def test_the_graders_disagree_where_one_of_two_says_correct(job):
    second = {("b", "q1", 0): "correct", ("b", "q1", 1): "wrong", ("b", "q1", 2): "no_answer", ("b", "q2", 0): "wrong"}
    benchmarks = record_of(job(second=second))["benchmarks"]
    assert benchmarks["b"]["disagreement_rate"] == 0.25
    assert benchmarks["b"]["second_graded"] == 4
    assert benchmarks["a"]["disagreement_rate"] is None


def test_an_average_says_of_which_benchmarks_it_is(job):
    record = record_of(job(VERDICTS | {("a", "q1"): [("gold_invalid", None)] * 4}))
    assert record["average_notes"]["id"] == {"benchmarks": ["b"], "published": 6, "reason": None}
    assert record["average_notes"]["ood"] == {
        "benchmarks": ["a"],
        "published": 3,
        "reason": "no value on 1 of 1 benchmarks: a",
    }
    assert record["flags"] == ["a: 1 of 1 questions have no judged response"]


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


def test_an_answer_that_the_grader_cannot_get_through_is_in_n_and_shown(job):
    verdicts = VERDICTS | {("a", "q1"): [("correct", "9"), ("timeout", "e^e"), ("error", "e^e^e"), ("timeout", "e^e")]}
    work = job(verdicts)
    entry = record_of(work)["benchmarks"]["a"]
    assert (entry["accuracy"], entry["ungraded_rate"], entry["majority"]) == (0.25, 0.75, 0.0)
    [item] = [row for row in pq.read_table(work.out / artifacts.ITEMS).to_pylist() if row["benchmark"] == "a"]
    assert (item["samples"], item["correct"]) == (4, 1)


def test_only_an_invalid_gold_leaves_n(job):
    verdicts = VERDICTS | {
        ("a", "q1"): [("correct", "9"), ("gold_invalid", None), ("gold_invalid", None), ("wrong", "3")]
    }
    entry = record_of(job(verdicts))["benchmarks"]["a"]
    assert (entry["accuracy"], entry["ungraded_rate"], entry["majority"]) == (0.5, 0.5, 0.5)


def test_a_question_of_which_nothing_was_judged_makes_its_averages_missing(job):
    record = record_of(job(VERDICTS | {("b", "q2"): [("gold_invalid", None)] * 4}))
    assert record["benchmarks"]["b"]["accuracy"] is None
    assert record["benchmarks"]["b"]["majority"] is None
    assert record["averages"] == {"id": None, "ood": 0.25}


def test_with_fewer_responses_than_planned_it_divides_by_those_that_exist_and_says_so(job):
    record = record_of(job(VERDICTS | {("a", "q1"): VERDICTS["a", "q1"][:3]}))
    entry = record["benchmarks"]["a"]
    assert entry["accuracy"] == pytest.approx(1 / 3)  # not 1 / 4
    assert (entry["samples"], entry["fewest_samples"], entry["short_items"]) == (4, 3, 1)
    assert record["flags"] == [
        "a: 1 of 1 questions have fewer than 4 responses, the fewest 3; they are divided by what exists"
    ]


def test_benchmarks_may_have_numbers_of_responses_of_their_own(job):
    record = record_of(job(VERDICTS | {("a", "q1"): [("correct", "9")]}, planned={"a": 1, "b": 4}))
    assert (record["benchmarks"]["a"]["samples"], record["benchmarks"]["b"]["samples"]) == (1, 4)
    assert record["benchmarks"]["a"]["g_pass_at"] is None
    assert record["flags"] == []


def test_a_verdict_that_is_none_is_refused(job):
    with pytest.raises(StageError, match="verdict 'maybe', allowed correct, wrong"):
        run(job(VERDICTS | {("a", "q1"): [("maybe", None)] * 4}))


def test_a_response_that_is_judged_twice_is_refused(job):
    work = job()
    path = work.inputs["verdicts"] / artifacts.VERDICTS
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table.slice(1, 1)]), path)
    with pytest.raises(StageError, match=r"one repeats a response: \('b', 'q1', 1\)"):
        run(work)


def test_a_verdict_of_an_unknown_question_is_refused(job):
    extra = {("b", "q9"): VERDICTS["b", "q1"]}
    with pytest.raises(StageError, match=r"different items, first \('b', 'q9'\)"):
        run(job(VERDICTS | extra))


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


def test_a_trained_cell_says_what_its_pool_shares_with_the_benchmarks(world):
    overlap = world.seed("full", 0.6, labels=154).record["overlap"]
    assert overlap["pool"] == 1
    assert set(overlap["benchmarks"]) == set(world.seed("base", 0.4).record["benchmarks"])
    assert all(entry["exact"] == 0 for entry in overlap["benchmarks"].values())
    assert world.seed("other", 0.4).record["overlap"] is None  # untrained: there is no pool


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
