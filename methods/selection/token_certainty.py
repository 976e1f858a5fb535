"""Scorers that average a quantity of the next-token distribution over the tokens of a response.

Means over valid tokens, never sums: a sum ranks by length.
"""

import numpy as np

from methods.base import SourceConfidence
from methods.groups import EvidenceKind
from methods.selection.base import ProbedQuestion, ResponseScorer


class Entropy(ResponseScorer):
    """Mean entropy of the next-token distribution, in nats (DE-Venus, section 4.3)."""

    name = "entropy"
    summary = "mean entropy per token"
    paper = "2609.03324"
    confidence = SourceConfidence.PAPER
    evidence = frozenset({EvidenceKind.ENTROPY})

    def response(self, question: ProbedQuestion, sample: int) -> float:
        """Return mean_t H(p_t)."""
        assert question.entropy is not None
        return float(question.entropy[sample].mean(dtype=np.float64))


class SelfCertainty(ResponseScorer):
    """Minus the mean of KL(uniform || next-token distribution), in nats (Intuitor, arXiv 2505.19590)."""

    name = "self_certainty"
    summary = "minus the mean self-certainty per token"
    paper = "2505.19590"
    evidence = frozenset({EvidenceKind.SELF_CERTAINTY})

    def response(self, question: ProbedQuestion, sample: int) -> float:
        """Return -mean_t KL(U || p_t)."""
        assert question.self_certainty is not None
        return -float(question.self_certainty[sample].mean(dtype=np.float64))
