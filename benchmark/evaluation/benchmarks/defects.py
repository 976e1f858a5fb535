"""What is wrong with benchmark files, by name, and what is done about each kind of defect.

A defect is repaired where there is one right reading, noted where the published text is kept, and otherwise refused.
A benchmark may list the items of its published file that have a refused defect (`Known`): nothing but these passes,
so a file that got worse never looks like a worse model.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Treatment(StrEnum):
    """What a loader does about a kind of defect."""

    REPAIRED = "repaired"
    """There is one right reading, and the loader takes it."""
    NOTED = "noted"
    """The item stays as it was published."""
    REFUSED = "refused"
    """The file is refused, unless the benchmark lists the item."""


class Defect(StrEnum):
    """The kinds of defects; each has been seen in a public file."""

    FLOAT_GOLD = "float_gold"
    """A whole number that was stored as a float: 142.0."""
    DEGREE_GOLD = "degree_gold"
    r"""A number that carries a degree sign which the question asks for: 336^\\circ."""
    GOLD_BLANKS = "gold_blanks"
    """Blanks or a line break around the gold."""
    DIGIT_LABELS = "digit_labels"
    """Options that are called 1, 2, 3, 4 instead of A, B, C, D."""
    ROWS_REPEATED = "rows_repeated"
    """Every row occurs k times to express avg@k; the number of samples is a setting, so they become one."""
    LINE_SEPARATOR = "line_separator"
    """U+2028 or U+2029, at which careless readers of JSON lines cut an item in two."""
    ENCODING_RESIDUE = "encoding_residue"
    """C1 control characters or a byte order mark, left over from a wrong decoding."""
    OPTION_COUNT = "option_count"
    """Another number of options than usual for the benchmark."""
    GOLD_FULL_STOP = "gold_full_stop"
    """A full stop after the gold."""
    STRAY_DOLLAR = "stray_dollar"
    """Dollar signs that do not enclose what they should: $221,$8$."""
    CONTROL_CHARACTER = "control_character"
    r"""A control character, most often where an escape ate it: a form feed in place of the \\f of \\frac."""
    EMPTY_QUESTION = "empty_question"
    """Nothing is asked."""
    EMPTY_GOLD = "empty_gold"
    """There is no answer to compare with."""
    GOLD_NOT_AN_INTEGER = "gold_not_an_integer"
    """A gold that is no whole number where all are."""
    PLACEHOLDER_GOLD = "placeholder_gold"
    """A word such as __NoCorrectAnswer__, the label of noise."""
    EMPTY_OPTION = "empty_option"
    """An option without text."""
    REPEATED_OPTION = "repeated_option"
    """Two options with the same text."""
    GOLD_NOT_AN_OPTION = "gold_not_an_option"
    """The gold names no option of the item."""
    LETTER_INDEX_DISAGREE = "letter_index_disagree"
    """The letter and the number of the right option differ; the letter is what official graders compare."""
    REPEATED_ITEM = "repeated_item"
    """An item that occurs more than once."""
    CONFLICTING_ITEM = "conflicting_item"
    """An item that occurs twice with different golds."""
    DUPLICATE_INDEX = "duplicate_index"
    """One index for different items."""

    @property
    def treatment(self) -> Treatment:
        """What is done about it."""
        if self in _REPAIRED:
            return Treatment.REPAIRED
        return Treatment.NOTED if self in _NOTED else Treatment.REFUSED


_REPAIRED = {
    Defect.FLOAT_GOLD,
    Defect.DEGREE_GOLD,
    Defect.GOLD_BLANKS,
    Defect.DIGIT_LABELS,
    Defect.ROWS_REPEATED,
}
_NOTED = {
    Defect.LINE_SEPARATOR,
    Defect.ENCODING_RESIDUE,
    Defect.OPTION_COUNT,
    Defect.GOLD_FULL_STOP,
    Defect.STRAY_DOLLAR,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect of one item; `detail` holds code points and counts, never text of the item."""

    defect: Defect
    item: str  # id in the source
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """Items of a published file that have a defect and are kept: their ids in the local file, or only how many."""

    defect: Defect
    reason: str
    items: tuple[str, ...] = ()
    count: int = 0  # where items are not listed

    @property
    def total(self) -> int:
        """How many items have the defect; a hub copy, with other ids, is known by that."""
        return self.count or len(self.items)


def refused(findings: Sequence[Finding], known: Sequence[Known]) -> list[Finding]:
    """Return the findings for which a file is refused."""
    counts = Counter(finding.defect for finding in findings)

    def listed(finding: Finding) -> bool:
        return any(
            entry.defect is finding.defect and (finding.item in entry.items or entry.total == counts[finding.defect])
            for entry in known
        )

    return [finding for finding in findings if finding.defect.treatment is Treatment.REFUSED and not listed(finding)]
