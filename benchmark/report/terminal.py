"""A table for a terminal: as wide as there is room for, and never a number cut short.

A column is shown whole or not at all. Those with a `min_width` above the width go first, then whatever does not fit:
by `min_width` descending, and from the right. Standard errors and intervals over questions alone are for other forms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmark.report.render import NUMBERS, cell_parts, row_label
from benchmark.report.results import CellState
from benchmark.report.table_model import Column, Note, Quantity, Table, TableCell

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table as RichTable

_ONE_LINE = 150  # characters of a terminal that has room for intervals beside their values
_PADDED = 120  # characters of a terminal that has room for blanks between columns
_LABEL = 16  # characters of a row label at least, where the terminal has four times as many
_BOUNDLESS = 1 << 16
_LEFT_OUT = ("error", "questions")  # parts of cells


@dataclass(frozen=True, slots=True)
class TerminalTable:
    """A table that is laid out when it is printed, for `width` characters or the fewer of the console."""

    table: Table
    width: int | None = None

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        """Lay out the columns that fit, then the notes that are about them."""
        from rich.text import Text

        width = min(self.width or options.max_width, options.max_width)
        options = options.update(width=width)
        columns = self._fitting(console, options)
        yield from console.render(self._rich(columns, width), options)
        for note in self._notes(columns):
            yield from console.render(Text(note, style="table.caption"), options)

    def _fitting(self, console: "Console", options: "ConsoleOptions") -> list[Column]:
        from rich.measure import Measurement

        width = options.max_width
        columns = [column for column in self.table.columns if column.min_width <= width]
        boundless = options.update(width=_BOUNDLESS)  # a measurement never exceeds what its options allow
        while columns and Measurement.get(console, boundless, self._rich(columns, width)).minimum > width:
            last = max(range(len(columns)), key=lambda place: (columns[place].min_width, place))
            del columns[last]
        return columns

    def _notes(self, columns: Sequence[Column]) -> list[str]:
        shown = {column.key for column in columns}
        notes = []
        for note in self.table.notes:
            about = note if isinstance(note, Note) else Note(note)
            if about.part not in _LEFT_OUT and (not about.columns or shown.intersection(about.columns)):
                notes.append(str(note))
        hidden = len(self.table.columns) - len(columns)
        if hidden:
            left_out = "1 column is" if hidden == 1 else f"{hidden} columns are"
            notes.append(f"{left_out} left out at this width; --json, the HTML report or a wider terminal show them.")
        return notes

    def _rich(self, columns: Sequence[Column], width: int) -> "RichTable":
        from rich import box
        from rich.cells import cell_len
        from rich.table import Table as RichTable
        from rich.text import Text

        between = " " if width >= _ONE_LINE else "\n"
        rich = RichTable(
            title=self.table.title,
            box=box.SIMPLE_HEAD,
            padding=(0, 0) if width < _PADDED else (0, 1),
            pad_edge=False,
        )
        rich.add_column(self.table.row_title, overflow="fold", min_width=min(_LABEL, width // 4))
        texts = {
            column.key: [_text(row.cells[column.key], column, between) for row in self.table.rows] for column in columns
        }
        for column in columns:
            number = column.quantity in NUMBERS
            whole = number or column.quantity is Quantity.STATE
            lines = [column.title, *(line for text in texts[column.key] for line in text.splitlines())]
            rich.add_column(
                column.title,
                justify="right" if number else "left",
                no_wrap=whole,
                overflow="fold",
                min_width=max(map(cell_len, lines)) if whole else None,
            )
        for place, row in enumerate(self.table.rows):
            cells = (Text(texts[column.key][place], style=_style(row.cells[column.key])) for column in columns)
            rich.add_row(Text(row_label(row)), *cells)
        return rich


def _text(cell: TableCell, column: Column, between: str) -> str:
    """Write a cell, its interval after `between`."""
    parts = dict(cell_parts(cell, column))
    interval = parts.pop("interval", None)
    first = " ".join(text for role, text in parts.items() if role not in _LEFT_OUT)
    return first if interval is None else f"{first}{between}{interval}"


def _style(cell: TableCell) -> str:
    if cell.strong:
        return "bold"
    return {CellState.FAILED: "red", CellState.PARTIAL: "yellow", CellState.RUNNING: "cyan"}.get(cell.state, "")
