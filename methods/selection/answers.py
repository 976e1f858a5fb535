"""Scorers that look at the answers of a question only: they disagree, or they are partly right.

Both need several responses per question, G = 8 as in DE-Venus 4.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.evaluation.equivalence import same
from benchmark.evaluation.voting import vote
from methods.base import SourceConfidence
from methods.selection.base import ProbedQuestion, Reveal, Scorer


def pass_rate(answers: Sequence[str | None], label: str) -> float:
    """Return the share of all responses whose answer is the label, in [0, 1]; 0 without responses."""
    return sum(same(answer, label) for answer in answers) / len(answers) if answers else 0.0


class Consistency(Scorer):
    """One minus the share of the largest cluster of equivalent answers (DE-Venus, section 4.3).

    Responses without an answer stay in the denominator, so a question that is never answered scores 1.
    """

    name = "consistency"
    summary = "disagreement: one minus the share of the majority answer"
    paper = "2609.03324"
    confidence = SourceConfidence.PAPER
    samples = 8

    def score(self, questions: Sequence[ProbedQuestion], reveal: Reveal) -> NDArray[np.float64]:
        """Return 1 - share of the majority answer."""
        return np.array([1.0 - vote(asked.answers).share for asked in questions])


@dataclass(frozen=True, slots=True)
class DifficultyOptions:
    """Options of selection by verified pass rate; both ends in [0, 1]."""

    low: float = 0.25
    high: float = 0.75

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise ValueError(f"pass rates: found {self.low} to {self.high}, allowed 0 <= low <= high <= 1")


class Difficulty(Scorer):
    """Questions of medium difficulty first: minus the distance of the verified pass rate to [low, high].

    Buys the label of every question of the pool, so it measures what a selection could gain rather than a saving.
    """

    name = "difficulty"
    summary = "verified pass rate near the middle (buys every label)"
    confidence = SourceConfidence.RECONSTRUCTION
    samples = 8
    needs_labels = True
    Options = DifficultyOptions

    def score(self, questions: Sequence[ProbedQuestion], reveal: Reveal) -> NDArray[np.float64]:
        """Return 0 inside the interval, and minus the distance to it outside."""
        rates = np.array([pass_rate(asked.answers, reveal(asked.index)) for asked in questions])
        outside = np.maximum(self.options.low - rates, rates - self.options.high)
        return np.asarray(-np.maximum(outside, 0.0), dtype=np.float64)
