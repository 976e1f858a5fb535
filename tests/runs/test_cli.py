"""The command itself, in a process of its own: exit status, output, and what it leaves alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from venus_command import run_venus

from benchmark.runs.store import Store

HOLD = """
import sys, time
from pathlib import Path
from benchmark.runs.store import Store
with Store(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(120)
"""
SUITE = """
name: sample
version: 1
title: A sample
profile: micro
seeds: [0]
reference: {method: grpo, label_ratio: 1.0}
cells:
  - {method: grpo, label_ratio: 1.0}
"""


def venus(*arguments, store):
    return run_venus(*arguments, store=store)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def refused(result, store, *expected):
    """Check that a command ended as it does for a mistake: status 2, one line, nothing written."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("venus: ")
    for text in expected:
        assert text in result.stderr
    assert not store.exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("run", "quikc"), "unknown suite 'quikc'; did you mean 'quick'?"),
        (("run", "quick", "--profile", "mirco"), "unknown profile 'mirco'; did you mean 'micro'?"),
        (("run", "quick", "train.stpes=2"), "unknown key 'stpes'; did you mean 'steps'?"),
        (("run", "quick", "train.prompts=200"), "batch of 200 prompts, allowed at most the 154 labelled rows"),
        (("run", "quick", "train.prompts=1537"), "batch of 1537 prompts"),
        (("run", "quick", "cluster.cpus_per_cell=4096"), "the cluster can never fit a cell: it needs 4096 CPUs"),
        (("run", "quick", "cluster.gpus_per_cell=4096"), "4096 GPUs"),
        (("plan", "quick", "train.steps=many"), "train.steps: found 'many', allowed a whole number"),
        (("status", "quikc"), "did you mean 'quick'"),
        (("tables", "quikc"), "did you mean 'quick'"),
        (("run",), "Missing argument 'suite'"),
        (("run", "quick", "--profil", "micro"), "No such option"),
        (("rum", "quick"), "No such command 'rum'"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(arguments, expected, store):
    refused(venus(*arguments, store=store), store, expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("grpo, label", "grop, label", "cells[0].method: unknown method 'grop'; did you mean 'grpo'?"),
        ("ratio: 1.0}\ncells", "ratio: 1.5}\ncells", "label_ratio: found 1.5, allowed 0 to 1"),
        ("[0]", "[0, 0]", "duplicate seed 0"),
        ("  - {method: grpo, label_ratio: 1.0}\n", "  []\n", "empty grid"),
        ("[0]", "[0", "not YAML"),
        ("profile: micro", "profile: mirco", "did you mean 'micro'"),
    ],
)
def test_a_mistake_in_a_suite_file_is_one_line_and_leaves_nothing(old, new, expected, store, tmp_path):
    path = tmp_path / "sample.yaml"
    head, found, tail = SUITE.rpartition(old)  # the last place: in cells, where it is also in the reference
    assert found
    path.write_text(head + new + tail)
    refused(venus("run", path, store=store), store, expected)


def test_a_second_run_on_a_store_is_refused_and_the_first_is_left_alone(store):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(store)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        before = sorted(path.name for path in store.iterdir())
        result = venus("run", "quick", store=store)
        assert result.returncode == 2
        assert f"in use by another venus run (process {holder.pid})" in result.stderr
        assert result.stderr.count("\n") == 1
        assert sorted(path.name for path in store.iterdir()) == before
        assert venus("plan", "quick", store=store).returncode == 0
        assert f"running in process {holder.pid}" in venus("status", "quick", store=store).stdout
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_a_plan_lists_cells_and_stages_and_creates_nothing(store):
    result = venus("plan", "quick", store=store)
    assert result.returncode == 0, result.stderr
    assert "ttrl, 10% labels" in result.stdout
    assert "to run: 1 of 1 base_model" in result.stdout
    assert not store.exists()


def test_a_plan_for_machines_is_strict_json(store):
    data = json.loads(venus("plan", "quick", "--json", store=store).stdout)
    assert [cell["label"] for cell in data["cells"]][:2] == ["base model", "grpo, 100% labels"]
    assert data["stages"]["train"] == {"total": 4, "to_run": 4}
    assert sum(cell["reference"] for cell in data["cells"]) == 1


def test_overrides_that_change_results_have_a_report_of_their_own(store):
    from benchmark.runs.session import open_session

    def folder(*overrides):
        return open_session("quick", None, overrides, str(store)).reports

    assert folder() == folder("cluster.lanes=1") == store / "reports" / "quick-micro"
    assert folder("train.steps=2") != folder()


IMPORTED = """
import sys
import benchmark.cli
sys.argv = ["venus", *{arguments}]
try:
    benchmark.cli.main()
except SystemExit as ending:
    assert ending.code in (0, None), ending.code
heavy = {{"torch", "ray", "transformers", "verl", "datasets", "vllm"}} & set(sys.modules)
print("heavy:", sorted(heavy), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["plan", "quick"], ["status", "quick"]])
def test_looking_imports_nothing_heavy(arguments, store):
    (store / "record").mkdir(parents=True)
    result = subprocess.run(
        [sys.executable, "-c", IMPORTED.format(arguments=arguments)],
        env={**os.environ, "VENUS_STORE": str(store)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stderr.strip() == "heavy: []"


def test_the_store_option_goes_before_the_variable(store, tmp_path):
    from benchmark.runs.session import open_session, open_store

    assert open_session("quick", None, (), str(tmp_path / "other")).store.root == tmp_path / "other"
    assert open_store(None).root != Path()
    assert isinstance(open_store(str(store)), Store)
