"""One table in its plain forms: Markdown, CSV, JSON. (Terminal, LaTeX and HTML have files of their own.)

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
    from benchmark.report.terminal import TerminalTable

PROVISIONAL = "†"
SIGNIFICANT = "*"
_MINUS = "−"
_FIELDS = {"standard_error": "error", "p": "p_value", "p_holm": "p_adjusted"}  # names of a CSV file, fields of a cell
_DIGITS = 6  # of raw numbers: far beyond their error, and the same whichever BLAS summed them; of a p significant ones
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
        return (("state", f"{cell.state.value} {cell.seeds_text}".strip()),)
    if cell.value is None:
        return (("state", "–" if cell.state is CellState.NOT_APPLICABLE else cell.state.value),)
    if isinstance(cell.value, str):
        return (("value", cell.value),)
    quantity = column.quantity
    parts = [("value", f"{'> ' * cell.censored}{number_text(cell.value, quantity)}")]
    if cell.error is not None:
        parts.append(("error", f"± {number_text(cell.error, quantity)}"))
    if cell.low is not None and cell.high is not None:
        parts.append(("interval", _interval_text(cell.low, cell.high, quantity)))
    if cell.question_low is not None and cell.question_high is not None:
        parts.append(("questions", f"q {_interval_text(cell.question_low, cell.question_high, quantity)}"))
    marks = SIGNIFICANT * cell.significant + PROVISIONAL * cell.provisional
    parts += [("mark", marks)] if marks else []
    parts += [("seeds", f"({cell.seeds_text})")] if cell.seeds_text else []
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


def to_rich(table: Table, width: int | None = None) -> "TerminalTable":
    """Build the terminal form: what fits into `width` characters, or into the console that prints it."""
    from benchmark.report.terminal import TerminalTable

    return TerminalTable(table, width)


def to_markdown(table: Table) -> str:
    """Write a GitHub table with its title above and its notes below."""
    head = [table.row_title, *(column.title for column in table.columns)]
    rule = ["---", *("---:" if column.quantity in NUMBERS else "---" for column in table.columns)]
    body = [[_markdown_escaped(row_label(row)), *_markdown_cells(table, row)] for row in table.rows]
    lines = [f"### {table.title}", "", *(f"| {' | '.join(line)} |" for line in (head, rule, *body))]
    return "\n".join([*lines, *(f"\n{_markdown_escaped(note)}" for note in table.notes), ""])


def to_csv(table: Table) -> str:
    """Write raw numbers with the unit in the header, and the state of every number in a column of its own.

    Rows of arms say how many of the planned seeds are finished; a number with an interval, how many it rests on and
    whether that is provisional.
    """
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    of_arms = any(row.planned is not None for row in table.rows)
    about = ["reference", *(["seeds", "seeds_planned"] if of_arms else [])]
    writer.writerow([table.row_title.lower(), *about, *(name for c in table.columns for name in _csv_header(c))])
    for row in table.rows:
        own = [int(row.reference), *([row.seeds, row.planned] if of_arms else [])]
        values = [value for column in table.columns for value in _csv_values(row.cells[column.key], column)]
        writer.writerow([row.label, *own, *values])
    return sink.getvalue()


def to_json(table: Table) -> dict[str, Any]:
    """Return the table as plain data: raw numbers or null, never NaN.

    A table has `key`, `title`, `columns` (each `key`, `title`, `unit`, `description`), `rows` and `notes`. A row has
    `label`, `reference`, `seeds` and `seeds_planned` (numbers of finished and of planned seeds; null where it is not
    of an arm), `cells` by the key of their column, and `samples`. A cell has `value` and `state`, and what it has of
    `error` (standard error), `low` and `high` (95%), `question_low` and `question_high`, `method` (how the interval was
    obtained), `questions`, `seeds` and `seeds_planned` (those behind the value), `provisional`, `p`, `p_holm`,
    `significant`, `excludes_zero`, `censored` (the value is a lower bound) and `note`. Counts are integers.
    """
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
                "seeds": row.seeds,
                "seeds_planned": row.planned,
                "cells": {column.key: _cell_json(row.cells[column.key], column) for column in table.columns},
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
    """Name the columns of a column: a unit where it has one, `_p` for probabilities, flags, `_state` last."""
    if column.quantity not in NUMBERS:
        return [column.key]
    named = [f"{column.key}_{name}" if name != "value" else column.key for name in _numbers_of(column)]
    more = [f"{column.key}_{name}" for name in (*_probabilities(column), *_flags(column), "state")]
    return [*(f"{name} ({column.quantity.value})" for name in named), *more]


def _csv_values(cell: TableCell, column: Column) -> list[Any]:
    if column.quantity is Quantity.STATE:
        return [cell_text(cell, column)]
    if column.quantity not in NUMBERS:
        return [cell.value]
    numbers = [_raw(getattr(cell, _FIELDS.get(name, name)), column) for name in _numbers_of(column)]
    numbers += [_significant(getattr(cell, _FIELDS[name])) for name in _probabilities(column)]
    flags = ["" if cell.value is None else int(getattr(cell, name)) for name in _flags(column)]
    return [*("" if number is None else number for number in numbers), *flags, cell.state.value]


def _numbers_of(column: Column) -> list[str]:
    """Name the numbers of a cell of a column: its value, a standard error, the ends of its intervals."""
    difference = column.quantity is Quantity.DIFFERENCE
    return [
        "value",
        *(["standard_error"] if column.with_error else []),
        *(["low", "high"] if _has_interval(column) else []),
        *(["question_low", "question_high"] if difference else []),
    ]


def _probabilities(column: Column) -> list[str]:
    return ["p", "p_holm"] if column.quantity is Quantity.DIFFERENCE else []


def _flags(column: Column) -> list[str]:
    """Name what else a number of a column has: the seeds behind an interval, whether it is provisional or a bound."""
    return [
        *(["seeds", "provisional"] if _has_interval(column) else []),
        *(["censored"] if column.with_censoring else []),
    ]


def _has_interval(column: Column) -> bool:
    return column.quantity is Quantity.DIFFERENCE or column.with_interval


def _cell_json(cell: TableCell, column: Column) -> dict[str, Any]:
    numbers = {name: getattr(cell, name) for name in ("error", "low", "high", "question_low", "question_high")}
    content: dict[str, Any] = {"value": _raw(cell.value, column), "state": cell.state.value}
    content |= {name: _raw(number, column) for name, number in numbers.items() if number is not None}
    content |= {"method": cell.method} if cell.method else {}
    content |= {"questions": cell.questions} if cell.questions else {}
    content |= {"seeds": cell.seeds, "seeds_planned": cell.planned} if cell.planned else {}
    content |= {"provisional": True} if cell.provisional else {}
    content |= {} if cell.p_value is None else {"p": _significant(cell.p_value)}
    adjusted = {"p_holm": _significant(cell.p_adjusted), "significant": cell.significant}
    content |= {} if cell.p_adjusted is None else adjusted
    content |= (
        {"excludes_zero": cell.excludes_zero} if column.quantity is Quantity.DIFFERENCE and cell.low is not None else {}
    )
    content |= {"censored": cell.censored} if column.with_censoring and cell.value is not None else {}
    return content | ({"note": cell.note} if cell.note else {})


def _raw(value: float | str | None, column: Column) -> float | str | None:
    """Round a number; a count is an integer where it is a whole one, which a mean over seeds need not be."""
    if not isinstance(value, float):
        return value
    rounded = round(value, _DIGITS)
    return int(rounded) if column.quantity is Quantity.COUNT and rounded.is_integer() else rounded


def _significant(probability: float | None) -> float | None:
    """Round a probability to significant digits: a small one is not 0."""
    return None if probability is None else float(f"{probability:.{_DIGITS}g}")
