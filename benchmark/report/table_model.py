"""A table as data: columns, rows and cells that carry their state. Renderers turn it into text."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from benchmark.errors import DataError
from benchmark.report.results import CellSource, CellState
from benchmark.report.stats import Difference, IntervalRule

SIGNIFICANCE = 0.05
"""Level at which a difference counts as significant, after the correction for the comparisons of its table."""

GROUP_TITLES = {"id": "ID", "ood": "OOD"}
"""How the groups of benchmarks are called in titles."""


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
    with_interval: bool = False  # its values have an interval; differences always do
    with_censoring: bool = False  # some of its values may be lower bounds


@dataclass(frozen=True, slots=True)
class TableCell:
    """A value with its uncertainty, or the reason why there is none.

    `error` is a standard error, `low` and `high` a 95% interval, all in the unit of the value. With two to four
    seeds a difference also has the interval over questions alone, `question_low` and `question_high`. Raises
    DataError for a number that is not finite: what has no value has a state.

    `strong` marks a difference whose every interval excludes zero, and covers training seeds where several were
    planned.
    """

    value: float | str | None
    state: CellState = CellState.DONE
    note: str = ""  # why there is no value, or what the value rests on
    error: float | None = None
    low: float | None = None
    high: float | None = None
    question_low: float | None = None
    question_high: float | None = None
    p_value: float | None = None  # of no difference, two-sided
    p_adjusted: float | None = None  # the same after Holm's correction for all differences of the table
    strong: bool = False
    provisional: bool = False
    seeds: int = 0  # finished seeds that the value rests on; 0 where it rests on none
    planned: int = 0  # seeds that it was planned to rest on
    method: str = ""  # how the interval was obtained
    questions: int = 0  # that a difference was measured on
    censored: bool = False  # the value is a lower bound: "> 60"

    def __post_init__(self) -> None:
        numbers = (self.value, self.error, self.low, self.high, self.question_low, self.question_high)
        for number in (*numbers, self.p_value, self.p_adjusted):
            if isinstance(number, float) and not math.isfinite(number):
                raise DataError(f"table cell: found {number}, allowed a finite number or none; fix: give it a state")

    @property
    def seeds_text(self) -> str:
        """Which seeds there are, such as "2/3", where some are missing."""
        return f"{self.seeds}/{self.planned}" if self.seeds < self.planned and self.seeds else ""

    @property
    def excludes_zero(self) -> bool:
        """Whether all intervals of the value lie on one side of zero; False without an interval."""
        ends = [end for end in (self.low, self.high, self.question_low, self.question_high) if end is not None]
        return bool(ends) and (min(ends) > 0 or max(ends) < 0)

    @property
    def significant(self) -> bool:
        """Whether the difference holds at 5% after the correction for all comparisons of its table."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANCE


class Note(str):
    """A note below a table: a text, and what it explains.

    A form that shows none of the `columns` (by key), or leaves out the `part` of cells that the note is about (a role
    of `benchmark.report.render.cell_parts`), leaves the note out; without either it is always shown.
    """

    columns: tuple[str, ...]
    part: str

    def __new__(cls, text: str, columns: Iterable[str] = (), part: str = "") -> "Note":
        """Attach what a text explains."""
        note = super().__new__(cls, text)
        note.columns, note.part = tuple(columns), part
        return note


@dataclass(frozen=True, slots=True)
class Row:
    """A row; its label is the header of the row."""

    label: str
    cells: Mapping[str, TableCell]  # by column key
    reference: bool = False
    sources: Mapping[int, CellSource] = field(default_factory=dict)  # by seed: the responses behind the row
    seeds: int | None = None  # finished seeds of the arm; None where the row is not of an arm
    planned: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption, and notes that belong below it: texts, or `Note` where one is about some columns."""

    title: str
    key: str  # name for machines
    row_title: str  # header of the row labels
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def missing(state: CellState, reason: str) -> TableCell:
    """Build a cell without a value."""
    return TableCell(None, state, reason)


def column_notes(columns: Iterable[Column]) -> tuple[Note, ...]:
    """Build a note per column that has a description, for forms that do not show it otherwise."""
    return tuple(
        Note(f"{column.title}: {column.description}.", (column.key,)) for column in columns if column.description
    )


def difference_cell(difference: Difference) -> TableCell:
    """Build a cell from a difference; it is strong only where its intervals exclude zero."""
    both = difference.rule is IntervalRule.SEED_T
    return TableCell(
        difference.mean,
        note=f"{difference.rule.value}, {count_text(difference.seeds, 'seed')}, {difference.questions} questions",
        low=difference.low,
        high=difference.high,
        question_low=difference.question_low if both else None,
        question_high=difference.question_high if both else None,
        p_value=difference.p_value,
        strong=difference.excludes_zero,
        provisional=difference.provisional,
        seeds=difference.seeds,
        method=difference.rule.value,
        questions=difference.questions,
    )


def count_text(count: int, thing: str) -> str:
    """Write a number of things, such as "1 seed" or "3 seeds"."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
