r"""Judge a response against the gold answer, as a record instead of a bool.

Layers, first decision wins: the gold must be an answer; the response must state one; then the two are
compared as text and as exact numbers (`benchmark.evaluation.equivalence`). Only `correct` scores 1. The
other verdicts are counted and shown, because "0% correct" and "no answer was ever found" are
different news.
"""

import re
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from benchmark.errors import StageError
from benchmark.evaluation.equivalence import deciding_layer, normalise, same
from benchmark.evaluation.extract import extract_answer

GRADER_VERSION: Final = "1"
"""Part of the identity of every verdict: bump it when any response could be judged differently."""


class Verdict(StrEnum):
    """What a response turned out to be."""

    CORRECT = "correct"
    """States an answer that is the same as the gold."""
    WRONG = "wrong"
    """States an answer that is not the same as the gold."""
    NO_ANSWER = "no_answer"
    """Ended by itself without stating an answer."""
    TRUNCATED = "truncated"
    """Hit the token limit before it stated an answer."""
    GOLD_INVALID = "gold_invalid"
    """Could not be judged: the gold is empty or a placeholder."""
    TIMEOUT = "timeout"
    """Could not be judged in time."""
    ERROR = "error"
    """Could not be judged: the grader failed."""


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """A verdict with what it rests on."""

    verdict: Verdict
    extracted: str | None  # the stated answer as written
    method: str  # layer that decided: gold | extract | text | rational
    seconds: float = field(default=0.0, compare=False)
    grader_version: str = GRADER_VERSION


_PLACEHOLDER: Final = re.compile(r"__\w+__")  # such as the label of "inactive" noise


def grade(response: str, gold: str, *, finish_reason: str = "stop") -> VerdictRecord:
    """Judge one response; `finish_reason` is "stop" or "length" (the token limit was hit)."""
    started = time.perf_counter()
    verdict, extracted, method = _judge(response, gold, finish_reason)
    return VerdictRecord(verdict, extracted, method, time.perf_counter() - started)


def is_correct(response: str, gold: str) -> bool:
    """Say whether the response states an answer that is the same as the gold."""
    return _judge(response, gold, "stop")[0] is Verdict.CORRECT


def valid_gold(gold: str) -> bool:
    """Say whether a gold can be compared with: not empty and not a placeholder such as `__none__`."""
    return bool(normalise(gold)) and not _PLACEHOLDER.fullmatch(gold.strip())


def _judge(response: str, gold: str, finish_reason: str) -> tuple[Verdict, str | None, str]:
    if not valid_gold(gold):
        return Verdict.GOLD_INVALID, None, "gold"
    answer = extract_answer(response).answer
    if not normalise(answer) or answer is None:
        return Verdict.TRUNCATED if finish_reason == "length" else Verdict.NO_ANSWER, None, "extract"
    verdict = Verdict.CORRECT if same(answer, gold) else Verdict.WRONG
    return verdict, answer, deciding_layer(answer, gold).value


@dataclass(frozen=True, slots=True)
class Canary:
    """A response whose verdict is known, graded in every run."""

    response: str
    gold: str
    expected: Verdict
    finish_reason: str = "stop"


CANARIES: Final = (
    Canary(r"6+5=11;4+7+1=12;\boxed{1121}", "1121", Verdict.CORRECT),
    Canary(r"a first guess is \boxed{7}; the answer is $\boxed{12}$.", "12", Verdict.CORRECT),
    Canary(r"so we get \boxed{12}. Wait, hence \boxed{13}.", "12", Verdict.WRONG),
    Canary(r"hence \boxed{\dfrac{1}{2}}", "0.5", Verdict.CORRECT),
    Canary(r"hence \boxed{1,234}", "1234", Verdict.CORRECT),
    Canary(r"hence \boxed{12abc}", "12", Verdict.WRONG),
    Canary("the answer is 12", "12", Verdict.NO_ANSWER),
    Canary(r"<think>so maybe \boxed{8}. But let me verify", "8", Verdict.TRUNCATED, "length"),
    Canary(r"\boxed{}", "", Verdict.GOLD_INVALID),
)


def check_canaries(canaries: tuple[Canary, ...] = CANARIES) -> int:
    """Grade the canaries and return how many there are.

    Raises StageError for the first one that is not judged as expected: then no verdict of this process is to be
    trusted.
    """
    for canary in canaries:
        found = grade(canary.response, canary.gold, finish_reason=canary.finish_reason).verdict
        if found is not canary.expected:
            raise StageError(
                f"grader canary failed: {canary.response!r} against {canary.gold!r} gave {found}, "
                f"expected {canary.expected}; fix: reinstall the project, or bump GRADER_VERSION with the canary"
            )
    return len(canaries)
