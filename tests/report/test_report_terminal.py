"""What a terminal shows: whole columns, the notes that are about them, and how many columns are left out."""

import io
import pickle

import pytest
from report_world import REFERENCE
from rich.console import Console

from benchmark.report.render import to_rich
from benchmark.report.suite_table import suite_table
from benchmark.report.table_model import Column, Note, Quantity, Row, Table, TableCell
from benchmark.report.tables import report_tables

COLUMNS = (
    Column("labels", "Labels", Quantity.COUNT),
    Column("id", "ID", Quantity.ACCURACY, with_error=True),
    Column("delta", "Difference", Quantity.DIFFERENCE),
    Column("gap", "Gap", Quantity.SHARE, min_width=70),
)
CELLS = {
    "labels": TableCell(1536.0),
    "id": TableCell(0.625, error=0.0125),
    "delta": TableCell(-0.123, low=-0.2, high=-0.05, question_low=-0.19, question_high=-0.06),
    "gap": TableCell(0.5),
}
NOTES = (
    "About all of it, in a sentence that is longer than most terminals of this test are wide, to be wrapped.",
    Note("About the gap.", ("gap",)),
    Note("About errors.", ("id",), "error"),
    Note("About differences.", ("delta",)),
)
TABLE = Table("A table", "t", "Arm", COLUMNS, (Row("an arm with a long label, 10% labels", CELLS),), NOTES)


def shown(table, width, console_width=None):
    console = Console(width=console_width or width, file=io.StringIO())
    console.print(to_rich(table, width))
    return console.file.getvalue()


@pytest.mark.parametrize("width", [20, 26, 30, 34, 40, 46, 52, 60, 72, 100, 160])
def test_a_number_is_whole_or_not_there_at_any_width(width):
    text = shown(TABLE, width)
    assert max(map(len, text.splitlines())) <= width
    assert ("Labels" in text) == ("1,536" in text)
    assert ("Difference" in text) == ("−12.3" in text) == ("[−20.0, −5.0]" in text)


@pytest.mark.parametrize("width", [40, 60, 72, 110])
def test_the_tables_of_a_suite_are_never_cropped(three_seed_report, width):
    for table in report_tables(three_seed_report).values():
        text = shown(table, width)
        assert max(map(len, text.splitlines())) <= width
        for line in text.splitlines():
            assert line.count("[") == line.count("]")


def test_a_note_is_shown_only_beside_a_column_that_it_is_about():
    narrow, wide = (" ".join(shown(TABLE, width).split()) for width in (60, 80))
    assert "About the gap." not in narrow
    assert "1 column is left out at this width; --json, the HTML report or a wider terminal show" in narrow
    assert "About the gap." in wide
    assert "left out" not in wide
    assert "About differences." in narrow
    assert "About errors." not in narrow + wide  # a terminal shows no standard errors


def test_notes_are_wrapped_and_not_cut():
    text = shown(TABLE, 40)
    assert NOTES[0] in " ".join(text.split())


def test_columns_leave_from_the_right_and_accuracies_stay_longest(three_seed_report):
    table = suite_table("", three_seed_report.arms, REFERENCE)
    heads = {width: next(line for line in shown(table, width).splitlines() if "Arm" in line) for width in (40, 60)}
    assert heads[40].split() == ["Arm", "Labels", "ID", "OOD"]
    assert heads[60].split() == ["Arm", "Labels", "ID", "OOD", "Δ", "ID"]


def test_a_narrower_console_than_asked_for_is_respected():
    assert shown(TABLE, 200, console_width=44) == shown(TABLE, 44)


def test_a_note_survives_a_copy_with_what_it_is_about():
    note = pickle.loads(pickle.dumps(NOTES[2]))
    assert (note, note.columns, note.part) == ("About errors.", ("id",), "error")
