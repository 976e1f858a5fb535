"""The printed help of every verb says all that was written for it."""

import re

import pytest
import typer
from venus_command import run_unread, run_venus

from benchmark.cli import app

ROOT = typer.main.get_command(app)
VERBS = {(name,): verb for name, verb in ROOT.commands.items() if name != "data"} | {
    ("data", name): verb for name, verb in ROOT.commands["data"].commands.items()
}


def printed(*words):
    """Return a help text as it is on a terminal of 80 columns."""
    return run_venus(*words, "--help", COLUMNS="80")


def one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_nothing_of_a_help_text_is_lost(words):
    result = printed(*words)
    assert result.returncode == 0, result.stderr
    shown = one_line(result.stdout)
    texts = [VERBS[words].help, *(parameter.help for parameter in VERBS[words].params)]
    for text in texts:
        assert one_line(text) in shown


def test_the_defaults_are_printed():
    shown = one_line(printed("tables").stdout)
    assert "[default: VENUS_STORE, else results/store, whose reports are in results/reports]" in shown
    assert "[default: search all]" in printed("show").stdout
    assert "[default: VENUS_DATA]" in printed("data", "check").stdout


def test_no_summary_of_a_verb_is_cut():
    lines = printed().stdout.splitlines()
    listed = lines[lines.index("Commands:") + 1 :]
    assert len(listed) == len(ROOT.commands)
    for line in listed:
        assert re.fullmatch(r"  \S+ +\S.*[^.]\.", line), line


@pytest.mark.parametrize("field", ["gold", "response", "kind", "choices", "tolerance", "finish_reason", "id"])
def test_the_help_of_grade_names_every_field_that_is_read(field):
    assert re.search(rf"\b{field}\b", printed("grade").stdout)
    assert "math or multiple_choice" in one_line(printed("grade").stdout)


@pytest.mark.parametrize("words", [(), ("data",)])
def test_without_a_verb_the_help_is_printed_and_the_status_is_2(words):
    result = run_venus(*words, COLUMNS="80")
    assert (result.returncode, result.stderr) == (2, "")
    assert result.stdout.rstrip() == printed(*words).stdout.rstrip()
    assert "Commands:" in result.stdout


@pytest.mark.parametrize("arguments", [("methods",), ("methods", "--json"), ("plan", "quick"), ("--help",)])
def test_a_reader_that_went_away_is_no_failure(arguments):
    result = run_unread(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
