"""Majority votes over equivalence classes of answers.

Answers are counted by what they mean, not by how they are written. A rollout without an answer never
wins, and it stays in the denominator of the share: a group in which two of eight rollouts agree and six
say nothing has a share of 0.25, not 1.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.evaluation.equivalence import Canonical, canonical, normalise


@dataclass(frozen=True, slots=True)
class Cluster:
    """Answers that are the same, represented by their most frequent normalised text."""

    answer: str
    votes: int


@dataclass(frozen=True, slots=True)
class Vote:
    """The outcome of a vote.

    `winner` is None without answers and on a tie; `share` is the votes of the largest cluster over the
    number of rollouts, in [0, 1], also on a tie.
    """

    winner: str | None
    share: float
    clusters: tuple[Cluster, ...]  # most votes first, then by text


def vote(answers: Sequence[str | None]) -> Vote:
    """Count the answers of one group; the result does not depend on their order."""
    clusters = cluster(answers)
    if not clusters:
        return Vote(None, 0.0, ())
    top = clusters[0]
    tied = len(clusters) > 1 and clusters[1].votes == top.votes
    return Vote(None if tied else top.answer, top.votes / len(answers), clusters)


def cluster(answers: Sequence[str | None]) -> tuple[Cluster, ...]:
    """Group answers that are the same, most votes first, then by text; missing answers are left out."""
    spellings: defaultdict[Canonical, Counter[str]] = defaultdict(Counter)
    for answer, votes in Counter(answers).items():  # a group repeats few strings many times
        value = canonical(answer)
        if value is not None:
            spellings[value][normalise(answer)] += votes
    found = [Cluster(_representative(counts), counts.total()) for counts in spellings.values()]
    return tuple(sorted(found, key=lambda item: (-item.votes, item.answer)))


def _representative(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda text: (-spellings[text], text))
