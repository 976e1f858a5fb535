"""How a table fits a printed page: which columns stand together, in which size, and what is wrapped.

Widths are estimated from those of Computer Modern at 10 points; a few percent are left for what the estimate misses.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.report.render import cell_parts, row_label
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell

PRINTED = ("labels", "id", "ood", "delta_id", "delta_ood")
"""Columns of the main table that a paper prints."""
_TEXT_WIDTH, _TEXT_HEIGHT = 338.0, 560.0  # points, of article on A4 at 10 points, less a reserve
_SIZES = ((r"\small", 0.925, 11.0), (r"\footnotesize", 0.85, 9.5))  # command, width of 10 points, line height
_SCRIPT, _SCRIPT_LINE = 0.8, 8.0
_SEPARATION = 3  # points on each side of a column
_LABEL = 95.0  # width that row labels get at least, unless they need less
_WIDE_TEXT = 110.0  # words that are longer are wrapped
_BELOW = ("error", "interval", "questions")  # parts of a cell in small type below its value
_NARROW, _BROAD = frozenset(".,:;'|!il[]()jtf "), frozenset("−+±%=mwMWΔ@")


@dataclass(frozen=True, slots=True)
class Part:
    """Columns that stand in one table, counted from 1, with the notes that explain them."""

    number: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a part is set; widths in points, None for a column as wide as its texts."""

    size: str  # command
    separation: int
    label: int | None
    texts: dict[str, int]  # of wrapped columns, by key
    long: bool  # goes over pages


def parts(table: Table) -> tuple[Part, ...]:
    """Divide the columns: first those that a paper prints, then as many as the width takes, in their order."""
    printed = tuple(column for column in table.columns if column.key in PRINTED)
    groups = [printed] if len(printed) == len(PRINTED) else []
    groups.append(tuple(column for column in table.columns if not groups or column not in printed))
    fitting = [part for group in groups for part in _fitting(table, group)]
    found = []
    for number, columns in enumerate(fitting, 1):
        keys = {column.key for column in columns}
        about = [tuple(getattr(note, "columns", ())) for note in table.notes]
        notes = [n for n, of in zip(table.notes, about, strict=True) if (keys & set(of) if of else number == 1)]
        found.append(Part(number, columns, tuple(map(str, notes))))
    return tuple(found)


def layout(table: Table, part: Part) -> Layout:
    """Choose the larger size in which nothing has to be wrapped, else wrap row labels and long texts."""
    for command, size, _ in _SIZES:
        natural = _label_width(table, size) + sum(_column_width(table, column, size) for column in part.columns)
        if natural <= _TEXT_WIDTH:
            return Layout(command, _SEPARATION, None, {}, _height(table, part, size, {}, None) > _TEXT_HEIGHT)
    command, size, _ = _SIZES[-1]
    wrapped = [column for column in part.columns if _wraps(table, column, size)]
    fixed = sum(_column_width(table, column, size) for column in part.columns if column not in wrapped)
    wanted = {"": _label_width(table, size)} | {c.key: _column_width(table, c, size) for c in wrapped}
    given = _shared(_TEXT_WIDTH - fixed - 2 * _SEPARATION * len(wrapped), wanted)
    label, texts = given.pop(""), {key: int(width) for key, width in given.items()}
    return Layout(command, _SEPARATION, int(label), texts, _height(table, part, size, texts, label) > _TEXT_HEIGHT)


def first_line(cell: TableCell, column: Column) -> tuple[tuple[str, str], ...]:
    """Return the value of a cell with what stands beside it: marks, then seeds."""
    order = ("mark", "seeds")
    found = [part for part in cell_parts(cell, column) if part[0] not in _BELOW]
    return tuple(sorted(found, key=lambda part: order.index(part[0]) if part[0] in order else -1))


def lines_below(cell: TableCell, column: Column) -> tuple[str, ...]:
    """Return the standard error and the intervals of a cell, each a line below the value."""
    return tuple(text for role, text in cell_parts(cell, column) if role in _BELOW)


def heading_lines(title: str) -> tuple[str, ...]:
    """Divide a title into lines, so that it does not widen its column: at blanks, unless what follows is short."""
    lines: list[str] = []
    for word in title.split():
        if lines and len(lines[-1]) + len(word) < 8:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return tuple(lines)


def _fitting(table: Table, columns: Sequence[Column]) -> list[tuple[Column, ...]]:
    """Divide columns into as few groups as fit beside the row labels at the smaller size, of about equal width."""
    size = _SIZES[-1][1]
    room = _TEXT_WIDTH - min(_LABEL, _label_width(table, size))
    natural = [_column_width(table, column, size) for column in columns]
    widths = [
        min(width, _WIDE_TEXT) if _wraps(table, column, size) else width
        for column, width in zip(columns, natural, strict=True)
    ]
    fewest = len(_packed(widths, room))
    even = next(share for share in range(1, 101) if len(_packed(widths, room * share / 100)) == fewest)
    return [tuple(columns[place] for place in group) for group in _packed(widths, room * even / 100)]


def _packed(widths: Sequence[float], room: float) -> list[list[int]]:
    """Fill groups with neighbours up to `room`; what is wider stands alone."""
    groups: list[list[int]] = []
    left = 0.0
    for place, width in enumerate(widths):
        if not groups or width > left:
            groups.append([])
            left = room
        groups[-1].append(place)
        left -= width
    return groups


def _wraps(table: Table, column: Column, size: float) -> bool:
    return column.quantity is Quantity.TEXT and _column_width(table, column, size) > _WIDE_TEXT


def _shared(room: float, wanted: dict[str, float]) -> dict[str, float]:
    """Give each what it wants where there is room, else the same share to those that want more than that."""
    given: dict[str, float] = {}
    for key, width in sorted(wanted.items(), key=lambda item: item[1]):
        given[key] = min(width + 2, (room - sum(given.values())) / (len(wanted) - len(given)))
    return given


def _height(table: Table, part: Part, size: float, texts: dict[str, int], label: float | None) -> float:
    """Estimate the height of caption, rows and notes, in points."""
    line = next(height for _, width, height in _SIZES if width == size)
    rows = sum(_row_height(row, part.columns, size, line, texts, label) for row in table.rows)
    notes = sum(_SCRIPT_LINE * math.ceil(_width(note, _SCRIPT) / _TEXT_WIDTH) + 3 for note in part.notes)
    return rows + notes + 5 * line


def _row_height(
    row: Row, columns: Sequence[Column], size: float, line: float, texts: dict[str, int], label: float | None
) -> float:
    def lines(text: str, width: float | None) -> int:
        return 1 if width is None else math.ceil(1.15 * _width(text, size) / width)

    below = max((len(lines_below(row.cells[column.key], column)) for column in columns), default=0)
    wrapped = [
        lines(_first(row.cells[key], column), width)
        for column in columns
        for key, width in texts.items()
        if key == column.key
    ]
    return max(line + below * _SCRIPT_LINE, line * max([lines(row_label(row), label), *wrapped]))


def _label_width(table: Table, size: float) -> float:
    texts = [*(row_label(row) for row in table.rows), *heading_lines(table.row_title)]
    return max(_width(text, size) for text in texts)


def _column_width(table: Table, column: Column, size: float) -> float:
    """Estimate the width of a column with its separation."""
    cells = [row.cells[column.key] for row in table.rows]
    below = [_width(text, _SCRIPT) for cell in cells for text in lines_below(cell, column)]
    widths = [_width(line, size) for line in heading_lines(column.title)]
    widths += [_first_width(cell, column, size) for cell in cells]
    return max([*widths, *below]) + 2 * _SEPARATION


def _first_width(cell: TableCell, column: Column, size: float) -> float:
    bold = 1.15 if cell.strong else 1.0
    texts = (text if role == "mark" else f"{text} " for role, text in first_line(cell, column))
    return bold * _width("".join(texts).rstrip(), size)


def _first(cell: TableCell, column: Column) -> str:
    return " ".join(text for _, text in first_line(cell, column))


def _width(text: str, size: float) -> float:
    """Estimate the width of a text in points; `size` is relative to 10 points."""
    widths = (3.0 if c in _NARROW else 8.0 if c in _BROAD else 7.2 if c.isupper() else 5.1 for c in text)
    return size * sum(widths)
