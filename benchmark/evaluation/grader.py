r"""Judge a response against the gold answer, as a record instead of a bool.

Layers, first decision wins: the gold must be an answer; the response must state one; the two are compared as text and
as exact numbers (`benchmark.evaluation.equivalence`); what is left is compared by structure and algebra in a worker
process (`benchmark.evaluation.symbolic`). A choice among options is found by `benchmark.evaluation.choices` and
compared by its label. What counts as the same is the table in `benchmark.evaluation.policy`. Only `correct` scores 1.
The other verdicts are counted and shown, because "0% correct" and "no answer was ever found" are different news.

Training stops before the symbolic layer, in every profile (`grade_in_process`): rewards have to agree with votes and
pseudo labels, which need an equivalence relation, and algebra against a gold is none (28 is 28\%, and 28\% is 0.28).
The price is a reward of 0 for a right answer in an unusual form, while training questions have short or integer
answers; evaluation pays nothing.
"""

import re
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Final

from benchmark.errors import unknown_name
from benchmark.evaluation.choices import ChoiceMethod, extract_choice, gold_label, label_set
from benchmark.evaluation.equivalence import MAX_LENGTH, canonical, deciding_layer, normalise, same
from benchmark.evaluation.extract import Fallback, extract_answer
from benchmark.evaluation.second_grader import second_choice, second_opinion
from benchmark.evaluation.workers import Outcome, WorkerPool, default_pool

GRADER_VERSION: Final = "3"
"""Part of the identity of every verdict: bump it when any response could be judged differently."""


class QuestionKind(StrEnum):
    """How a question is answered."""

    MATH = "math"
    """By a number, a formula or words."""
    MULTIPLE_CHOICE = "multiple_choice"
    """By the label of an option."""


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
    """Could not be judged: the gold is empty, a placeholder, broken, or no option of its question."""
    TIMEOUT = "timeout"
    """States an answer that could not be compared in time; as the answer causes that, it counts as not correct."""
    ERROR = "error"
    """States an answer at which the comparison failed; it counts as not correct."""


@dataclass(frozen=True, slots=True)
class GradeRecord:
    """A verdict with what it rests on."""

    verdict: Verdict
    extracted: str | None  # the stated answer as written
    method: str  # layer that decided: gold | extract | text | rational | tolerance | symbolic | choice_...
    second: str | None = None  # verdict of the second grader; None where it was not asked or the gold is invalid
    choice: str | None = None  # label of the chosen option; None in mathematics and where no option is named
    seconds: float = field(default=0.0, compare=False)
    grader_version: str = GRADER_VERSION


_PLACEHOLDER: Final = re.compile(r"__\w+__")  # such as the label of "inactive" noise
_ESCAPED_BRACE: Final = re.compile(r"\\[\\{}]")
_UNDECIDED: Final = "undecided"
_OUTCOMES: Final = {
    Outcome.SAME: (Verdict.CORRECT, "symbolic"),
    Outcome.DIFFERENT: (Verdict.WRONG, "symbolic"),
    Outcome.UNREADABLE: (Verdict.WRONG, "text"),
    Outcome.TIMEOUT: (Verdict.TIMEOUT, "symbolic"),
    Outcome.FAILED: (Verdict.ERROR, "symbolic"),
}


def grade(
    response: str,
    gold: str,
    *,
    kind: str = QuestionKind.MATH,
    finish_reason: str = "stop",
    choices: Sequence[str] | None = None,
    tolerance: str | None = None,
    fallback: Fallback = Fallback.NONE,
    pool: WorkerPool | None = None,
) -> GradeRecord:
    """Judge one response with all layers and with the second grader.

    `finish_reason` is "stop" or "length" (the token limit was hit: then the fallback is not used), `choices` the
    options in the order of the prompt, `tolerance` an allowed absolute error as a decimal number. Workers come from
    `pool`, else from the pool of this process. Raises UnknownNameError for another kind.
    """
    started = time.perf_counter()
    choice: str | None = None
    if kind == QuestionKind.MULTIPLE_CHOICE:
        verdict, extracted, method, choice = _judge_choice(response, gold, choices, finish_reason)
        second = second_choice(response, gold_label(gold, choices) or "", label_set(choices))
    elif kind == QuestionKind.MATH:
        fallback = Fallback.NONE if finish_reason == "length" else fallback
        verdict, extracted, method = _judge(response, gold, finish_reason, fallback, tolerance)
        if method == _UNDECIDED:
            outcome = (pool or default_pool()).compare(extracted or "", gold, tolerance)
            verdict, method = _OUTCOMES[outcome]
        second = second_opinion(response, gold, last_number=fallback is not Fallback.NONE)
    else:
        raise unknown_name("kind of question", kind, [known.value for known in QuestionKind])
    if second == Verdict.NO_ANSWER and finish_reason == "length":
        second = Verdict.TRUNCATED.value
    judged = None if verdict is Verdict.GOLD_INVALID else second
    return GradeRecord(verdict, extracted, method, judged, choice, time.perf_counter() - started)


def grade_in_process(response: str, gold: str, *, finish_reason: str = "stop") -> GradeRecord:
    """Judge one response by its text and as an exact number only, in microseconds: the grader of training."""
    started = time.perf_counter()
    verdict, extracted, method = _judge(response, gold, finish_reason, Fallback.NONE, None)
    method = "text" if method == _UNDECIDED else method
    return GradeRecord(verdict, extracted, method, seconds=time.perf_counter() - started)


def is_correct(response: str, gold: str) -> bool:
    """Say whether the response states the gold, by text or as an exact number, as `grade_in_process` does."""
    return _judge(response, gold, "stop", Fallback.NONE, None)[0] is Verdict.CORRECT


def valid_gold(gold: str) -> bool:
    """Say whether a gold can be compared with.

    It is not empty, no placeholder such as `__none__`, and has neither control characters nor braces without partner.
    """
    if not normalise(gold) or _PLACEHOLDER.fullmatch(gold.strip()):
        return False
    if any(unicodedata.category(char) == "Cc" and char not in "\n\t" for char in gold):
        return False
    depth = 0
    for char in _ESCAPED_BRACE.sub("", gold):
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0


def _judge(
    response: str, gold: str, finish_reason: str, fallback: Fallback, tolerance: str | None
) -> tuple[Verdict, str | None, str]:
    """Judge without algebra; the method is `undecided`, and the verdict wrong, where algebra could find more."""
    if not valid_gold(gold):
        return Verdict.GOLD_INVALID, None, "gold"
    answer = extract_answer(response, fallback).answer
    if not normalise(answer) or answer is None:
        return _silence(finish_reason), None, "extract"
    if same(answer, gold):
        return Verdict.CORRECT, answer, deciding_layer(answer, gold).value
    value, truth = canonical(answer), canonical(gold)
    if isinstance(value, Fraction) and isinstance(truth, Fraction):
        if tolerance is not None and abs(value - truth) <= Fraction(tolerance):
            return Verdict.CORRECT, answer, "tolerance"
        return Verdict.WRONG, answer, "rational"
    return Verdict.WRONG, answer, "text" if max(len(answer), len(gold)) > MAX_LENGTH else _UNDECIDED


def _judge_choice(
    response: str, gold: str, choices: Sequence[str] | None, finish_reason: str
) -> tuple[Verdict, str | None, str, str | None]:
    label = gold_label(gold, choices)
    if label is None:
        return Verdict.GOLD_INVALID, None, "gold", None
    choice = extract_choice(response, choices)
    if choice.method is ChoiceMethod.NONE:
        return _silence(finish_reason), None, "extract", None
    verdict = Verdict.CORRECT if choice.label == label else Verdict.WRONG
    return verdict, choice.text, choice.method.value, choice.label


def _silence(finish_reason: str) -> Verdict:
    return Verdict.TRUNCATED if finish_reason == "length" else Verdict.NO_ANSWER
