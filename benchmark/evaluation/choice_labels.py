r"""The labels of a multiple-choice item, how they are written, and the texts of its options.

A bare capital is a label only where nothing ties it to a formula or a word: not in `A = 5`, `D-glucose` or `B'`.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from string import ascii_uppercase
from typing import Final

from benchmark.evaluation.equivalence import canonical, normalise, plain_characters

DEFAULT_LABELS: Final = ascii_uppercase[:10]
"""The labels where an item does not list its options: A to J, as many as MMLU-Pro has."""

_BARE: Final = r"(?<![A-Za-z0-9'\\])[A-Z](?![A-Za-z0-9'(]|-\w|\s*[=^_<>*]|\s*[/+]\s*\d)"
_NUMBER: Final = r"\d{1,2}(?![\w%]|[.,/]\d)"
_APART: Final = r"(?<![A-Za-z0-9\\])"  # f(b) and apple) name no option
LABEL: Final = (
    rf"(?:{_APART}(?:\(\s*(?:[A-Za-z]|\d{{1,2}})\s*\)|\[\s*[A-Za-z]\s*\]|(?<!\()(?:[A-Za-z]|\d{{1,2}})\))|"
    rf"{_BARE}|{_NUMBER})"
)
"""A label in clean text: (b), [B], b), B, or the number of an option."""
LETTER: Final = rf"(?:{_APART}(?:\(\s*[A-Za-z]\s*\)|\[\s*[A-Za-z]\s*\]|(?<!\()[A-Za-z]\))|{_BARE})"
"""The same without numbers."""

_UNWRAPPED: Final = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathit|mathsf|operatorname|mbox|boxed|emph)\s*\{([^{}]*)\}"
)
_TYPOGRAPHY: Final = (
    (re.compile(r"\\boxed\s*\{"), " "),  # that nothing closes
    (re.compile("[\u2018\u2019]"), "'"),
    (re.compile('[\u201c\u201d\u201e\u00ab\u00bb"`$]'), ""),
    (re.compile(r"\\[()\[\]]"), ""),
    (re.compile(r"\\[!,;:> ]|\\q?quad(?![A-Za-z])|~"), " "),
    (re.compile(r"\*\*|__|(?<![\w)])\*(?=\S)|(?<=\S)\*(?![\w(])|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)"), ""),
    (re.compile(r"(?<![A-Za-z])'(?=\S)|(?<=\S)'(?![A-Za-z])"), ""),  # not in isn't
)
_NESTED: Final = 3
# After a bare I or A: words that go on about the label, not about a sentence that begins with the word.
_WORD_AFTER: Final = re.compile(r"\s+([a-z]+)")
_GOES_ON_ABOUT_THE_LABEL: Final = frozenset(
    (
        "because",
        "since",
        "as",
        "which",
        "is",
        "was",
        "due",
        "and",
        "or",
        "but",
        "not",
        "by",
        "for",
        "from",
        "if",
        "rather",
    )
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


def clean(text: str) -> str:
    r"""Remove what only dresses up a text: quotes, emphasis, dollars, `\text{...}`. Blanks and line breaks stay."""
    text = plain_characters(text)
    for _ in range(_NESTED):
        text = _UNWRAPPED.sub(r" \1", text)
    for pattern, replacement in _TYPOGRAPHY:
        text = pattern.sub(replacement, text)
    return text


def as_label(written: str, choices: Sequence[str] | None) -> str | None:
    """Return what a written label stands for, as a capital letter; None where the item has no such option."""
    labels, bare = label_set(choices), written.strip(" ()[]")
    if bare.isdecimal():  # a number among numeric options is a value; elsewhere some items number their options
        if not choices or any(isinstance(canonical(choice), Fraction) for choice in choices):
            return option_with_text(bare, choices)
        return labels[int(bare) - 1] if 1 <= int(bare) <= len(labels) else None
    return bare.upper() if bare.upper() in labels else None


def is_a_word(written: str, text: str, end: int) -> bool:
    """Say whether a bare A or I, which ends at a position of a text, is the article or the pronoun."""
    if written not in ("A", "I"):
        return False
    follows = _WORD_AFTER.match(text, end)
    return follows is not None and follows[1] not in _GOES_ON_ABOUT_THE_LABEL


def option_with_text(text: str, choices: Sequence[str] | None) -> str | None:
    """Return the label of the one option that says `text`; None where no option or more than one does."""
    wanted = _words(text)
    found = [
        label for label, choice in zip(label_set(choices), choices or (), strict=False) if _words(choice) == wanted
    ]
    return found[0] if wanted and len(found) == 1 else None


def _words(text: str) -> str:
    return normalise(clean(text)).casefold().rstrip(".").strip()
