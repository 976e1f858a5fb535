r"""Responses whose verdicts are known, judged in every grading run.

They cover every layer, so that a library that changed, a worker that does not start, or a regular expression that was
edited stops the run instead of moving a table.
"""

from dataclasses import dataclass
from typing import Final

from benchmark.errors import StageError
from benchmark.evaluation.grader import QuestionKind, Verdict, grade
from benchmark.evaluation.workers import WorkerPool


@dataclass(frozen=True, slots=True)
class Canary:
    """A response whose verdict is known."""

    response: str
    gold: str
    expected: Verdict
    finish_reason: str = "stop"
    choices: tuple[str, ...] | None = None
    kind: QuestionKind = QuestionKind.MATH


_OPTIONS: Final = ("red", "green", "blue", "4")


def _choice(response: str, gold: str, expected: Verdict, finish_reason: str = "stop") -> Canary:
    return Canary(response, gold, expected, finish_reason, _OPTIONS, QuestionKind.MULTIPLE_CHOICE)


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
    Canary(r"hence \boxed{11+9a}", "9a+11", Verdict.CORRECT),
    Canary(r"hence \boxed{\sec^2(y)}", r"\tan^2(y)+1", Verdict.CORRECT),
    Canary(r"hence \boxed{\frac{x^2}{16}+\frac{y^2}{12}=1}", r"\frac{x^2}{4}+\frac{y^2}{3}=1", Verdict.WRONG),
    Canary(r"hence \boxed{\frac{1}{2006!}}", r"\frac{1}{2004!}", Verdict.WRONG),
    Canary(r"hence \boxed{9^{9^{9^{9}}}}", "16", Verdict.WRONG),
    _choice("So the answer is (b).", "B", Verdict.CORRECT),
    _choice(r"\boxed{C: blue}", "C", Verdict.CORRECT),
    _choice("The answer is A because I computed it.", "B", Verdict.WRONG),
    _choice("Each option has something to it.", "B", Verdict.NO_ANSWER),
    _choice("The answer is B.", "E", Verdict.GOLD_INVALID),
)


def check_canaries(canaries: tuple[Canary, ...] = CANARIES, pool: WorkerPool | None = None) -> int:
    """Grade the canaries and return how many there are.

    Raises StageError for the first one that is not judged as expected: then no verdict of this process is to be
    trusted.
    """
    for canary in canaries:
        found = grade(
            canary.response,
            canary.gold,
            kind=canary.kind,
            finish_reason=canary.finish_reason,
            choices=canary.choices,
            pool=pool,
        ).verdict
        if found is not canary.expected:
            raise StageError(
                f"grader canary failed: {canary.response!r} against {canary.gold!r} gave {found}, "
                f"expected {canary.expected}; fix: reinstall the project, or bump GRADER_VERSION with the canary"
            )
    return len(canaries)
