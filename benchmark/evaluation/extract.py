r"""Find the answer that a response states.

The answer is what stands in the last balanced `\boxed{...}` after the reasoning block, or in the last boxes if they
are listed one after the other, as in `\boxed{3}, \boxed{5} and \boxed{7}`. Nothing else counts unless a benchmark
declares a fallback: a number that happens to stand last in a truncated text is not an answer. One pass with a
stack, no recursion, so that any response takes linear time.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from benchmark.evaluation.statements import stated_answer


class ExtractionMethod(StrEnum):
    r"""How an answer was found."""

    BOXED = "boxed"
    r"""In the last balanced `\boxed{...}` or `\fbox{...}`."""
    BARE_BOX = "bare_box"
    r"""After a `\boxed` without braces, as in `\boxed 25`."""
    LAST_NUMBER = "last_number"
    """The last number of the text, where the benchmark declares that fallback."""
    STATEMENT = "statement"
    """In the last statement of an answer, where the benchmark declares that fallback."""
    NONE = "none"
    """There is no answer."""


class Fallback(StrEnum):
    """What to read where there is no box; declared per benchmark."""

    NONE = "none"
    """Nothing: a response without a box has no answer."""
    LAST_NUMBER = "last_number"
    """The last number of the text."""
    STATEMENT = "statement"
    """What follows the last "answer is" or "answer:", else the last formula or number (see `statements`)."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The stated answer, or None, and how it was found."""

    answer: str | None
    method: ExtractionMethod


_NOTHING: Final = Extraction(None, ExtractionMethod.NONE)
_OPEN_REASONING: Final = "<think>"
_CLOSE_REASONING: Final = "</think>"

# Models also write \\boxed, as if inside a JSON string. Bounded, so that a run of backslashes stays linear.
_BOX = r"\\{1,4}(?:boxed|fbox)(?![A-Za-z])\s*"
_TOKEN: Final = re.compile(rf"(?P<box>{_BOX})(?P<open>\{{)?|\\[\\{{}}]|[{{}}]")
_BARE: Final = re.compile(
    r"[+-]?\d+(?:[.,/]\d+)*|\\(?!boxed|fbox)[A-Za-z]{1,40}(?:\{[^{}]{0,200}\}){0,2}|[A-Za-z](?![A-Za-z])"
)
_LONGEST_GAP: Final = 60
_TYPOGRAPHY = r"(?:\s|\$|\\[()\[\],;!: ]|\\q?quad(?![A-Za-z])|~)*"
_NEXT_IN_LIST: Final = re.compile(
    rf"{_TYPOGRAPHY}(?:[,;]|[,;]?{_TYPOGRAPHY}(?:and|or|\\text\{{\s*,?\s*(?:and|or)\s*\}})){_TYPOGRAPHY}"
    rf"(?:[A-Za-z](?:_\{{?\w+\}}?)?\s*=\s*)?{_TYPOGRAPHY}"
)
_INNER_BOX: Final = re.compile(rf"\s*{_BOX}\{{")
_BLANKS: Final = re.compile(r"\s*")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:/\d+)?")


def extract_answer(text: str, fallback: Fallback = Fallback.NONE) -> Extraction:
    """Return the answer that `text` states, stripped; an empty box is no answer."""
    text = strip_reasoning(text)
    found = _last_box(text)
    if found.answer is not None or fallback is Fallback.NONE:
        return found
    if fallback is Fallback.LAST_NUMBER:
        return _last_number(text)
    stated = stated_answer(text)
    return Extraction(stated, ExtractionMethod.STATEMENT) if stated else _NOTHING


def strip_reasoning(text: str) -> str:
    """Return what follows the reasoning block; a block that never ends hides everything after it."""
    text = text[text.rfind(_CLOSE_REASONING) + len(_CLOSE_REASONING) :] if _CLOSE_REASONING in text else text
    return text.partition(_OPEN_REASONING)[0]


def _last_box(text: str) -> Extraction:
    if "boxed" not in text and "fbox" not in text:
        return _NOTHING
    closed: dict[int, int] = {}  # start of the content of a box -> its end
    boxes: list[tuple[int, int]] = []  # start of a box that holds something, start of its content; as they close
    pending: list[tuple[int, int]] = []  # open braces: the same two positions of a box, or -1, -1
    last, bare = -1, -1  # where the last answer starts: exactly one of them is set, once there is one
    for token in _TOKEN.finditer(text):
        if token["box"]:
            if token["open"]:
                pending.append((token.start(), token.end()))
            elif _BARE.match(text, token.end()):
                last, bare = -1, token.end()
        elif token[0] == "{":
            pending.append((-1, -1))
        elif token[0] == "}" and pending:
            begin, start = pending.pop()
            if start >= 0:
                closed[start] = token.start()
                if not _BLANKS.fullmatch(text, start, token.start()):
                    last, bare = start, -1
                    boxes.append((begin, start))
    if last >= 0:
        contents = [_content(text, start, closed) for start in _listed(text, boxes, closed)]
        return Extraction(", ".join(contents), ExtractionMethod.BOXED) if contents[-1] else _NOTHING
    match = _BARE.match(text, bare) if bare >= 0 else None
    return Extraction(match[0], ExtractionMethod.BARE_BOX) if match else _NOTHING


def _listed(text: str, boxes: list[tuple[int, int]], closed: dict[int, int]) -> list[int]:
    """Return where the content of the last box starts, after those of the boxes that it ends a list of."""
    begin, start = boxes[-1]
    found = [start]
    for earlier_begin, earlier in reversed(boxes[:-1]):
        gap = begin - closed[earlier] - 1
        if not 0 < gap <= _LONGEST_GAP or not _NEXT_IN_LIST.fullmatch(text, closed[earlier] + 1, begin):
            break
        found.append(earlier)
        begin = earlier_begin
    return found[::-1]


def _content(text: str, start: int, closed: dict[int, int]) -> str:
    start, end = _innermost(text, start, closed)
    return text[start:end].strip()


def _innermost(text: str, start: int, closed: dict[int, int]) -> tuple[int, int]:
    r"""Unwrap a box whose whole content is a box, as in `\boxed{\boxed{5}}`."""
    end = closed[start]
    while inner := _INNER_BOX.match(text, start, end):
        inner_end = closed.get(inner.end())
        if inner_end is None or not _BLANKS.fullmatch(text, inner_end + 1, end):
            break
        start, end = inner.end(), inner_end
    return start, end


def _last_number(text: str) -> Extraction:
    last = None
    for match in _NUMBER.finditer(text):
        last = match
    return Extraction(last[0], ExtractionMethod.LAST_NUMBER) if last else _NOTHING
