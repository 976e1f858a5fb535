"""Dynamic sampling: GRPO without the groups that teach nothing (DAPO, arXiv 2503.14476, section 3.2).

A group whose rollouts are all right or all wrong has no advantage. It is left out, so that the
loss is averaged over the tokens of the groups that carry a gradient. The first ablation for every method that filters
groups: what it gains over this control is more than the removal of empty groups.

Difference to DAPO: it draws more prompts until the batch is full again, while here the batch of a step shrinks, so that
every method spends the same number of rollouts.
"""

import numpy as np
from numpy.typing import NDArray

from benchmark.evaluation.equivalence import same
from methods.base import LabelNeed, Method, Module, SourceConfidence
from methods.groups import NoTarget, RolloutGroups, Targets


class DynamicSampling(Method):
    """Plain GRPO on the groups whose verified rewards are not all equal."""

    name = "dynamic_sampling"
    summary = "control: GRPO on groups with right and wrong rollouts (DAPO)"
    module = Module.CONTROL
    paper = "2503.14476"
    confidence = SourceConfidence.PAPER
    label_need = LabelNeed.REQUIRED

    def admit(self, groups: RolloutGroups, targets: Targets) -> NDArray[np.bool_]:
        """Admit the prompts with both verified rewards in their group, [B]."""

        def mixed(position: int) -> bool:
            target = targets.values[position]
            if isinstance(target, NoTarget):
                return False
            return len({same(answer, target) for answer in set(groups.answers[position])}) == 2

        return np.array([mixed(i) for i in range(len(groups))], dtype=np.bool_)
