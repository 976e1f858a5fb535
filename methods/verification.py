"""The verified reward: whether an answer equals the target of its prompt (DE-Venus, section 2.2)."""

import numpy as np
from numpy.typing import NDArray

from benchmark.evaluation.equivalence import same
from methods.groups import NoTarget, RolloutGroups, Targets


def verify(groups: RolloutGroups, targets: Targets) -> NDArray[np.float64]:
    """Return the verified reward [B, G]: 1 where the answer equals the target of its prompt, else 0."""
    verified = np.zeros(groups.lengths.shape)
    for i, (target, answers) in enumerate(zip(targets.values, groups.answers, strict=True)):
        if not isinstance(target, NoTarget):
            verified[i] = [same(answer, target) for answer in answers]
    return verified
