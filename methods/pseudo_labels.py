"""Majority votes as targets, shared by the methods that build pseudo labels from answers.

A labelled item keeps its given label; any other takes the answer that most of the voting rollouts give.
Answers are counted by what they mean (`equivalence`: 1/2 and 0.5 vote together) or by how they are written
(`string`: as the code of TTRL and Co-rewarding does). Either way a tie gives no target, where the authors' code takes
the string seen first and so depends on the order of the rollouts; and rollouts without an answer never win, but stay
in the denominator of the confidence.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from benchmark.evaluation.equivalence import canonical
from benchmark.evaluation.voting import vote
from methods.groups import NO_TARGET, NoTarget, RolloutGroups, Targets, TargetSource

VOTE_KEYS: Final = ("equivalence", "string")


def majority_targets(
    groups: RolloutGroups, answers: Sequence[Sequence[str | None]] | None = None, vote_key: str = "equivalence"
) -> Targets:
    """Use the given label if there is one, else the unique majority of `answers` ([B][any], default: the group's own).

    The confidence is the winner's share of the voters (the leaders' share on a tie), NaN where nobody votes.
    """
    values: list[str | NoTarget] = []
    sources: list[TargetSource] = []
    confidence = np.full(len(groups), np.nan)
    for i, voters in enumerate(groups.answers if answers is None else answers):
        if groups.labelled[i]:
            values.append(groups.labels[i])
            sources.append(TargetSource.GIVEN)
            continue
        winner, share = majority(voters, vote_key)
        values.append(NO_TARGET if winner is None else winner)
        sources.append(TargetSource.NONE if winner is None else TargetSource.PSEUDO)
        confidence[i] = share
    return Targets(tuple(values), tuple(sources), confidence)


def majority(answers: Sequence[str | None], vote_key: str = "equivalence") -> tuple[str | None, float]:
    """Return the unique majority answer (None without one) and the leaders' share of the voters (NaN without any)."""
    if not answers:
        return None, float("nan")
    if vote_key == "equivalence":
        outcome = vote(answers)
        return outcome.winner, outcome.share
    counts = Counter(answers)
    ranked = sorted(
        (-votes, text) for text, votes in counts.items() if text is not None and canonical(text) is not None
    )
    if not ranked:
        return None, 0.0
    tied = len(ranked) > 1 and ranked[1][0] == ranked[0][0]
    return None if tied else ranked[0][1], -ranked[0][0] / len(answers)


def require_vote_key(vote_key: str) -> None:
    """Raise ValueError for a way of counting that does not exist."""
    if vote_key not in VOTE_KEYS:
        raise ValueError(f"vote_key: found {vote_key!r}, allowed {', '.join(VOTE_KEYS)}")
