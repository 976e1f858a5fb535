r"""When two answers are the same answer.

Every answer has one canonical value: a Fraction where its text is an exact number, else its
normalised text. Two answers are the same when their canonical values are equal, which makes "same"
an equivalence relation by construction, so that answers can be grouped by hashing.

What this does not do: algebra (`9a+11` and `11+9a` differ), tolerance (`3.14` is not `\pi`), units
(`5 cm` is not `5`) and percentages (`28\%` is neither `28` nor `0.28`). Those are judged against a gold only, by
`benchmark.evaluation.symbolic`, which merges more answers and never takes a decision of this module back. Votes
and rewards of training stay here, where "same" is transitive and takes microseconds.
"""

import re
import unicodedata
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

Canonical: TypeAlias = Fraction | str

MAX_LENGTH: Final = 2000
"""Longer answers are compared as they stand; it also keeps every number below Python's limit of 4300 digits."""
_MAX_PASSES: Final = 16
_MEMO_SIZE: Final = 1 << 16
_MEMORABLE: Final = 500  # longer answers are not remembered: a response of a megabyte is one of many


class Layer(StrEnum):
    """What decided whether two answers are the same."""

    TEXT = "text"
    """Their normalised texts."""
    RATIONAL = "rational"
    """Their exact values as rational numbers."""


_MINUS_SIGNS: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_DELIMITERS: Final = (
    re.compile(r"\$+([^$]*)\$+"),
    re.compile(r"\\\((.*)\\\)", re.DOTALL),
    re.compile(r"\\\[(.*)\\\]", re.DOTALL),
)
# A list of numbers whose blanks are all that tells it from one number with thousands separators.
_BLANK_SEPARATED_LIST: Final = re.compile(r"[+-]?\d{1,3}(?:,\s+\d{3})+")
_THOUSANDS: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")

_TEXT_COMMAND = r"\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathit|mathsf|operatorname|mbox|hbox)"
_REWRITES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (_TEXT_COMMAND + r"\s*\{([^{}]*)\}", r"\1"),
        (r"\\(?:displaystyle|textstyle|limits|left\s*\.|right\s*\.|left|right)(?![A-Za-z])", ""),
        (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
        (r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}"),
        (r"\\frac\s*(\d)\s*\{", r"\\frac{\1}{"),
        (r"\\frac\s*(\{[^{}]*\})\s*(\d)", r"\\frac\1{\2}"),
        (r"(?<=\d)(?:,\s*\\[!,]|\{,\}|\\,)\s*(?=\d{3}(?!\d))", ","),  # 1,\!234  1{,}234  1\,234
        (r"\\[!,;:> ]|\\q?quad(?![A-Za-z])|~", " "),
        (r"\\sqrt(?:(\d)|\s+(\w))", r"\\sqrt{\1\2}"),
        (r"\\%", "%"),
        (r"^\\?\$(?=\s*[\d.+-])", ""),  # currency
        (r"(?<!\.)\.$", ""),  # full stop of a sentence
        (r"([\^_])\s*\{\s*(\w)\s*\}", r"\1\2"),
    )
)
_DEGREE_SIGN: Final = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])|\u00b0")
_OF_AN_ANGLE: Final = re.compile(r"(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)")
# A blank carries meaning between two digits (mixed numbers) and between two letters (words, \pi r).
_IDLE_BLANKS: Final = re.compile(
    r"(?<![0-9A-Za-z])\s+|\s+(?![0-9A-Za-z])|(?<=\d)\s+(?=[A-Za-z])|(?<=[A-Za-z])\s+(?=\d)"
)

_PLAIN_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_UNSIGNED = r"(?:\d+\.?\d*|\.\d+)"
_DECIMAL: Final = re.compile(
    rf"([+-]?{_UNSIGNED})(?:[eE]([+-]?\d{{1,3}})|(?:\\times|\\cdot|\*)10\^(?:([+-]?\d)|\{{([+-]?\d{{1,3}})\}}))?"
)
_RATIO: Final = re.compile(
    rf"([+-]?)(?:({_UNSIGNED})/({_UNSIGNED})|\\frac\{{([+-]?{_UNSIGNED})\}}\{{([+-]?{_UNSIGNED})\}})"
)
_MIXED: Final = re.compile(r"([+-]?)(\d+)(?: (\d+)/(\d+)|\\frac\{(\d+)\}\{(\d+)\})")


def normalise(answer: str | None) -> str:
    """Return the answer as plain text without typography; empty where there is no answer.

    Removes what never distinguishes two answers (Unicode variants, delimiters, `\\text`, thousands separators, degree
    signs outside functions of angles, currency, idle blanks). Idempotent. Answers longer than MAX_LENGTH are only
    stripped.
    """
    if not answer:
        return ""
    return _normalise(answer) if len(answer) <= _MEMORABLE else _normalise.__wrapped__(answer)


def canonical(answer: str | None) -> Canonical | None:
    """Return the value that stands for all answers that are the same as this one.

    A Fraction where the text is a number, else the normalised text; None where there is no answer.
    """
    if not answer:
        return None
    return _canonical(answer) if len(answer) <= _MEMORABLE else _canonical.__wrapped__(answer)


def same(a: str | None, b: str | None) -> bool:
    """Say whether two answers are the same; a missing or empty answer is the same as nothing, itself included."""
    value = canonical(a)
    return value is not None and value == canonical(b)


def deciding_layer(a: str, b: str) -> Layer:
    """Name what decides whether two answers are the same."""
    if normalise(a) == normalise(b):
        return Layer.TEXT
    numbers = isinstance(canonical(a), Fraction) and isinstance(canonical(b), Fraction)
    return Layer.RATIONAL if numbers else Layer.TEXT


@lru_cache(maxsize=_MEMO_SIZE)
def _canonical(answer: str) -> Canonical | None:
    text = normalise(answer)
    number = _as_number(text)
    return number if number is not None else text or None


@lru_cache(maxsize=_MEMO_SIZE)
def _normalise(answer: str) -> str:
    text = start = answer.strip()
    if len(start) > MAX_LENGTH or _PLAIN_NUMBER.fullmatch(start):
        return start
    for _ in range(_MAX_PASSES):
        rewritten = _rewrite_once(text)
        if rewritten == text:
            return text
        text = rewritten
    return start  # no fixed point: leaving it alone keeps the function idempotent


def _rewrite_once(text: str) -> str:
    text = _strip_delimiters(plain_characters(text).strip())
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    if "circ" in text or "degree" in text or "\u00b0" in text:  # in an argument it says what the number means
        text = _DEGREE_SIGN.sub(r"^{\\circ}" if _OF_AN_ANGLE.search(text) else "", text)
    text = text.strip()
    if _BLANK_SEPARATED_LIST.fullmatch(text):
        return re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+", " ", _IDLE_BLANKS.sub("", text))
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def plain_characters(text: str) -> str:
    """Return `text` with ASCII digits, minus signs, fractions and powers in place of their Unicode variants."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", "".join(map(_unfold, text))).translate(_MINUS_SIGNS)


def _unfold(char: str) -> str:
    """Spell out what NFKC would flatten into a different value: 2½ is not 21/2, 5² is not 52."""
    decimal = unicodedata.decimal(char, None)
    if decimal is not None:
        return str(decimal)
    if unicodedata.category(char) == "Cf":  # zero-width marks
        return ""
    kind, _, rest = unicodedata.decomposition(char).partition(" ")
    if kind == "<fraction>":
        return " " + "".join(chr(int(code, 16)) for code in rest.split()).replace("\u2044", "/")
    if kind in ("<super>", "<sub>"):
        inner = "".join(chr(int(code, 16)) for code in rest.split())
        return ("^{" if kind == "<super>" else "_{") + inner + "}"
    return "/" if char == "\u2044" else char


def _strip_delimiters(text: str) -> str:
    for pattern in _DELIMITERS:
        match = pattern.fullmatch(text)
        if match:
            return match[1].strip()
    if (box := _BOX.match(text)) and _is_one_group(text[box.end() :]):
        text = text[box.end() :]
    return text[1:-1].strip() if _is_one_group(text) else text


def _is_one_group(text: str) -> bool:
    """Say whether one pair of braces encloses the whole text."""
    if not (text.startswith("{") and text.endswith("}")):
        return False
    depth = 0
    for position, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return position == len(text) - 1
    return False


def _as_number(text: str) -> Fraction | None:
    """Read a whole text as an exact number: integer, decimal, scientific, ratio or mixed number."""
    if len(text) > MAX_LENGTH:
        return None
    if match := _DECIMAL.fullmatch(text):
        exponent = int(match[2] or match[3] or match[4] or 0)
        return Fraction(match[1]) * Fraction(10) ** exponent
    if match := _RATIO.fullmatch(text):
        numerator, denominator = Fraction(match[2] or match[4]), Fraction(match[3] or match[5])
        return _signed(match[1], numerator / denominator) if denominator else None
    if match := _MIXED.fullmatch(text):
        whole, top, bottom = int(match[2]), int(match[3] or match[5]), int(match[4] or match[6])
        # 2\frac{7}{3} is a product to some and a mixed number to others: only a proper fraction is read
        return _signed(match[1], whole + Fraction(top, bottom)) if top < bottom else None
    return None


def _signed(sign: str, value: Fraction) -> Fraction:
    return -value if sign == "-" else value
