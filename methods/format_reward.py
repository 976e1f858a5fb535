"""Control: any answer in the required format is rewarded (Spurious Rewards, arXiv 2506.10947).

Much of what a base model gains from RL is that it learns to state an answer where the grader looks for it. What a
method gains over this control is more than the format. Every row is treated alike: no label is read.
"""

import numpy as np
from numpy.typing import NDArray

from benchmark.evaluation.equivalence import canonical
from methods.base import LabelNeed, Method, Module, SourceConfidence
from methods.groups import Evidence, RolloutGroups


class FormatReward(Method):
    """Reward 1 for a rollout from which an answer could be extracted."""

    name = "format_reward"
    summary = "control: any extracted answer is rewarded"
    module = Module.CONTROL
    paper = "2506.10947"
    confidence = SourceConfidence.PAPER
    label_need = LabelNeed.IGNORED

    def rewards(self, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence) -> NDArray[np.float64]:
        """1 where there is an answer, else 0, [B, G]."""
        stated = [[canonical(answer) is not None for answer in row] for row in groups.answers]
        return np.array(stated, dtype=np.float64).reshape(groups.lengths.shape)
