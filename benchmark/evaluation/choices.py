r"""Find the option that a response to a multiple-choice question chooses.

A choice is read, in this order: from the last box, from the last phrase that announces one (`choice_cues`), from a
last line that is a label or the text of one option, from a first line that is nothing but a label. The labels are
those of the item, so that `J` is no answer to a question with four options. Nothing is guessed: official harnesses
draw a random letter where they find none, which scores 10% for silence.

Trade-off taken: precision before recall. A bare capital counts only where a label is expected, because `I` and `A`
are words; what follows a label in a box must be the text of that option; a response that names several options, or
argues about all and chooses none, has no answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from benchmark.evaluation.choice_cues import announced_choice, names_another
from benchmark.evaluation.choice_labels import (
    DEFAULT_LABELS,
    as_label,
    clean,
    gold_label,
    is_a_word,
    label_set,
    option_with_text,
)
from benchmark.evaluation.extract import extract_answer, strip_reasoning

__all__ = ["DEFAULT_LABELS", "Choice", "ChoiceMethod", "extract_choice", "gold_label", "label_set"]


class ChoiceMethod(StrEnum):
    """Where a choice was found."""

    BOX = "choice_box"
    """In the last box."""
    CUE = "choice_cue"
    """In a phrase that announces the answer."""
    LINE = "choice_line"
    """In a line of its own: the last, or the first."""
    NONE = "none"
    """Nowhere."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The label of the chosen option, as a capital letter, what was read, and where."""

    label: str | None
    text: str | None
    method: ChoiceMethod


_WINDOW: Final = 20_000  # characters from the end in which phrases are looked for
_LONGEST_BOX: Final = 2000
_IN_BOX: Final = re.compile(
    r"\s*(?:(?:the\s+)?(?:(?:final|correct|best)\s+)*(?:option|choice|answer)\b\s*(?:is\b)?\s*:?\s*)?"
    r"(?P<label>\(\s*(?:[A-Za-z]|\d{1,2})\s*\)|\[\s*[A-Za-z]\s*\]|(?:[A-Za-z]|\d{1,2})(?![A-Za-z0-9'])\)?)"
    r"(?P<tail>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TAIL: Final = re.compile(r"\s*(?:[.:),-]|--)?\s*(?P<text>.*?)[\s.]*", re.DOTALL)
_OTHER_LABEL: Final = re.compile(r"(?<![A-Za-z0-9'\\])[A-Z](?![A-Za-z0-9'])")
_DENIAL: Final = re.compile(r"\b(?:not|wrong|incorrect|false|neither|never|or)\b|n't", re.IGNORECASE)
_LABEL_LINE: Final = re.compile(r"[\s(\[]*([A-Z])[\s)\].:]*")
_LABELLED_LINE: Final = re.compile(r"[\s(\[]*([A-Z])\s*[).:\]]\s*(.+?)\s*")


def extract_choice(response: str, choices: Sequence[str] | None = None) -> Choice:
    """Return the option that `response` chooses; a box that names no option is a choice without a label."""
    text = strip_reasoning(response)
    boxed = extract_answer(text).answer
    nothing = Choice(None, boxed, ChoiceMethod.BOX) if boxed else Choice(None, None, ChoiceMethod.NONE)
    if boxed:
        label, several = _read_box(boxed, choices)
        if label or several:
            return Choice(label, boxed, ChoiceMethod.BOX)
    tail = clean(text[-_WINDOW:])
    announced = announced_choice(tail, choices)
    if announced is not None:
        label, written = announced
        return Choice(label, written, ChoiceMethod.CUE) if label else nothing
    line = _in_last_line(tail, choices) or _in_first_line(clean(text[:_WINDOW]), choices)
    return Choice(*line, ChoiceMethod.LINE) if line else nothing


def _read_box(content: str, choices: Sequence[str] | None) -> tuple[str | None, bool]:
    """Return the label that a box names, and whether it names several instead."""
    if len(content) > _LONGEST_BOX:
        return option_with_text(content, choices), False
    text = clean(content).strip()
    match = _IN_BOX.fullmatch(text)
    label = as_label(match["label"], choices) if match else None
    tail = match["tail"] if match else ""
    lone = not tail.strip(" .")
    if not (label and lone) and (exact := option_with_text(content, choices)):
        return exact, False
    if match is None or label is None or lone:
        return label, False
    end = match.end("label")
    if names_another(match["label"], text, end) or _mentions_another(label, text, end):
        return None, True
    return (label if _may_follow(label, match, choices) else None), False


def _mentions_another(label: str, text: str, end: int) -> bool:
    """Say whether a capital that stands for another option follows, wherever in the box."""
    return any(
        found[0] != label and not is_a_word(found[0], text, found.end()) for found in _OTHER_LABEL.finditer(text, end)
    )


def _may_follow(label: str, match: re.Match[str], choices: Sequence[str] | None) -> bool:
    """Say whether what follows a label in a box belongs to it: the text of its option, where that is known."""
    tail = _TAIL.fullmatch(match["tail"])
    apart = match["label"].endswith((")", "]")) or match["tail"].lstrip()[:1] in (".", ":", ")", ",", "-", "(")
    if tail is None or not apart:
        return False
    if choices:
        inner = tail["text"]
        return label in (option_with_text(inner, choices), option_with_text(inner.strip("()[] "), choices))
    return _DENIAL.search(tail["text"]) is None


def _in_last_line(text: str, choices: Sequence[str] | None) -> tuple[str, str] | None:
    line = text.rstrip().rpartition("\n")[2].strip()
    if match := _LABEL_LINE.fullmatch(line):
        label = as_label(match[1], choices)
        return (label, match[1]) if label else None
    if (match := _LABELLED_LINE.fullmatch(line)) and option_with_text(match[2], choices) == match[1]:
        return match[1], line
    label = option_with_text(line, choices)
    return (label, line) if label else None


def _in_first_line(text: str, choices: Sequence[str] | None) -> tuple[str, str] | None:
    """Read a first line that is a label, unless another line is one too."""
    labels = [match[1] for line in text.strip().split("\n") if (match := _LABEL_LINE.fullmatch(line))]
    first = _LABEL_LINE.fullmatch(text.strip().partition("\n")[0])
    if first is None or len(labels) > 1 or (label := as_label(first[1], choices)) is None:
        return None
    return label, first[1]
