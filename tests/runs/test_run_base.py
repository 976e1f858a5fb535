"""`venus run` on real stages without training: a small base model is made, sampled, graded and reported."""

import json
import os
import subprocess
import sys

import pytest

SUITE = """
name: base_only
version: 1
title: The untrained policy
profile: micro
seeds: [0]
reference: {method: base}
cells:
  - {method: base}
"""
TINY = ("model.recipe.steps=20", "eval.items=3", "eval.samples=2", "eval.benchmarks=[add,words]")
WATCHED = """
import sys
import benchmark.cli
sys.argv = ["venus", *sys.argv[1:]]
try:
    benchmark.cli.main()
finally:
    print("heavy:", sorted({"torch", "ray", "transformers", "verl"} & set(sys.modules)), file=sys.stderr)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("base")
    (path / "base_only.yaml").write_text(SUITE)
    first = venus(path, "run", "--json")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["stages_run"] == 5
    return path


def venus(folder, verb, *options):
    return subprocess.run(
        [sys.executable, "-c", WATCHED, verb, str(folder / "base_only.yaml"), *TINY, *options],
        env={**os.environ, "VENUS_STORE": str(folder / "store"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def ran(folder):
    events = [json.loads(line) for line in (folder / "store" / "ledger.jsonl").read_text().splitlines()]
    return [event["stage"] for event in events if event["event"] == "stage_started"]


def test_a_second_run_runs_nothing_and_imports_nothing_heavy(folder):
    before = ran(folder)
    again = venus(folder, "run")
    assert again.returncode == 0, again.stderr
    assert "nothing was left to run" in again.stdout
    assert "base model" in again.stdout
    assert again.stderr.strip() == "heavy: []"
    assert ran(folder) == before


def test_the_report_is_in_the_store(folder):
    (report,) = (folder / "store" / "reports").glob("base_only-micro-*")
    assert {"table.md", "table.csv", "table.json", "report.html"} <= {path.name for path in report.iterdir()}
    assert "The untrained policy" in (report / "report.html").read_text()


def test_tables_print_strict_json_without_running_anything(folder):
    before = ran(folder)
    printed = venus(folder, "tables", "--json").stdout
    assert json.loads(printed)["tables"]["main"]["rows"][0]["label"] == "base model"
    (page,) = (folder / "store" / "reports").glob("*/table.json")
    assert json.loads(page.read_text(encoding="utf-8")) == json.loads(printed)
    assert ran(folder) == before


def test_a_damaged_record_waits_in_tables_and_is_repaired_by_the_next_run(folder):
    (record,) = (folder / "store" / "record").glob("*/record.json")
    good = record.read_bytes()
    record.write_bytes(good.replace(b"0", b"1"))
    assert "damaged, built again by the next run" in venus(folder, "tables", "--json").stdout
    before = ran(folder)
    assert venus(folder, "run").returncode == 0
    assert ran(folder)[len(before) :] == ["record"]
    (record,) = (folder / "store" / "record").glob("*/record.json")
    assert json.loads(record.read_bytes())["averages"] == json.loads(good)["averages"]
    assert len(list((folder / "store" / "quarantine").iterdir())) == 1


def test_a_removed_record_is_rebuilt_from_the_verdicts_alone(folder):
    before = ran(folder)
    (record,) = (folder / "store" / "record").iterdir()
    for path in record.iterdir():
        path.unlink()
    record.rmdir()
    assert venus(folder, "run").returncode == 0
    assert ran(folder)[len(before) :] == ["record"]
