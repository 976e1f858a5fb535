"""A table as data: columns, rows and cells that carry their state. Renderers turn it into text."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmark.report.results import CellState
from benchmark.report.stats import Difference, IntervalRule


class Quantity(StrEnum):
    """What a column measures; the value is the unit of its raw numbers."""

    TEXT = "text"
    """Words."""
    SHARE = "fraction"
    """A share in [0, 1], shown in percent."""
    ACCURACY = "accuracy"
    """An accuracy in [0, 1], shown in points (0.467 is 46.7)."""
    DIFFERENCE = "accuracy_difference"
    """A difference of accuracies, shown in points with a sign and its interval."""
    NUMBER = "number"
    """A number without a unit, such as a mean reward."""
    COUNT = "count"
    """A number of things."""
    SECONDS = "seconds"
    """A duration."""
    BYTES = "bytes"
    """An amount of memory."""
    STATE = "state"
    """The state of the row."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; a terminal narrower than `min_width` characters leaves it out."""

    key: str
    title: str
    quantity: Quantity
    description: str = ""
    min_width: int = 0
    with_error: bool = False  # its values have a standard error


@dataclass(frozen=True, slots=True)
class TableCell:
    """A value with its uncertainty, or the reason why there is none.

    `error` is a standard error, `low` and `high` a 95% interval, all in the unit of the value. With two to four
    seeds a difference also has the interval over questions alone, `question_low` and `question_high`.
    """

    value: float | str | None
    state: CellState = CellState.DONE
    note: str = ""  # why there is no value, or what the value rests on
    error: float | None = None
    low: float | None = None
    high: float | None = None
    question_low: float | None = None
    question_high: float | None = None
    strong: bool = False  # every interval excludes zero
    provisional: bool = False
    seeds: str = ""  # "2/3" where seeds are missing


@dataclass(frozen=True, slots=True)
class Row:
    """A row; its label is the header of the row."""

    label: str
    cells: Mapping[str, TableCell]  # by column key
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption, and notes that belong below it."""

    title: str
    key: str  # name for machines
    row_title: str  # header of the row labels
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def missing(state: CellState, reason: str) -> TableCell:
    """Build a cell without a value."""
    return TableCell(None, state, reason)


def difference_cell(difference: Difference) -> TableCell:
    """Build a cell from a difference; it is strong only where its intervals exclude zero."""
    both = difference.rule is IntervalRule.SEED_T
    return TableCell(
        difference.mean,
        note=f"{difference.rule.value}, {difference.seeds} seeds, {difference.questions} questions",
        low=difference.low,
        high=difference.high,
        question_low=difference.question_low if both else None,
        question_high=difference.question_high if both else None,
        strong=difference.excludes_zero,
        provisional=difference.provisional,
    )
