"""One table in each of its forms."""

import csv
import io
import json

import pytest
from report_world import REFERENCE
from rich.console import Console

from benchmark.report.render import (
    cell_text,
    duration_text,
    json_text,
    number_text,
    to_csv,
    to_json,
    to_markdown,
    to_rich,
)
from benchmark.report.results import CellState
from benchmark.report.suite_table import suite_table
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell, missing
from benchmark.report.tables import report_tables
from benchmark.report.write import csv_name, json_page, write_report

DELTA = Column("delta", "Δ", Quantity.DIFFERENCE)


@pytest.fixture
def table(quick_report):
    return suite_table(quick_report.title, quick_report.arms, quick_report.reference)


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [
        (0.46749, Quantity.ACCURACY, "46.7"),
        (-0.0312, Quantity.DIFFERENCE, "−3.1"),
        (0.0312, Quantity.DIFFERENCE, "+3.1"),
        (-0.0001, Quantity.DIFFERENCE, "0.0"),
        (0.1, Quantity.SHARE, "10.0%"),
        (288000.0, Quantity.COUNT, "288,000"),
        (153.6, Quantity.COUNT, "154"),
        (19.26, Quantity.COUNT, "19.3"),
        (3 * 2**30, Quantity.BYTES, "3.00 GiB"),
        (0.25, Quantity.NUMBER, "0.250"),
    ],
)
def test_numbers_are_written_in_the_unit_that_people_read(value, quantity, text):
    assert number_text(value, quantity) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.34, "2.3 s"), (85.5, "86 s"), (185, "3 min 05 s"), (3840, "1 h 04 min")]
)
def test_durations_have_at_most_two_units(seconds, text):
    assert duration_text(seconds) == text


def test_a_cell_says_all_that_limits_it():
    cell = TableCell(
        -0.031, CellState.PARTIAL, low=-0.052, high=-0.01, question_low=-0.04, question_high=-0.02, provisional=True,
        seeds=2, planned=3,
    )  # fmt: skip
    assert cell_text(cell, DELTA) == "−3.1 [−5.2, −1.0] q [−4.0, −2.0] † (2/3)"
    assert cell_text(TableCell(60.0, censored=True), Column("step", "Step", Quantity.COUNT)) == "> 60"
    assert cell_text(missing(CellState.FAILED, "out of memory"), DELTA) == "failed"
    assert cell_text(missing(CellState.NOT_APPLICABLE, ""), DELTA) == "–"


@pytest.mark.parametrize("width", [80, 100, 110, 120, 150, 180, 220])
def test_the_terminal_shows_every_arm_and_every_average_at_any_width(table, width):
    console = Console(width=width, file=io.StringIO())
    console.print(to_rich(table))
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for row in table.rows:
        assert row.label.split(",")[0] in text
        if row.cells["id"].value is not None:
            assert number_text(row.cells["id"].value, Quantity.ACCURACY) in text


def test_markdown_has_one_line_per_arm_and_bold_only_where_earned(table):
    lines = [line for line in to_markdown(table).splitlines() if line.startswith("| ")]
    assert len(lines) == 2 + len(table.rows)
    assert len({line.count("|") for line in lines}) == 1
    strong = sum(cell.strong for row in table.rows for cell in row.cells.values())
    assert strong > 0
    assert to_markdown(table).count("**") == 2 * strong


def test_markdown_survives_a_label_with_its_own_syntax():
    table = Table("t", "t", "Arm", (DELTA,), (Row("a|b <c>", {"delta": missing(CellState.PENDING, "")}),))
    assert "| a\\|b &lt;c> | pending |" in to_markdown(table)


def test_csv_holds_raw_numbers_one_per_column_with_states(table):
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert [row["arm"] for row in rows] == [row.label for row in table.rows]
    few = rows[2]
    cells = table.rows[2].cells
    assert float(few["id (accuracy)"]) == pytest.approx(cells["id"].value, abs=1e-6)
    assert float(few["delta_id_low (accuracy_difference)"]) == pytest.approx(cells["delta_id"].low, abs=1e-6)
    assert (few["labels (count)"], few["wall_seconds (seconds)"]) == ("154", "85.5")
    failed = rows[5]
    assert (failed["id (accuracy)"], failed["id_state"], failed["state"]) == ("", "failed", "failed")


def test_json_is_strict_and_keeps_reasons(table):
    def refuse(constant):
        raise AssertionError(constant)

    content = json.loads(json_text(to_json(table)), parse_constant=refuse)
    failed = next(row for row in content["rows"] if row["label"].startswith("olr"))
    assert failed["cells"]["id"] == {"value": None, "state": "failed", "note": "seed 0: out of memory in step 12 <3>"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"value": float("nan")})


def test_a_small_probability_is_not_written_as_zero():
    small = TableCell(-0.1, low=-0.2, high=-0.05, p_value=1.23456789e-12, p_adjusted=2e-11)
    table = Table("t", "t", "Arm", (DELTA,), (Row("a", {"delta": small}),))
    assert to_json(table)["rows"][0]["cells"]["delta"]["p"] == 1.23457e-12
    row = next(csv.DictReader(io.StringIO(to_csv(table))))
    assert (row["delta_p"], row["delta_p_holm"]) == ("1.23457e-12", "2e-11")


def test_a_lower_bound_says_so_to_machines():
    column = Column("step", "Step", Quantity.COUNT, with_censoring=True)
    table = Table("t", "t", "Arm", (column,), (Row("a", {"step": TableCell(60.0, censored=True)}),))
    assert to_json(table)["rows"][0]["cells"]["step"] == {"value": 60, "state": "done", "censored": True}
    row = next(csv.DictReader(io.StringIO(to_csv(table))))
    assert (row["step (count)"], row["step_censored"]) == ("60", "1")


def test_the_csv_says_how_many_seeds_a_row_rests_on_and_what_is_provisional(three_seed_report):
    table = suite_table("", three_seed_report.arms, REFERENCE)
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert [(row["seeds"], row["seeds_planned"]) for row in rows[:2]] == [("1", "1"), ("3", "3")]
    assert (rows[5]["seeds"], rows[5]["seeds_planned"]) == ("0", "3")
    assert (rows[2]["delta_id_seeds"], rows[2]["delta_id_provisional"]) == ("3", "1")
    assert rows[1]["delta_id_provisional"] == ""  # the reference itself


def test_the_json_of_a_difference_has_its_seeds_and_its_rule_as_keys(three_seed_report):
    table = suite_table("", three_seed_report.arms, REFERENCE)
    cell = to_json(table)["rows"][2]["cells"]["delta_id"]
    assert (cell["seeds"], cell["seeds_planned"], cell["method"], cell["questions"]) == (3, 3, "seed_t", 40)
    assert cell["excludes_zero"] is table.rows[2].cells["delta_id"].excludes_zero


def test_the_folder_holds_every_form_a_csv_per_table_and_nothing_else(quick_report, tmp_path):
    paths = write_report(tmp_path / "report", quick_report)
    named = [
        f"{key}.csv" for key in ("same_labels", "benchmarks", "diagnostics", "responses", "runs", "costs", "missing")
    ]
    assert [path.name for path in paths] == [
        "table.md", "table.tex", "table.csv", *named, "table.json", "report.html",
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == sorted(path.name for path in paths)
    for key, table in report_tables(quick_report).items():
        path = tmp_path / "report" / csv_name(key)
        assert path.read_text(encoding="utf-8") == to_csv(table)


def test_one_function_makes_the_json_of_a_report(quick_report, tmp_path):
    write_report(tmp_path, quick_report)
    text = json_page(quick_report)
    assert (tmp_path / "table.json").read_text(encoding="utf-8") == text
    content = json.loads(text)
    assert content["reference"] == REFERENCE
    assert list(content["tables"]) == list(report_tables(quick_report))


def test_writing_again_gives_the_same_bytes(quick_report, tmp_path):
    first = [path.read_bytes() for path in write_report(tmp_path, quick_report)]
    assert [path.read_bytes() for path in write_report(tmp_path, quick_report)] == first
