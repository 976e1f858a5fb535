r"""Read the answer that a response without a box states in a sentence: "The answer is 5 or 6.".

An expression is read to its end or not at all: part of one is another answer (`3x+1` is not 3), and so is a number
whose next words change it. Words behind a number go with it as `\text{...}`, so that the comparison judges them like
any unit. Nothing is read from a sentence that denies, asks, or only bounds ("at least 12").
"""

import re
from dataclasses import dataclass
from typing import Final

from benchmark.evaluation.governing_words import is_denied, is_supposed

WINDOW: Final = 20_000
"""Characters from the end in which statements are looked for; many times the longest formula that is read."""

_LONGEST_FORMULA: Final = 200
_LONGEST_SENTENCE: Final = 2000
_MOST_WORDS: Final = 4  # behind a number

_CUE: Final = re.compile(r"answer\b[\s*_]*(?:is(?:n't)?|are(?:n't)?|:|=|was)(?![A-Za-z])[\s*_:]*", re.IGNORECASE)
_FILLERS: Final = re.compile(
    r"(?:(?:approximately|about|roughly|exactly|simply|just|therefore|thus|indeed|clearly|equal\s+to|given\s+by)\b[\s:,]*)*",
    re.IGNORECASE,
)
_NO_STATEMENT: Final = re.compile(
    r"n't\b|\b(?:not|never|neither|nor|cannot|unable|unsure|unclear|impossible|fail(?:s|ed)?|guess|maybe|perhaps|sorry|if|"
    r"between|either|at\s+(?:least|most)|(?:more|less|fewer|greater|larger|smaller|higher|lower)\s+than|over|under)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])(?=\s)|\n+")
_WHOLE: Final = re.compile(r"(?:\\[A-Za-z]+|[^A-Za-z\n?:#]|:(?=\S)|(?<![A-Za-z])[A-Za-z](?![A-Za-z]))+")
_EMPHASIS: Final = re.compile(r"(?<![\w)])(?:\*\*|__)|(?:\*\*|__)(?![\w(])|`")
_DELIMITED = r"\$\$[^$]{1,400}\$\$|\$[^$\n]{1,400}\$|\\\((?:(?!\\\)).){1,400}\\\)|\\\[(?:(?!\\\]).){1,400}\\\]"
_BROKEN_LINES: Final = re.compile(_DELIMITED, re.DOTALL)
_SAYS_SOMETHING: Final = re.compile("[\\dA-Za-z\u221a\u03c0\u221e]")  # not <| of a template
_DELIMITERS: Final = re.compile(r"\$\$?|\\[()\[\]]")
_FUNCTIONS = r"(?:sqrt|log|ln|a?r?c?sin|a?r?c?cos|a?r?c?tan|cot|sec|csc|exp|pi|abs|max|min|gcd|lcm|mod|infinity)"
_ARTICLE = r"[aAI](?=\s+[a-z]{2})"  # or pronoun
_ATOM: Final = re.compile(
    rf"{_DELIMITED}|\\\$|\$(?=\s*[\d.])|\\[A-Za-z]+|\\[{{}}%,;! ]|(?<![A-Za-z]){_FUNCTIONS}(?![A-Za-z])|"
    rf"(?<![A-Za-z])(?!{_ARTICLE})[A-Za-z](?![A-Za-z'])|\d+(?:[.,]\d+)*|\.\d+|(?<=\d)[A-Za-z]+|"
    r"(?<=[\w)\]}])!+|:(?=\S)|[^\sA-Za-z\d.,;:?!$\\\"'*#]|\*(?=\S)",
    re.DOTALL,
)
_STARTS: Final = re.compile(rf"(?<![\w.,)\]}}])(?={_ATOM.pattern})", re.DOTALL)
_BLANKS: Final = re.compile(r"[^\S\n]*")
_JOINT: Final = re.compile(
    rf"[^\S\n]*(?:[,;](?:[^\S\n]*(?:and|or)\b)?|\b(?:and|or)\b)[^\S\n]*(?=(?!{_ARTICLE})(?:{_DELIMITED}|[-+\d(\[{{\\$√]|[A-Za-z](?![A-Za-z])))",
    re.DOTALL,
)
_WORD: Final = re.compile(r"[^\S\n]+([A-Za-z][A-Za-z'-]*)")
_GOES_ON: Final = re.compile(  # about the answer, which has ended
    r"[^\S\n]+(?:because|since|as|so|which|who|where|when|given|due|by|therefore|thus|hence|considering|after|for|on|with|"
    r"from|that|but|is|are|was|were|has|have|will|and|in(?!\s+base))\b",
    re.IGNORECASE,
)
_NUMERIC: Final = re.compile(r"[-+\d.,/ ()]*\d[\d.,/ ()]*")
_PERCENT: Final = re.compile(r"(?:percent|pct|per cent)", re.IGNORECASE)
_DANGLING: Final = " ,;:([{*_"
_OPERATORS: Final = ("+", "-", "*", "/", "^", "=", "<", ">", "\\times", "\\cdot", "\\pm")


@dataclass(frozen=True, slots=True)
class _Reading:
    """What stands at a place: an expression, or None where nothing may be read; and where it ends."""

    answer: str | None
    end: int


def stated_answer(text: str) -> str | None:
    """Return the answer that a text without a readable box states; None where there is none.

    In this order: a text that is nothing but a formula; what follows the last "the answer is"; the last formula or
    number of the text.
    """
    if "\\boxed" in text or "\\fbox" in text:  # meant to hold the answer, and cut or empty
        return None
    if len(text) <= _LONGEST_FORMULA and _WHOLE.fullmatch(text.strip()):
        return text.strip()
    text = _EMPHASIS.sub("", text[-WINDOW:])
    text = _BROKEN_LINES.sub(lambda formula: formula[0].replace("\n", " "), text)
    for cue in reversed(list(_CUE.finditer(text))):
        if is_supposed(text, cue.start()):
            continue
        if is_denied(text, cue.start()) or "n't" in cue[0]:
            return None
        if (found := _after_cue(text, cue.end())) is not None:
            return found.answer
    return _in_last_sentence(text)


def _after_cue(text: str, start: int) -> _Reading | None:
    """Read the rest of the sentence; None where it holds no expression."""
    fillers = _FILLERS.match(text, start)
    start = fillers.end() if fillers else start
    if _NO_STATEMENT.match(text, start):
        return _Reading(None, start)
    if _STARTS.match(text, start):
        return _read(text, start)
    return _last_in(text, start, _sentence_end(text, start))


def _in_last_sentence(text: str) -> str | None:
    """Read the last expression of the last sentence that has one."""
    bounds = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    for start, end in zip(reversed(bounds[:-1]), reversed(bounds[1:]), strict=True):
        if (found := _last_in(text, max(start, end - _LONGEST_SENTENCE), end)) is not None:
            return found.answer
    return None


def _last_in(text: str, start: int, end: int) -> _Reading | None:
    last, place = None, start
    while (match := _STARTS.search(text, place, end)) is not None and match.start() < end:
        found = _read(text, match.start())
        place = max(found.end, match.start() + 1)
        last = found if _SAYS_SOMETHING.search(text, match.start(), place) else last
    if last is not None and (_NO_STATEMENT.search(text, start, end) or text[start:end].rstrip().endswith("?")):
        return _Reading(None, end)
    return last


def _sentence_end(text: str, start: int) -> int:
    match = _SENTENCE_END.search(text, start, start + _LONGEST_SENTENCE)
    return match.start() if match else min(len(text), start + _LONGEST_SENTENCE)


def _read(text: str, start: int) -> _Reading:
    """Read the expression at a position to its end, with the words that belong to it."""
    pieces: list[str] = []
    end, delimited = start, False
    while True:
        joint = _JOINT.match(text, end) if pieces else None
        blanks = _BLANKS.match(text, end)
        place = joint.end() if joint else blanks.end() if blanks else end
        atom = _ATOM.match(text, place)
        if atom is None:
            break
        delimited = delimited or _is_delimited(atom[0])
        pieces.append(text[end:place] + (_undelimited(atom[0]) if _is_delimited(atom[0]) else atom[0]))
        end = atom.end()
    expression = "".join(pieces).strip()
    if text[end : end + 1] == "?":
        return _Reading(None, end)
    bare = _without_dangling(expression)
    cut_short = expression[len(bare) :].strip() not in ("", ")", "(", "[", "{") or bare.endswith(_OPERATORS)
    if not bare or cut_short:
        return _Reading(None, end)
    bare = bare.removeprefix("\\$").removeprefix("$").strip()
    if not delimited:
        bare = _value_of(bare)
    return _with_words(text, bare, end) if _NUMERIC.fullmatch(bare) else _Reading(bare, end)


def _with_words(text: str, number: str, end: int) -> _Reading:
    r"""Take the words behind a number along; "5 of 6" and "5 if x > 0" are no statement of 5."""
    words: list[str] = []
    place = end
    while not _GOES_ON.match(text, place) and (word := _WORD.match(text, place)):
        words.append(word[1])
        place = word.end()
    if words and _STARTS.match(text, _skip_blanks(text, place)) and not _GOES_ON.match(text, place):
        return _Reading(None, place)
    if text[place : place + 1] == "?":
        return _Reading(None, place)
    if not words:
        return _Reading(number, end)
    unit = " ".join(words[:_MOST_WORDS])
    return _Reading(f"{number} {unit}" if _PERCENT.fullmatch(unit) else rf"{number}\text{{ {unit}}}", place)


def _skip_blanks(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return match.end() if match else place


def _is_delimited(atom: str) -> bool:
    return len(atom) > 2 and atom.startswith(("$", "\\(", "\\["))


def _undelimited(atom: str) -> str:
    return _DELIMITERS.sub("", atom).strip()


def _without_dangling(expression: str) -> str:
    """Drop opened brackets and commas at the end, and a bracket that closes what was opened before the expression."""
    bare = expression.rstrip(_DANGLING)
    for opening, closing in ("()", "[]"):
        while bare.endswith(closing) and bare.count(closing) > bare.count(opening):
            bare = bare[:-1].rstrip(_DANGLING)
    return bare


def _value_of(expression: str) -> str:
    """Return what a calculation comes to: 72 in 48 + 24 = 72. An equation with letters stays whole."""
    before, separator, value = expression.rpartition("=")
    calculation = separator and value.strip() and not re.search(r"[A-Za-z\\]", before)
    return value.strip() if calculation else expression
