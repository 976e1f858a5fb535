r"""Find the option that a response to a multiple-choice question chooses.

A choice is read, in this order: from the last box, after the last cue that a label follows ("the answer is (b)",
"ANSWER: C"), from a last line that is a label, from a last line or cue that states the text of one option. The
labels are those of the item, so that `J` is no answer to a question with four options. Nothing is guessed: official
harnesses draw a random letter where they find none, which scores 10% for silence.

Trade-off taken: precision before recall. A bare capital counts only where a label is expected, because `I` and `A`
are words; a response that argues about all options and chooses none has no answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from string import ascii_uppercase
from typing import Final

from benchmark.evaluation.equivalence import canonical, normalise, plain_characters
from benchmark.evaluation.extract import extract_answer, strip_reasoning

DEFAULT_LABELS: Final = ascii_uppercase[:10]
"""The labels where an item does not list its options: A to J, as many as MMLU-Pro has."""


class ChoiceMethod(StrEnum):
    """Where a choice was found."""

    BOX = "choice_box"
    """In the last box."""
    CUE = "choice_cue"
    """After a phrase that announces the answer."""
    LINE = "choice_line"
    """In the last line."""
    NONE = "none"
    """Nowhere."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The label of the chosen option, as a capital letter, what was read, and where."""

    label: str | None
    text: str | None
    method: ChoiceMethod


_LONGEST_OPTION: Final = 1000
_WINDOW: Final = 20_000  # characters from the end in which cues are looked for
_OPENING = r"[\s*_$\"'`{]*(?:\\(?:text|textbf|mathrm|mathbf|boxed)\s*\{)?[\s*_$\"'`]*"
_CUE: Final = re.compile(
    r"\b(?:final\s+|correct\s+|best\s+)?(?:answer|choice|option)\b(?:\s+(?:choice|option|letter))?[\s*_\"']*"
    r"(?:is|:|=|would\s+be|must\s+be|should\s+be|-)[\s*_:]*(?:therefore\s+|thus\s+)?(?:(?:the\s+)?(?:option|choice|letter)\b)?",
    re.IGNORECASE,
)
_AFTER_CUE: Final = re.compile(
    _OPENING + r"(?:\(\s*(?P<bracketed>[A-Za-z]|\d{1,2})\s*\)|\[\s*(?P<square>[A-Za-z])\s*\]|"
    r"(?P<closed>[A-Za-z]|\d{1,2})\)|(?P<bare>[A-Z])(?![A-Za-z0-9'’])|(?P<digit>\d{1,2})(?![\d.,/%\w]))"
)
_BOX_LABEL: Final = re.compile(
    r"(?:option|choice|answer)?\s*[:(\[]?\s*(?P<label>[A-Za-z]|\d{1,2})\s*[)\]]?\s*(?:$|[.:)]\s*.*|(?<=[)\]])\s*.*|\s-\s.*)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL_LINE: Final = re.compile(r"[\s*_$\"'`(\[]*([A-Z])[\s*_$\"'`)\].]*")
_LABELLED_LINE: Final = re.compile(r"[\s*_(\[]*([A-Z])\s*[).:\]]\s*(.+?)[\s*_]*")
# After a bare I or A: words that go on about the label, not about a sentence that begins with the word.
_WORD_AFTER: Final = re.compile(r"\s+([a-z]+)")
_GOES_ON_ABOUT_THE_LABEL: Final = frozenset(
    ("because", "since", "as", "which", "is", "due", "and", "by", "for", "from")
)


def label_set(choices: Sequence[str] | None) -> str:
    """Return the labels of an item, A onwards, one per option; DEFAULT_LABELS where the options are unknown."""
    return ascii_uppercase[: len(choices)] if choices else DEFAULT_LABELS


def gold_label(gold: str, choices: Sequence[str] | None) -> str | None:
    """Return the label that a gold names, as a capital letter; None where it names no option of the item.

    A digit is the label of that option, counted from 1, as some items of ARC have it.
    """
    text = normalise(gold).strip("().").upper()
    if choices and text in ("1", "2", "3", "4", "5", "6", "7", "8", "9"):
        text = ascii_uppercase[int(text) - 1]
    return text if len(text) == 1 and text in label_set(choices) else None


def extract_choice(response: str, choices: Sequence[str] | None = None) -> Choice:
    """Return the option that `response` chooses; a box that names no option is a choice without a label."""
    text = strip_reasoning(response)
    boxed = extract_answer(text).answer
    label = _read_box(boxed, choices) if boxed else None
    if label:
        return Choice(label, boxed, ChoiceMethod.BOX)
    tail = plain_characters(text[-_WINDOW:])
    for find, method in ((_after_cue, ChoiceMethod.CUE), (_in_last_line, ChoiceMethod.LINE)):
        if found := find(tail, choices):
            return Choice(*found, method)
    return Choice(None, boxed, ChoiceMethod.BOX) if boxed else Choice(None, None, ChoiceMethod.NONE)


def _read_box(content: str, choices: Sequence[str] | None) -> str | None:
    if exact := _option_with_text(content, choices):
        return exact
    match = _BOX_LABEL.fullmatch(normalise(content))
    return _as_label(match["label"], choices) if match else None


def _after_cue(text: str, choices: Sequence[str] | None) -> tuple[str, str] | None:
    for cue in reversed(list(_CUE.finditer(text))):
        if match := _AFTER_CUE.match(text, cue.end()):
            written = next(group for group in match.groups() if group)
            label = _as_label(written, choices)
            if label and not (match["bare"] in ("A", "I") and _is_a_word(text, match.end())):
                return label, written
        line = text[cue.end() : cue.end() + _LONGEST_OPTION].partition("\n")[0].strip(" *_.:$\"'")
        if label := _option_with_text(line, choices):
            return label, line
    return None


def _in_last_line(text: str, choices: Sequence[str] | None) -> tuple[str, str] | None:
    line = text.rstrip().rpartition("\n")[2].strip()
    if match := _LABEL_LINE.fullmatch(line):
        label = _as_label(match[1], choices)
        return (label, match[1]) if label else None
    if (match := _LABELLED_LINE.fullmatch(line)) and _option_with_text(match[2], choices) == match[1]:
        return match[1], line
    label = _option_with_text(line.strip(" *_."), choices)
    return (label, line) if label else None


def _is_a_word(text: str, position: int) -> bool:
    follows = _WORD_AFTER.match(text, position)
    return follows is not None and follows[1] not in _GOES_ON_ABOUT_THE_LABEL


def _as_label(written: str, choices: Sequence[str] | None) -> str | None:
    labels = label_set(choices)
    if written.isdecimal():  # a number among numeric options is a value; elsewhere some items number their options
        if not choices or any(isinstance(canonical(choice), Fraction) for choice in choices):
            return _option_with_text(written, choices)
        return labels[int(written) - 1] if 1 <= int(written) <= len(labels) else None
    return written.upper() if written.upper() in labels else None


def _option_with_text(text: str, choices: Sequence[str] | None) -> str | None:
    """Return the label of the one option that says `text`; None where no option or more than one does."""
    wanted = _words(text)
    found = [
        label for label, choice in zip(label_set(choices), choices or (), strict=False) if _words(choice) == wanted
    ]
    return found[0] if wanted and len(found) == 1 else None


def _words(text: str) -> str:
    return normalise(text).casefold().rstrip(".").strip()
