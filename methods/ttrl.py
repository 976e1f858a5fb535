"""TTRL: the majority answer of a group is its target (arXiv 2504.16084, section 3).

For a prompt with rollouts y_1..y_G the pseudo label is the answer that most of them give, and the
reward of y_i is 1 if its answer equals it. It is rebuilt at every step and never stored. Labelled
items keep their given label (the semi-supervised form of DE-Venus, section 4.1).

Deliberate differences to the authors' code: answers are counted in equivalence classes instead of as
strings, a tie gives no target instead of the first string seen, and rollouts without an answer stay
in the denominator of the confidence. All rollouts that vote are also trained on.
"""

import numpy as np

from benchmark.evaluation.voting import vote
from methods.base import Method, Module
from methods.groups import NO_TARGET, NoTarget, RolloutGroups, Targets, TargetSource


class TTRL(Method):
    """Majority vote over the group of an unlabelled prompt."""

    name = "ttrl"
    summary = "majority answer of the group as pseudo label"
    module = Module.CONSTRUCTION
    paper = "2504.16084"

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the unique majority answer, else no target."""
        values: list[str | NoTarget] = []
        sources: list[TargetSource] = []
        confidence = np.full(len(groups), np.nan)
        for i, answers in enumerate(groups.answers):
            if groups.labelled[i]:
                values.append(groups.labels[i])
                sources.append(TargetSource.GIVEN)
                continue
            outcome = vote(answers)
            confidence[i] = outcome.share
            values.append(NO_TARGET if outcome.winner is None else outcome.winner)
            sources.append(TargetSource.NONE if outcome.winner is None else TargetSource.PSEUDO)
        return Targets(tuple(values), tuple(sources), confidence)
