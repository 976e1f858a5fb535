"""`venus show`: which cell is meant by a few characters, and what is printed of it."""

import json

import pytest
from judged_cell import SECRET, publish_cell, write_parts
from venus_command import run_venus

from benchmark.errors import UserError
from benchmark.runs.session import open_session
from benchmark.runs.show import ShowRequest, find_cell, show_data, show_text, spread
from benchmark.runs.store import Store
from benchmark.stage import StageKind

LONE = "abcd" + "0" * 60  # key of a record that belongs to no suite


@pytest.fixture
def store(tmp_path):
    """A store with the base cell of suite `quick`, and one that belongs to no suite."""
    found = Store(tmp_path / "store")
    parts = write_parts(tmp_path / "parts")
    publish_cell(found, base_cell().stages[StageKind.RECORD], parts)
    publish_cell(found, LONE, parts)
    return found


def base_cell():
    return open_session("quick", None, (), None).plan.cells[0]


def text_of(store, **request):
    return show_text(show_data(store, find_cell(store, base_cell().id[:8], "quick"), ShowRequest(**request)))


def test_the_first_characters_of_an_id_find_a_cell_in_any_suite(store):
    cell = find_cell(store, base_cell().id[:8].upper())
    assert (cell.id, cell.label) == (base_cell().id, "base model, seed 0")
    assert "quick" in cell.suites


def test_a_cell_with_overrides_is_found_with_the_same_overrides(store):
    own = open_session("quick", None, ("eval.temperature=0.5",), None).plan.cells[0]
    with pytest.raises(UserError, match="no cell begins with"):
        find_cell(store, own.id, "quick")
    with pytest.raises(UserError, match=r"\(base model, seed 0\) has no result in .*; fix: venus run quick"):
        find_cell(store, own.id, "quick", None, ("eval.temperature=0.5",))


def test_a_record_of_no_suite_is_found_by_its_key(store):
    cell = find_cell(store, "abcd", "quick")
    assert (cell.id, cell.suites) == (LONE, ())


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("abc", "found 3 characters, allowed 4 or more"),
        ("zzzz", "no cell begins with 'zzzz' in suite quick"),
    ],
)
def test_a_beginning_that_names_no_cell_is_refused(store, prefix, expected):
    with pytest.raises(UserError, match=expected):
        find_cell(store, prefix, "quick")


def test_a_beginning_that_names_two_cells_is_refused_with_both(store, tmp_path):
    publish_cell(store, "abcd1" + "0" * 59, write_parts(tmp_path / "more"))
    with pytest.raises(UserError, match=r"found 2 that begin so, abcd00000000 .*, abcd10000000 .*give more characters"):
        find_cell(store, "abcd", "quick")


def test_a_cell_without_a_result_says_how_to_get_one(store):
    waiting = open_session("quick", None, (), None).plan.cells[2]
    with pytest.raises(UserError, match=r"labeled_only, 10% labels, seed 0\) has no result"):
        find_cell(store, waiting.id, "quick")


def test_the_smallest_suite_that_has_a_cell_is_the_one_to_run(store):
    waiting = open_session("quick", None, (), None).plan.cells[2]
    with pytest.raises(UserError, match=r"has no result in .*; fix: venus run quick$"):
        find_cell(store, waiting.id)


def test_the_command_that_makes_a_result_has_the_settings_of_the_cell(store):
    settings = ("train.steps=2", "cluster.lanes=1")
    waiting = open_session("quick", "micro", settings, None).plan.cells[2]
    with pytest.raises(UserError, match=r"fix: venus run quick --profile micro train\.steps=2 cluster\.lanes=1$"):
        find_cell(store, waiting.id, "quick", "micro", settings)


def test_a_damaged_result_is_told_from_none(store):
    key = base_cell().stages[StageKind.RECORD]
    (store.path(StageKind.RECORD, key) / "record.json").write_text("{")
    with pytest.raises(UserError, match=r"\(base model, seed 0\) has a damaged result in .*; fix: venus run quick$"):
        find_cell(store, base_cell().id, "quick")


def test_a_misspelt_suite_is_refused_with_the_nearest(store):
    with pytest.raises(UserError, match="did you mean 'quick'"):
        find_cell(store, "abcd", "quikc")


def test_the_wrong_ones_are_listed_with_question_gold_and_verdict(store):
    text = text_of(store, wrong=True, benchmark="mul")
    assert "mul m1\n  question: 3*4?\n  gold: 12\n  sample 1: wrong, stated 13 (graded by text; " in text
    assert "    | line one\n    | so \\boxed{13}" in text
    assert "shown: 1 of 1 responses that are not correct, of 6 in all\n" in text


def test_a_question_is_printed_once_above_its_responses(store):
    assert text_of(store, benchmark="add").count("question: 1+1?") == 1
    assert "sample 0: no_answer, no answer stated" in text_of(store, benchmark="add")


def test_what_a_terminal_would_obey_is_not_printed(store):
    assert "\x1b" not in text_of(store)
    assert "\\boxed{13}�[31m" in text_of(store)


def test_restricted_texts_need_to_be_asked_for(store):
    text = text_of(store)
    assert SECRET not in text
    assert "gpqa_diamond g1  (restricted: text withheld)\n  sample 0: wrong\n  sample 1: correct" in text
    assert "--show-text prints the texts" in text
    shown = text_of(store, text=True)
    assert f"question: {SECRET}\n    A) no, {SECRET}\n    B) yes, {SECRET}\n  gold: B" in shown


def test_a_limit_says_what_it_leaves_out_and_zero_is_none(store):
    assert "shown: 2 of 6 responses, of 6 in all; --limit 0 shows all" in text_of(store, limit=2)
    assert "by benchmark: mul 1 of 2, add 1 of 2, gpqa_diamond 0 of 2; --benchmark NAME" in text_of(store, limit=2)
    assert "by benchmark" not in text_of(store, limit=2, benchmark="mul")
    assert "shown: 6 of 6 responses, of 6 in all" in text_of(store, limit=0)
    with pytest.raises(UserError, match="--limit: found -1"):
        text_of(store, limit=-1)


@pytest.mark.parametrize(
    ("limit", "available", "shares"),
    [
        (6, {"a": 9, "b": 9, "c": 9}, {"a": 2, "b": 2, "c": 2}),
        (8, {"a": 9, "b": 9, "c": 9}, {"a": 3, "b": 3, "c": 2}),
        (2, {"a": 9, "b": 9, "c": 9}, {"a": 1, "b": 1}),
        (20, {"a": 1, "b": 0, "c": 90}, {"a": 1, "c": 19}),
        (20, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        (20, {"a": 0}, {}),
    ],
)
def test_a_limit_is_shared_by_the_benchmarks(limit, available, shares):
    assert spread(limit, available) == shares


def test_responses_that_were_removed_are_missed_in_words_with_what_makes_them_again(store):
    key = f"part-samples-{LONE}"
    store.quarantine(StageKind.GENERATE, key)
    later = f"{store.path(StageKind.RECORD, LONE)} and {store.path(StageKind.GRADE, f'part-verdicts-{LONE}')}"
    with pytest.raises(UserError, match=f"its samples are no longer in {store.root}; fix: remove {later}, which were"):
        show_data(store, find_cell(store, "abcd", "quick"), ShowRequest())


def venus(store, *arguments):
    return run_venus("show", *arguments, "--store", store.root)


def test_the_command_prints_json_for_machines_without_restricted_texts(store):
    result = venus(store, "abcd", "--suite", "quick", "--wrong", "--json")
    assert result.returncode == 0, result.stderr
    data = json.loads(result.stdout)
    assert [(r["benchmark"], r["verdict"]) for r in data["responses"]] == [
        ("mul", "wrong"),
        ("add", "no_answer"),
        ("gpqa_diamond", "wrong"),
    ]
    assert (data["matching"], data["total"], data["record"]) == (3, 6, LONE)
    assert SECRET not in result.stdout


def test_a_mistake_is_one_line_and_status_2(store):
    result = venus(store, "ab")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "venus: cell 'ab': found 2 characters, allowed 4 or more of its id\n"
