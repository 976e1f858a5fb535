"""The commands `venus grade` and `venus vote`: judge and count answers that come from elsewhere, as JSON lines.

A file is read and checked as a whole before anything is printed, so that a mistake in line 9,000 costs nothing; the
price is that the file has to fit into memory. Output is one JSON record per line, in the order of the input, and the
same for the same input: times are left out.

A line of `grade` may hold, beside gold and response: kind (math or multiple_choice), choices (the options), tolerance
(an absolute error), finish_reason (stop or length) and id. Without a kind, a line with choices is multiple choice, and
so is one whose gold is a single capital from A to J; every other line is mathematics. What is the same answer is
listed in `benchmark.evaluation.policy`. Other fields are ignored, unless they look like one of these misspelt.
"""

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from benchmark.errors import DataError, unknown_name
from benchmark.evaluation.choices import DEFAULT_LABELS
from benchmark.evaluation.extract import Fallback
from benchmark.evaluation.grader import QuestionKind, grade
from benchmark.evaluation.voting import vote
from benchmark.evaluation.workers import default_pool

Line = Mapping[str, Any]

_OPTIONAL = ("kind", "choices", "tolerance", "finish_reason")
_CLOSE = 0.8  # ratio of difflib: choises and tolerence, but not note or category
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TOLERANCE = re.compile(r"\d{0,300}(?:\.\d{0,300})?(?:[eE][+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one line of a file asks `grade` for."""

    gold: str
    response: str
    kind: QuestionKind
    choices: tuple[str, ...] | None
    tolerance: str | None
    finish_reason: str
    id: Any


@dataclass(frozen=True, slots=True)
class Ballot:
    """The answers of one group; None where a rollout states none."""

    answers: tuple[str | None, ...]
    id: Any


def grade_file(source: str, fallback: str = Fallback.STATEMENT) -> Iterator[str]:
    """Yield a record in JSON for each line of a file ("-" is the standard input) with `gold` and `response`.

    Raises DataError that names the first bad line, and UnknownNameError for another fallback, before the first record.
    """
    if fallback not in set(Fallback):
        raise unknown_name("fallback", fallback, [known.value for known in Fallback])
    asked = [_judgement(number, line) for number, line in _lines(source)]
    return _graded(asked, Fallback(fallback))


def vote_file(source: str) -> Iterator[str]:
    """Yield the vote in JSON for each line of a file ("-" is the standard input) with `answers`.

    Raises DataError that names the first bad line, before the first record.
    """
    ballots = [_ballot(number, line) for number, line in _lines(source)]
    return (_voted(ballot) for ballot in ballots)


def _graded(asked: list[Judgement], fallback: Fallback) -> Iterator[str]:
    with ThreadPoolExecutor(default_pool().size) as threads:
        yield from threads.map(lambda one: _record(one, fallback), asked)


def _record(asked: Judgement, fallback: Fallback) -> str:
    record = grade(
        asked.response,
        asked.gold,
        kind=asked.kind,
        finish_reason=asked.finish_reason,
        choices=asked.choices,
        tolerance=asked.tolerance,
        fallback=fallback,
    )
    told = {name: value for name, value in asdict(record).items() if name != "seconds"}
    return json.dumps({"id": asked.id, **told}, allow_nan=False)


def _voted(ballot: Ballot) -> str:
    return json.dumps({"id": ballot.id, **asdict(vote(ballot.answers))}, allow_nan=False)


def _lines(source: str) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line; lines end at \\n only, because JSON may hold U+2028."""
    lines = _read(source).removeprefix(_BYTE_ORDER_MARK).split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    if not lines:
        raise DataError(
            f"file of answers: found nothing in {source!r}, allowed JSON lines; fix: write one JSON object per line"
        )
    for number, line in enumerate(lines, 1):
        try:
            yield number, json.loads(line.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            raise _bad(number, f"found no JSON ({error})", "one JSON object per line") from error


def _read(source: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise DataError(
            f"file of answers: found {source!r}, which cannot be read ({error.strerror}), allowed a file of JSON lines "
            "or -; fix: correct the path"
        ) from error


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large for a number")
    return value


def _refuse_misspelt(number: int, line: Line) -> None:
    """Refuse a field that looks like an optional one misspelt: what it says would be ignored without a word."""
    for name in line:
        near = get_close_matches(name, _OPTIONAL, n=1, cutoff=_CLOSE) if name not in _OPTIONAL else []
        if near and near[0] not in line:
            raise _bad(number, f"found field {name!r}", f"{near[0]!r}, or a field unlike it")


def _judgement(number: int, line: Any) -> Judgement:
    if not isinstance(line, dict):
        raise _bad(number, f"found {_kind(line)}", "an object with gold and response")
    _refuse_misspelt(number, line)
    gold, response = _text(number, line, "gold"), _text(number, line, "response")
    choices = _choices(number, line)
    tolerance = None if line.get("tolerance") is None else _text(number, line, "tolerance")
    if tolerance is not None and not _is_tolerance(tolerance):
        raise _bad(number, f"found tolerance {tolerance[:60]!r}", "a decimal number from 0, such as 0.01 or 1e-3")
    finish_reason = line.get("finish_reason", "stop")
    if not isinstance(finish_reason, str) or finish_reason not in ("stop", "length"):
        raise _bad(number, f"found finish_reason {finish_reason!r}", "stop or length")
    return Judgement(
        gold, response, _question_kind(number, line, gold, choices), choices, tolerance, finish_reason, line.get("id")
    )


def _question_kind(number: int, line: Line, gold: str, choices: tuple[str, ...] | None) -> QuestionKind:
    """Return the kind that a line states; without one, choices or a gold that is a label mean multiple choice."""
    kind = line.get("kind")
    if kind is None:
        is_label = len(gold.strip()) == 1 and gold.strip() in DEFAULT_LABELS
        return QuestionKind.MULTIPLE_CHOICE if choices or is_label else QuestionKind.MATH
    if not isinstance(kind, str) or kind not in set(QuestionKind):
        raise _bad(number, f"found kind {kind!r}", " or ".join(QuestionKind))
    return QuestionKind(kind)


def _choices(number: int, line: Line) -> tuple[str, ...] | None:
    choices = line.get("choices")
    if choices is None:
        return None
    if not isinstance(choices, list) or not 2 <= len(choices) <= 26 or not all(isinstance(one, str) for one in choices):
        raise _bad(number, f"found choices {_short(choices)}", "a list of 2 to 26 texts")
    return tuple(choices)


def _ballot(number: int, line: Any) -> Ballot:
    answers = line.get("answers") if isinstance(line, dict) else line
    if not isinstance(answers, list):
        raise _bad(number, f"found answers {_short(answers)}", "an object with a list of answers")
    entries = [{"answer": answer} for answer in answers]
    read = tuple(None if entry["answer"] is None else _text(number, entry, "answer") for entry in entries)
    return Ballot(read, line.get("id") if isinstance(line, dict) else None)


def _text(number: int, line: Line, name: str) -> str:
    """Return a field as text; a number counts as its text."""
    if name not in line:
        raise _bad(number, f"found no {name}", f"a text in {name}")
    value = line[name]
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    raise _bad(number, f"found {name} {_short(value)}", "a text or a number")


def _is_tolerance(text: str) -> bool:
    """Say whether a text is a decimal number; an exponent of millions would take for ever to write out."""
    return _TOLERANCE.fullmatch(text) is not None and any(map(str.isdigit, text.partition("e")[0]))


def _bad(number: int, found: str, allowed: str) -> DataError:
    return DataError(f"line {number}: {found}, allowed {allowed}; fix: correct the line, nothing was printed")


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
