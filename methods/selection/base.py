"""What a scorer of active data selection sees, and what it returns (DE-Venus, sections 2.2 and 4.3).

The untrained policy answers every question of the pool a few times (the probe); a scorer turns those responses into
one uncertainty per question, and the router turns the ranking into annotate, keep unlabelled or discard. Selection is
offline: it decides once, before training, and never touches the trainer. Pure: numpy in, numpy out.

Trade-off taken: a scorer sees the whole pool at once instead of one question, because several of them need a
pool-level threshold or a pool-level worst value, and a per-question normalisation would measure length instead.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError, HiddenTruthError, MethodError
from methods.base import NoOptions, SourceConfidence
from methods.groups import EvidenceKind

Reveal: TypeAlias = Callable[[int], str]
"""Returns the label of an index; a label that was asked for has been bought."""


@dataclass(frozen=True, slots=True, eq=False)
class ProbedQuestion:
    """One question of the pool with its N probe responses; evidence that was not collected is None."""

    index: int
    answers: tuple[str | None, ...]  # [N] extracted answers, None where there is none
    truncated: NDArray[np.bool_]  # [N] whether the response hit the token limit
    lengths: NDArray[np.int64]  # [N] response lengths in tokens
    entropy: tuple[NDArray[np.floating], ...] | None = None  # [N][T] nats
    self_certainty: tuple[NDArray[np.floating], ...] | None = None  # [N][T] nats
    attention: tuple[NDArray[np.floating], ...] | None = None  # [N][T] mass on far response tokens
    attention_window: int = 32  # how far back is far; a response's first tokens up to it have no attention signal
    hidden_states: tuple[NDArray[np.float32], ...] | None = None  # [N][L+1, D] mean over the response, row 0 embeds


class Scorer(ABC):
    """Base of all scorers: how uncertain the untrained policy is about each question.

    A change of the scores is a change of the select stage: bump its version in `benchmark.runs.stages`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]  # one line for tables
    paper: ClassVar[str] = ""  # arXiv id
    confidence: ClassVar[SourceConfidence] = SourceConfidence.CODE
    samples: ClassVar[int] = 1  # probe responses per question that it needs; fewer are refused
    evidence: ClassVar[frozenset[EvidenceKind]] = frozenset()
    needs_labels: ClassVar[bool] = False  # whether it may call `reveal`
    Options: ClassVar[type] = NoOptions

    def __init__(self, options: Any = None, seed: int = 0) -> None:
        self.options = self.Options() if options is None else options
        self.seed = seed  # of the cell: for what is drawn at random, always through a hash of the index

    @abstractmethod
    def score(self, questions: Sequence[ProbedQuestion], reveal: Reveal) -> NDArray[np.float64]:
        """Return an uncertainty per question ([Q], higher = less certain), whatever their order."""


class ResponseScorer(Scorer):
    """A scorer that looks at one response at a time: a question's score is the mean over its responses.

    A response without tokens counts as the least certain response of the pool.
    """

    @abstractmethod
    def response(self, question: ProbedQuestion, sample: int) -> float:
        """Return the uncertainty of one response that has tokens."""

    def score(self, questions: Sequence[ProbedQuestion], reveal: Reveal) -> NDArray[np.float64]:
        """Average `response` over the responses of each question."""
        return mean_over_responses(
            np.array(
                [
                    [self.response(asked, n) if length else np.nan for n, length in enumerate(asked.lengths)]
                    for asked in questions
                ]
            )
        )


def mean_over_responses(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average [Q, N] over responses; a NaN takes the largest value of the pool (0 where there is none)."""
    known = values[~np.isnan(values)]
    worst = float(known.max()) if known.size else 0.0
    return np.asarray(np.where(np.isnan(values), worst, values).mean(axis=1), dtype=np.float64)


def uncertainties(scorer: Scorer, questions: Sequence[ProbedQuestion], reveal: Reveal) -> NDArray[np.float64]:
    """Score the pool ([Q], higher = less certain), holding the scorer and the probe to their contract.

    Raises DataError for a probe that lacks responses or evidence, MethodError for evidence or scores that are not
    finite, HiddenTruthError where a scorer that declares no need of labels asks for one.
    """
    if not questions:
        return np.empty(0)
    _check_responses(scorer, questions)
    for kind in sorted(scorer.evidence):
        _check_evidence(scorer, questions, kind)
    scores = np.asarray(
        scorer.score(questions, reveal if scorer.needs_labels else _refusal(scorer)),
        dtype=np.float64,
    )
    if scores.shape != (len(questions),):
        raise MethodError(f"scorer {scorer.name!r}: scores have shape {scores.shape}, allowed ({len(questions)},)")
    if not np.isfinite(scores).all():
        index = questions[int(np.argmin(np.isfinite(scores)))].index
        raise MethodError(f"scorer {scorer.name!r}: the score of item {index} is not finite; fix: guard its formula")
    return scores


def scorer_option_names(cls: type[Scorer]) -> tuple[str, ...]:
    """Name the options that a scorer accepts."""
    return tuple(field.name for field in fields(cls.Options))


def _check_responses(scorer: Scorer, questions: Sequence[ProbedQuestion]) -> None:
    if len({asked.index for asked in questions}) != len(questions):
        raise DataError("questions of the probe: found an index twice, allowed once each; fix: run the probe again")
    sizes = {len(asked.answers) for asked in questions}
    if len(sizes) > 1:
        raise DataError(
            f"responses per question: found from {min(sizes)} to {max(sizes)}, allowed the same number for all; "
            "fix: run the probe again"
        )
    if min(sizes) < scorer.samples:
        raise DataError(
            f"scorer {scorer.name!r} needs more responses per question: found {min(sizes)}, allowed "
            f"{scorer.samples} or more; fix: probe with samples = {scorer.samples}"
        )


def _check_evidence(scorer: Scorer, questions: Sequence[ProbedQuestion], kind: EvidenceKind) -> None:
    for asked in questions:
        measured = getattr(asked, kind.value)
        if measured is None:
            raise DataError(
                f"scorer {scorer.name!r} needs evidence {kind.value!r}: found none for item {asked.index}; "
                f"fix: probe with evidence {kind.value}"
            )
        for length, values in zip(asked.lengths, measured, strict=True):
            if length and not (values.size and np.isfinite(values).all()):
                raise MethodError(
                    f"evidence {kind.value} is not finite: found NaN, infinity or nothing in item {asked.index} of "
                    "the probe, allowed finite values; fix: look at the model that was probed"
                )


def _refusal(scorer: Scorer) -> Reveal:
    def refuse(index: int) -> str:
        raise HiddenTruthError(
            f"scorer {scorer.name!r} asked for the label of item {index}, and it declares no need of labels; "
            "fix: set needs_labels"
        )

    return refuse
