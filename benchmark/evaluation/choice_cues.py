r"""Find the phrase that announces a choice in prose: "the answer is (b)", "Thus, (B) is the answer.", "I choose B.".

The last announcement decides. One that names several options ("A or B") chooses none of them. One that is denied or
asked ("I doubt the answer is A", "A? No.") takes its option back, and chooses another only where it says so at once
("it is B"). One that is only supposed ("If the answer is B, ...") is none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmark.evaluation.choice_labels import LABEL, LETTER, as_label, is_a_word, option_with_text
from benchmark.evaluation.governing_words import REACH, is_denied, is_supposed

_LABEL: Final = re.compile(LABEL)
_AROUND: Final = " *_.:;$\"',"
_BRACKETS: Final = " ()[].:"
_AFTER_LABEL: Final = " .:)-"
_SLACK: Final = 40  # characters of a line beyond twice the longest option
_GAP = r"[^\S\n]*"
_NOUN = r"(?:answer|choice|option)"
_SURELY = (
    r"(?:(?:therefore|thus|hence|then|indeed|definitely|clearly|likely|probably|most\s+likely|still|simply|obviously|"
    r"certainly|only)[,\s]+)*"
)
_ENDS = rf"(?={_GAP}(?:[.,;:!)\n]|$|because\b|since\b|as\b|for\b|due\b|and\b|here\b))"

_ANSWER_IS: Final = re.compile(
    rf"\b(?:(?:final|correct|right|best)\s+)*{_NOUN}\b(?:\s+(?:choice|option|letter))?\s*"
    r"(?:(?:is|was|would\s+be|must\s+be|should\s+be)(?P<denied>n't|\s+(?:\w+ly\s+)?(?:not|never)\b)?(?![A-Za-z])|"
    rf"[:=]|\s-|-\s)[\s:]*{_SURELY}(?:(?:the\s+)?(?:option|choice|letter)\b[\s:]*)?",
    re.IGNORECASE,
)
_SEVERAL: Final = re.compile(r"(?:either|both|neither|between|one\s+of|among)\b", re.IGNORECASE)
_IS_THE_ANSWER: Final = re.compile(
    rf"(?:(?i:the\s+)?(?i:option|choice|answer|letter)\s+)?(?P<label>{LETTER}){_GAP}\s(?i:is\s+{_SURELY}"
    rf"(?:(?:the|our|my)\s+(?:(?:final|correct|right|best)\s+)*(?P<strong>{_NOUN})|(?:correct|right)))\b{_ENDS}"
)
_STANDS_ALONE: Final = re.compile(
    r"(?:^|[.,;:!?(\n]|\b(?:so|thus|hence|therefore|that|only|then|think|believe|conclude|say))\s*\Z", re.IGNORECASE
)
_I_CHOOSE: Final = re.compile(
    r"\b(?i:(?:I|we)(?:\s+(?:would|will|must|can|shall|should|therefore|thus|hence|then|finally)|'(?:ll|d))*\s+"
    r"(?:choose|select|pick|chose|selected|picked|go\s+with|opt\s+for)\s+(?:(?:the\s+)?(?:option|choice|answer|letter)\b)?)"
    rf"[\s:]*(?P<label>{LETTER}){_ENDS}"
)
_THEREFORE: Final = re.compile(
    r"\b(?i:(?:therefore|thus|hence|consequently|so)[,:]?\s+(?:it(?:'s|\s+is|\s+must\s+be)\s+)?(?:(?:option|choice)\s+)?)"
    rf"(?P<label>{LETTER}){_GAP}[.!]?{_GAP}(?=\n|$)"
)
_CORRECTION: Final = re.compile(
    r"[\s,;.?!-]*(?i:no\b[\s,;.!]*)?"
    r"(?i:(?:but|rather|instead)\b[\s,]*(?:(?:rather|instead)\b[\s,]*)?(?:it(?:'s|\s+is)\s+)?|it(?:'s|\s+is|\s+must\s+be)\s+)"
    rf"(?i:(?:rather|instead|actually)\s+)?(?i:(?:option|choice)\s+)?(?P<label>{LETTER}){_ENDS}"
)

_DENIED_AFTER: Final = re.compile(
    rf"{_GAP}(?:\?|,?{_GAP}(?:which\s+)?(?:is|was|seems)(?:n't|\s+(?:not|wrong|incorrect|false|impossible))\b|(?:cannot|can't)\b)"
)
_JOINED = (
    rf"{_GAP}(?:(?:[,;/&+-]|(?:and/or|or|and|nor|to|through|as\s+well\s+as)\b){_GAP})+"
    r"(?:(?:option|choice|else|possibly|maybe|perhaps)\s+)?"
)
_STOP = r"(?:because|since|as|is|are|while|but|for|due|which)\b"  # after these the label is talked about
_RULED_OUT = (
    rf"(?:{_GAP}(?:,|and\b|or\b){_GAP}{LETTER})*{_GAP}(?:is|are|was|were|being)\s+"
    r"(?:not|wrong|incorrect|false|impossible|out|excluded|ruled)\b"
)
_ANOTHER: Final = re.compile(
    rf"(?:{_JOINED}(?P<joined>{LETTER})(?!{_RULED_OUT})|[.:](?P<touching>[A-Z])(?![A-Za-z0-9'])|{_GAP}(?P<bracketed>\([A-Za-z]\)|\[[A-Z]\])|"
    rf"[.:)]?(?:{_GAP}(?!{_STOP})[^\s.]+){{1,6}}?{_GAP}\b(?:and|or){_GAP}(?P<with_text>\([A-Za-z]\)|[A-Z][.):](?=\s)))"
)
_ANOTHER_NUMBER: Final = re.compile(rf"{_JOINED}\(?\d{{1,2}}\b")
_ONEREACH: Final = re.compile(rf"{LETTER}{_JOINED}\Z")


@dataclass(frozen=True, slots=True)
class _Announcement:
    """A phrase that may choose: where it begins, what it names, and where that ends."""

    begin: int
    end: int
    label: str | None
    written: str
    denied: bool = False
    several: bool = False  # names more than one option
    weak: bool = False  # "B is correct", which may be said of several options one after the other


def announced_choice(text: str, choices: Sequence[str] | None) -> tuple[str | None, str] | None:
    """Return the label that the last announcement of a clean text chooses, and what was read.

    The label is None where that announcement takes a choice back or names several; the result is None where nothing
    is announced.
    """
    denied: set[str] = set()
    weak: dict[str, str] = {}
    for said in sorted(_announcements(text, choices), key=lambda one: one.end, reverse=True):
        if is_supposed(text, said.begin):
            continue
        if said.several or said.label is None:
            return None, said.written
        if said.denied or is_denied(text, said.begin) or _DENIED_AFTER.match(text, said.end):
            if (correction := _correction(text, said.end, choices)) is not None:
                return correction
            denied.add(said.label)
        elif said.label in denied:
            return None, said.written
        elif said.weak:
            weak.setdefault(said.label, said.written)
        else:
            return _unless_several(weak or {said.label: said.written})
    if weak:
        return _unless_several(weak)
    return (None, "") if denied else None


def names_another(written: str, text: str, end: int) -> bool:
    """Say whether another label follows the one that ends at a position of a clean text, as in "A or B"."""
    if (match := _ANOTHER.match(text, end)) is not None:
        other = next(group for group in match.groups() if group)
        if other.strip(_BRACKETS).upper() == written.strip(_BRACKETS).upper():  # the same again
            return names_another(written, text, match.end())
        return not is_a_word(other, text, match.end())
    return written.strip(" ()").isdecimal() and _ANOTHER_NUMBER.match(text, end) is not None


def _unless_several(called: dict[str, str]) -> tuple[str | None, str]:
    """Choose the option that was called correct last, unless several were; `called` maps labels to what was read."""
    label, written = next(iter(called.items()))
    return (label if len(called) == 1 else None), written


def _announcements(text: str, choices: Sequence[str] | None) -> Iterator[_Announcement]:
    for cue in _ANSWER_IS.finditer(text):
        if (said := _after_cue(text, cue, choices)) is not None:
            yield said
    for match in _IS_THE_ANSWER.finditer(text):
        before = text[max(0, match.start() - REACH) : match.start()]
        several = _ONEREACH.search(before) is not None
        if several or _STANDS_ALONE.search(before):
            yield from _named(text, match, choices, several, weak=not match["strong"])
    for pattern in (_I_CHOOSE, _THEREFORE):
        for match in pattern.finditer(text):
            yield from _named(text, match, choices)


def _named(
    text: str, match: re.Match[str], choices: Sequence[str] | None, several: bool = False, weak: bool = False
) -> Iterator[_Announcement]:
    if label := as_label(match["label"], choices):
        several = several or names_another(match["label"], text, match.end("label"))
        yield _Announcement(match.start(), match.end(), label, match["label"], several=several, weak=weak)


def _after_cue(text: str, cue: re.Match[str], choices: Sequence[str] | None) -> _Announcement | None:
    """Read what follows "the answer is": a label, several, or the text of an option; None for anything else."""
    begin, start, denied = cue.start(), cue.end(), cue["denied"] is not None
    if (several := _SEVERAL.match(text, start)) is not None:
        return _Announcement(begin, several.end(), None, several[0], several=True)
    match = _LABEL.match(text, start)
    label = as_label(match[0], choices) if match and not is_a_word(match[0], text, match.end()) else None
    if match and label:
        meant = _text_of_line(text, match.end(), choices)  # "B) green" names its option twice
        several_named = meant is None and names_another(match[0], text, match.end())
        return _Announcement(
            begin, match.end(), label, match[0], denied, several=several_named or meant not in (None, label)
        )
    if (meant := _text_of_line(text, start, choices)) is not None:
        line = text[start:].partition("\n")[0].strip(_AROUND).lstrip(_AFTER_LABEL)
        return _Announcement(begin, start + len(line), meant, line, denied)
    return None


def _text_of_line(text: str, start: int, choices: Sequence[str] | None) -> str | None:
    """Return the label of the option whose text stands from a position to the end of the line."""
    if not choices:
        return None
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if end - start > 2 * max(map(len, choices)) + _SLACK:
        return None
    return option_with_text(text[start:end].strip(_AROUND).lstrip(_AFTER_LABEL), choices)


def _correction(text: str, end: int, choices: Sequence[str] | None) -> tuple[str | None, str] | None:
    """Return what is chosen right after a denial: "A? No. It is B."."""
    denial = _DENIED_AFTER.match(text, end)
    match = _CORRECTION.match(text, denial.end() if denial else end)
    if match is None or (label := as_label(match["label"], choices)) is None:
        return None
    several = names_another(match["label"], text, match.end("label"))
    return (None if several else label), match["label"]
