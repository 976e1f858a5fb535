"""The benchmarks stage: nine micro benchmarks in two groups."""

from collections import Counter

import pytest

from benchmark import artifacts
from benchmark.data.schema import read_rows
from benchmark.errors import DataError, UnknownNameError
from benchmark.evaluation import benchmarks
from benchmark.stage import StageJob, StageKind

ALL = ["add", "sub", "mul", "chain", "mod", "cmp", "words", "long", "compose"]


def run(out, source="micro", names=ALL, items=12):
    params = {"source": source, "benchmarks": names, "items": items}
    benchmarks.run(StageJob(StageKind.BENCHMARKS, "k", params, {}, out, out, 0, {}))
    return read_rows(out / artifacts.BENCHMARKS, artifacts.BENCHMARKS_SCHEMA)


def test_six_benchmarks_are_in_and_three_out_of_distribution(tmp_path):
    rows = run(tmp_path)
    assert Counter(row["benchmark"] for row in rows) == dict.fromkeys(ALL, 12)
    groups = {row["benchmark"]: row["group"] for row in rows}
    assert Counter(groups.values()) == {"id": 6, "ood": 3}
    assert groups["words"] == groups["long"] == groups["compose"] == "ood"


def test_item_ids_are_unique_and_depend_on_the_content_only(tmp_path):
    rows = run(tmp_path)
    assert len({row["item_id"] for row in rows}) == len(rows)
    fewer = run(tmp_path, names=["mod", "add"], items=5)
    assert {row["item_id"] for row in fewer} < {row["item_id"] for row in rows}
    assert [row["benchmark"] for row in fewer] == ["mod"] * 5 + ["add"] * 5


def test_the_table_lists_every_benchmark_with_a_description():
    assert [benchmark.name for benchmark in benchmarks.MICRO_BENCHMARKS] == ALL
    assert all(benchmark.description for benchmark in benchmarks.MICRO_BENCHMARKS)


def test_an_unknown_benchmark_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown benchmark 'word'; did you mean 'words'\?"):
        run(tmp_path, names=["word"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": "hub"}, "benchmark source: found 'hub', allowed micro"),
        ({"names": []}, "found none, allowed distinct names"),
        ({"names": ["add", "add"]}, "found add, add, allowed distinct names"),
        ({"items": 0}, "fix: ask for 1 or more"),
        ({"items": 10_000, "names": ["mod"]}, "fix: ask for at most"),
    ],
)
def test_a_wrong_request_is_refused(tmp_path, changes, message):
    with pytest.raises(DataError, match=message):
        run(tmp_path, **changes)
