"""Control: a vote that cannot miss (the upper bound of pseudo-labelling).

The pseudo label of an unlabelled item is the truth wherever any rollout of its group gives it, else the majority
answer: no rule that picks one of the group's answers can label more items rightly. What a method
loses against this control is the price of its voting rule; what this control loses against labels is the price of
the policy's own coverage. It reads the hidden truth, so it may only run in the suite of controls.
"""

import numpy as np

from benchmark.evaluation.equivalence import same
from benchmark.evaluation.voting import vote
from methods.base import Method, Module, SourceConfidence
from methods.groups import NoTarget, RolloutGroups, Targets, TargetSource
from methods.pseudo_labels import majority_targets


class OracleVote(Method):
    """The truth as pseudo label wherever the group contains it."""

    name = "oracle_vote"
    summary = "control: the truth wherever the group contains it, else the majority"
    module = Module.CONTROL
    confidence = SourceConfidence.RECONSTRUCTION
    uses_hidden_truth = True

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the truth if any rollout gives it, else the majority.

        The confidence is the target's share of the rollouts.
        """
        majority = majority_targets(groups)
        values: list[str | NoTarget] = list(majority.values)
        sources, confidence = list(majority.sources), majority.confidence
        for i in np.flatnonzero(~groups.labelled):
            truth, answers = groups.truth[i], groups.answers[i]
            votes = sum(found.votes for found in vote(answers).clusters if same(found.answer, truth))
            if votes:
                values[i], sources[i], confidence[i] = truth, TargetSource.PSEUDO, votes / len(answers)
        return Targets(tuple(values), tuple(sources), confidence)
