"""Random selection: the reference that every scorer must beat, and the tie-breaker of the router.

Randomness is a hash of a seed and the persistent index of the question, so that neither the order nor the size of
the pool changes what a question draws.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from methods.selection.base import ProbedQuestion, Reveal, Scorer

_MANTISSA_BITS = 53


def seeded_uniform(purpose: str, seed: int, index: int) -> float:
    """Return a number in [0, 1) that depends on the purpose, the seed and the index only."""
    digest = hashlib.sha256(f"{purpose}/{seed}/{index}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> (64 - _MANTISSA_BITS)) / (1 << _MANTISSA_BITS)


class Random(Scorer):
    """A number that knows nothing about the question."""

    name = "random"
    summary = "random order: the reference"

    def score(self, questions: Sequence[ProbedQuestion], reveal: Reveal) -> NDArray[np.float64]:
        """Draw one number in [0, 1) per question."""
        return np.array([seeded_uniform("select", self.seed, asked.index) for asked in questions])
