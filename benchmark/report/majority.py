"""maj@k: how often the majority answer of k responses to a question is right.

All C(n, k) subsets of the n responses are counted, not the first k: the value does not depend on the order of the
samples and is the unbiased estimate with the least variance, as pass@k is. It costs about a millisecond for a
question with many different answers, and is remembered by the pattern of its votes. A response without an answer
never wins; ties at the top are split evenly. What is one answer is decided by the rule of the methods' own votes
(`benchmark.evaluation.voting`), for right and wrong answers alike: if the grader merged the spellings of the right
answer only, a wrong answer that is written in several ways would lose votes that it has.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray


def majority_of(clusters: Sequence[tuple[int, int]], silent: int, k: int) -> float:
    """Return the expected correctness of the majority answer of k responses, in [0, 1]; NaN for fewer than k.

    `clusters` are the votes of each answer, and how many of them were judged right. Where the members of a cluster
    were judged differently, one of them at random stands for it: it is right with their share.
    """
    if silent + sum(votes for votes, _ in clusters) < k:
        return float("nan")
    value = 0.0
    for place, (votes, right) in enumerate(clusters):
        if right:
            others = [size for other, (size, _) in enumerate(clusters) if other != place]
            value += right / votes * majority_at_k(votes, others, silent, k)
    return value


def majority_at_k(right: int, wrong: Sequence[int], silent: int, k: int) -> float:
    """Return the expected correctness of the majority answer of k of the n responses to one question, in [0, 1].

    `right` responses state the correct answer, `wrong` are the votes of each wrong answer, `silent` state none. NaN
    where there are fewer than k responses.
    """
    return _majority(right, tuple(sorted(votes for votes in wrong if votes)), silent, k)


@lru_cache(maxsize=1 << 16)
def _majority(right: int, wrong: tuple[int, ...], silent: int, k: int) -> float:
    total = right + sum(wrong) + silent
    if total < k:
        return float("nan")
    leading = sum(comb(right, votes) * _shared_lead(wrong, silent, k - votes, votes) for votes in range(1, right + 1))
    return leading / comb(total, k)


def _shared_lead(wrong: tuple[int, ...], silent: int, others: int, votes: int) -> float:
    """Count the ways to draw `others` responses with no wrong answer above `votes`, each over 1 + answers that tie.

    The count is a coefficient of a product of polynomials in z, with a factor u for each tie; the integral of u^t
    over [0, 1] is 1 / (1 + t), and Gauss-Legendre nodes take it exactly, since t is at most others / votes.
    """
    if others < 0:
        return 0.0
    small = silent + sum(size for size in wrong if size < votes)  # can never tie: (1 + z)^small
    nodes, weights = _nodes(others // votes // 2 + 1)
    ways = np.zeros((len(nodes), others + 1))  # [U, degree]
    ways[:, : small + 1] = [comb(small, j) for j in range(min(small, others) + 1)]
    for size in wrong:
        if size >= votes:
            ways = _times(ways, [float(comb(size, j)) for j in range(votes)], comb(size, votes) * nodes)
    return float(weights @ ways[:, others])


def _times(ways: NDArray[np.float64], below: list[float], tied: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply by sum_j below[j] z^j + tied z^len(below), dropping what exceeds the degree."""
    degree = ways.shape[1]
    product = np.zeros_like(ways)
    for j, factor in enumerate(below[:degree]):
        product[:, j:] += factor * ways[:, : degree - j]
    if len(below) < degree:
        product[:, len(below) :] += tied[:, None] * ways[:, : degree - len(below)]
    return product


@lru_cache(maxsize=64)
def _nodes(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights on [0, 1] that are exact up to degree 2 count - 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2
