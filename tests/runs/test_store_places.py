"""Which folders are taken for a store, where its reports lie, and what is said of the others."""

import json

import pytest
from judged_cell import publish_cell, write_parts
from venus_command import run_unread, run_venus

from benchmark.errors import UserError
from benchmark.runs.session import DEFAULT_STORE, open_session, open_store, reports_folder
from benchmark.runs.store import Store
from benchmark.stage import StageKind
from benchmark.suite.file import PROJECT


def filled(root, parts):
    """Make a store with a result for the first cell of suite `quick`."""
    session = open_session("quick", None, (), str(root))
    keys = dict(session.plan.cells[0].stages)
    publish_cell(session.store, keys[StageKind.RECORD], write_parts(parts), keys)
    return root


@pytest.fixture
def store(tmp_path):
    return filled(tmp_path / "store", tmp_path / "parts")


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def refused(result, *expected):
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.stderr
    for text in expected:
        assert text in result.stderr


def test_the_reports_of_the_default_store_lie_beside_it_and_those_of_another_inside(tmp_path):
    assert reports_folder(DEFAULT_STORE) == PROJECT / "results" / "reports"
    assert reports_folder(tmp_path / "store") == tmp_path / "store" / "reports"


def test_the_default_store_is_the_same_under_another_spelling():
    spelt = PROJECT / "results" / ".." / "results" / "store"
    assert reports_folder(spelt).resolve() == PROJECT / "results" / "reports"


def test_two_stores_in_one_folder_keep_their_reports_apart(store, tmp_path):
    other = filled(tmp_path / "other", tmp_path / "more")
    assert run_venus("tables", "quick", store=store).returncode == 0
    page = store / "reports" / "quick-micro" / "table.json"
    page.write_text("of the first store")
    assert run_venus("tables", "quick", "--store", other, store=store).returncode == 0
    assert (other / "reports" / "quick-micro" / "table.json").is_file()
    assert page.read_text() == "of the first store"
    assert not (tmp_path / "reports").exists()


def test_reports_inside_a_store_are_no_artifacts_of_it(store):
    before = json.loads(run_venus("status", "--json", store=store).stdout)
    assert run_venus("tables", "quick", store=store).returncode == 0
    assert json.loads(run_venus("status", "--json", store=store).stdout) == before
    assert before["artifacts"] == {"benchmarks": 1, "generate": 1, "grade": 1, "record": 1}


def test_tables_for_machines_are_those_of_the_report_which_is_written_too(store):
    result = run_venus("tables", "quick", "--json", store=store)
    assert result.returncode == 0, result.stderr
    folder = store / "reports" / "quick-micro"
    assert (folder / "report.html").is_file()
    assert json.loads((folder / "table.json").read_text(encoding="utf-8")) == json.loads(result.stdout)
    assert json.loads(result.stdout)["reference"] == "grpo, 100% labels"


@pytest.mark.parametrize("verb", [("tables", "quick"), ("status", "quick"), ("status",), ("show", "abcd")])
@pytest.mark.parametrize("way", ["option", "variable"])
def test_a_named_store_that_is_absent_is_refused_where_it_would_only_be_read(verb, way, tmp_path):
    absent = tmp_path / "absent"
    named = {"VENUS_STORE": str(absent)} if way == "variable" else {}
    options = ("--store", str(absent)) if way == "option" else ()
    refused(run_venus(*verb, *options, **named), f"store: found nothing at {absent}, allowed", "fix: correct --store")
    assert not list(tmp_path.iterdir())


def test_a_plan_for_a_store_to_come_is_shown_and_makes_nothing(tmp_path):
    result = run_venus("plan", "quick", "--store", tmp_path / "absent")
    assert result.returncode == 0, result.stderr
    assert "5 pending" in result.stdout
    assert not list(tmp_path.iterdir())


def test_the_default_store_may_be_absent(tmp_path, monkeypatch):
    monkeypatch.delenv("VENUS_STORE", raising=False)
    monkeypatch.setattr("benchmark.runs.session.DEFAULT_STORE", tmp_path / "results" / "store")
    assert open_store(None, existing=True).root == tmp_path / "results" / "store"
    session = open_session("quick", None, (), None, existing=True)
    assert session.reports == tmp_path / "results" / "reports" / "quick-micro"


def test_a_folder_that_no_run_has_written_is_no_store_to_read(tmp_path):
    (tmp_path / "notes").mkdir()
    with pytest.raises(UserError, match="found a folder without a ledger at"):
        open_store(str(tmp_path), existing=True)
    (tmp_path / "ledger.jsonl").touch()
    assert open_store(str(tmp_path), existing=True).root == tmp_path


@pytest.mark.parametrize("place", ["file", "file/below"])
@pytest.mark.parametrize("verb", [("tables", "quick"), ("plan", "quick"), ("status", "quick"), ("run", "quick")])
def test_a_file_is_no_store(verb, place, tmp_path):
    (tmp_path / "file").write_text("x")
    refused(run_venus(*verb, "--store", tmp_path / place), f"store: found a file at {tmp_path / 'file'}, allowed")
    assert files_below(tmp_path) == ["file"]


def test_a_store_that_cannot_be_written_is_a_mistake_in_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    expected = pytest.raises(UserError, match=r"file/store, which cannot be written \(Not a directory\)")
    with expected, Store(tmp_path / "file" / "store").lock():
        raise AssertionError("the lock was taken")


def test_a_report_that_cannot_be_written_is_one_line_below_the_tables(store):
    (store / "reports").write_text("a file in the way")
    result = run_venus("tables", "quick", store=store)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
    assert f"venus: report: found {store / 'reports'}" in result.stderr
    assert "base model" in result.stdout


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_tables_without_a_reader_write_the_report_and_are_done(options, store):
    result = run_unread("tables", "quick", *options, VENUS_STORE=str(store))
    assert (result.returncode, result.stderr) == (0, "")
    assert (store / "reports" / "quick-micro" / "report.html").is_file()
