"""One table in its plain forms: terminal, Markdown, CSV, JSON. (LaTeX and HTML have files of their own.)

Texts round for people and mark what is provisional or partial; CSV and JSON carry the raw numbers, one
per column, with their unit and the state of each.
"""

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from benchmark.report.results import CellState
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell

if TYPE_CHECKING:
    from rich.table import Table as RichTable

PROVISIONAL = "†"
SIGNIFICANT = "*"
_ONE_LINE = 150  # characters of a terminal that has room for intervals beside their values
_PADDED = 120  # characters of a terminal that has room for blanks between columns
_MINUS = "−"
_FIELDS = {"standard_error": "error"}  # names of a CSV file that are not those of a cell
_DIGITS = 6  # of raw numbers: far beyond their error, and the same whichever BLAS summed them
NUMBERS = frozenset(Quantity) - {Quantity.TEXT, Quantity.STATE}
"""Quantities whose columns hold numbers."""


def row_label(row: Row) -> str:
    """Write the label of a row, marked where it is the reference."""
    return f"{row.label} (reference)" if row.reference else row.label


def cell_text(cell: TableCell, column: Column) -> str:
    """Write a cell for people in one line."""
    return " ".join(text for _, text in cell_parts(cell, column))


def cell_parts(cell: TableCell, column: Column) -> tuple[tuple[str, str], ...]:
    """Return the texts of a cell with their roles: value, error, interval, questions, mark, seeds or state."""
    if column.quantity is Quantity.STATE:
        return (("state", f"{cell.state.value} {cell.seeds}".strip()),)
    if cell.value is None:
        return (("state", "–" if cell.state is CellState.NOT_APPLICABLE else cell.state.value),)
    if isinstance(cell.value, str):
        return (("value", cell.value),)
    quantity = column.quantity
    parts = [("value", number_text(cell.value, quantity))]
    if cell.error is not None:
        parts.append(("error", f"± {number_text(cell.error, quantity)}"))
    if cell.low is not None and cell.high is not None:
        parts.append(("interval", _interval_text(cell.low, cell.high, quantity)))
    if cell.question_low is not None and cell.question_high is not None:
        parts.append(("questions", f"q {_interval_text(cell.question_low, cell.question_high, quantity)}"))
    marks = SIGNIFICANT * cell.significant + PROVISIONAL * cell.provisional
    parts += [("mark", marks)] if marks else []
    parts += [("seeds", f"({cell.seeds})")] if cell.seeds else []
    return tuple(parts)


def number_text(value: float, quantity: Quantity) -> str:
    """Write a number in the unit that people read: points, percent, minutes, megabytes."""
    match quantity:
        case Quantity.ACCURACY:
            text = f"{100 * value:.1f}"
        case Quantity.DIFFERENCE:
            text = f"{100 * value:+.1f}"
            text = text.lstrip("+-") if float(text) == 0 else text
        case Quantity.SHARE:
            text = f"{100 * value:.1f}%"
        case Quantity.NUMBER:
            text = f"{value:.3f}"
        case Quantity.SECONDS:
            text = duration_text(value)
        case Quantity.BYTES:
            text = f"{value / 2**30:.2f} GiB"
        case _:
            text = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"
    return text.replace("-", _MINUS)


def duration_text(seconds: float) -> str:
    """Write a duration in at most two units, such as "1 h 04 min", "3 min 05 s", "86 s" or "2.3 s"."""
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def to_rich(table: Table, width: int | None = None) -> "RichTable":
    """Build the terminal form for `width` characters, by default those of the terminal.

    Columns for which there is no room are left out; below 150 characters an interval stands under its value.
    """
    from rich import box, get_console
    from rich.table import Table as RichTable
    from rich.text import Text

    width = get_console().width if width is None else width
    columns = [column for column in table.columns if column.min_width <= width]
    between = " " if width >= _ONE_LINE else "\n"
    rich = RichTable(
        title=table.title,
        caption="\n".join(table.notes),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 0) if width < _PADDED else (0, 1),
        pad_edge=False,
    )
    rich.add_column(table.row_title, overflow="fold", min_width=min(16, width // 4))
    for column in columns:
        number = column.quantity in NUMBERS
        rich.add_column(
            column.title, justify="right" if number else "left", no_wrap=number or column.quantity is Quantity.STATE
        )
    for row in table.rows:
        texts = [Text(row_label(row))]
        for column in columns:
            cell = row.cells[column.key]
            texts.append(Text(_terminal_text(cell, column, between), style=_style(cell)))
        rich.add_row(*texts)
    return rich


def to_markdown(table: Table) -> str:
    """Write a GitHub table with its title above and its notes below."""
    head = [table.row_title, *(column.title for column in table.columns)]
    rule = ["---", *("---:" if column.quantity in NUMBERS else "---" for column in table.columns)]
    body = [[_markdown_escaped(row_label(row)), *_markdown_cells(table, row)] for row in table.rows]
    lines = [f"### {table.title}", "", *(f"| {' | '.join(line)} |" for line in (head, rule, *body))]
    return "\n".join([*lines, *(f"\n{_markdown_escaped(note)}" for note in table.notes), ""])


def to_csv(table: Table) -> str:
    """Write raw numbers with the unit in the header, and the state of every number in a column of its own."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([table.row_title.lower(), "reference", *(h for c in table.columns for h in _csv_header(c))])
    for row in table.rows:
        values = [value for column in table.columns for value in _csv_values(row.cells[column.key], column)]
        writer.writerow([row.label, int(row.reference), *values])
    return sink.getvalue()


def to_json(table: Table) -> dict[str, Any]:
    """Return the table as plain data: raw numbers or null, never NaN."""
    return {
        "key": table.key,
        "title": table.title,
        "columns": [
            {"key": c.key, "title": c.title, "unit": c.quantity.value, "description": c.description}
            for c in table.columns
        ],
        "rows": [
            {
                "label": row.label,
                "reference": row.reference,
                "cells": {column.key: _cell_json(row.cells[column.key]) for column in table.columns},
                "samples": [
                    {"seed": seed, "cell": source.cell, "generate": source.samples.name, "grade": source.verdicts.name}
                    for seed, source in row.sources.items()
                ],
            }
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def json_text(data: Any) -> str:
    """Serialise strictly (no NaN, no infinity) and the same for equal data."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _interval_text(low: float, high: float, quantity: Quantity) -> str:
    return f"[{number_text(low, quantity)}, {number_text(high, quantity)}]"


def _terminal_text(cell: TableCell, column: Column, between: str) -> str:
    """Write a cell without standard error and second interval; the first interval after `between`."""
    parts = dict(cell_parts(cell, column))
    interval = parts.pop("interval", None)
    first = " ".join(text for role, text in parts.items() if role not in ("error", "questions"))
    return first if interval is None else f"{first}{between}{interval}"


def _style(cell: TableCell) -> str:
    if cell.strong:
        return "bold"
    return {CellState.FAILED: "red", CellState.PARTIAL: "yellow", CellState.RUNNING: "cyan"}.get(cell.state, "")


def _markdown_cells(table: Table, row: Row) -> list[str]:
    texts = []
    for column in table.columns:
        cell = row.cells[column.key]
        text = _markdown_escaped(cell_text(cell, column))
        texts.append(f"**{text}**" if cell.strong else text)
    return texts


def _markdown_escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _csv_header(column: Column) -> list[str]:
    """Name the columns of a column: a unit where it has one, `_p` for probabilities, `_state` last."""
    if column.quantity not in NUMBERS:
        return [column.key]
    named = [f"{column.key}_{name}" if name != "value" else column.key for name in _numbers_of(column)]
    return [*(f"{name} ({column.quantity.value})" for name in named), *_probabilities(column), f"{column.key}_state"]


def _csv_values(cell: TableCell, column: Column) -> list[Any]:
    if column.quantity is Quantity.STATE:
        return [cell_text(cell, column)]
    if column.quantity not in NUMBERS:
        return [cell.value]
    numbers = [getattr(cell, _FIELDS.get(name, name)) for name in _numbers_of(column)]
    numbers += [cell.p_value, cell.p_adjusted] if _probabilities(column) else []
    return [*("" if number is None else _raw(number) for number in numbers), cell.state.value]


def _numbers_of(column: Column) -> list[str]:
    """Name the numbers of a cell of a column: its value, a standard error, the ends of its intervals."""
    difference = column.quantity is Quantity.DIFFERENCE
    return [
        "value",
        *(["standard_error"] if column.with_error else []),
        *(["low", "high"] if difference or column.with_interval else []),
        *(["question_low", "question_high"] if difference else []),
    ]


def _probabilities(column: Column) -> list[str]:
    return [f"{column.key}_p", f"{column.key}_p_holm"] if column.quantity is Quantity.DIFFERENCE else []


def _cell_json(cell: TableCell) -> dict[str, Any]:
    numbers = {name: getattr(cell, name) for name in ("error", "low", "high", "question_low", "question_high")}
    content: dict[str, Any] = {"value": _raw(cell.value), "state": cell.state.value}
    content |= {name: _raw(number) for name, number in numbers.items() if number is not None}
    content |= {"provisional": True} if cell.provisional else {}
    content |= {} if cell.p_value is None else {"p": _raw(cell.p_value)}
    content |= {} if cell.p_adjusted is None else {"p_holm": _raw(cell.p_adjusted), "significant": cell.significant}
    content |= {"excludes_zero": cell.strong} if cell.low is not None else {}
    return content | ({"note": cell.note} if cell.note else {}) | ({"seeds": cell.seeds} if cell.seeds else {})


def _raw(value: float | str | None) -> float | str | None:
    return round(value, _DIGITS) if isinstance(value, float) else value
