"""Control: a coin decides the reward (Spurious Rewards, arXiv 2506.10947).

Some models gain from rewards that carry no information at all. What a method gains over this control on the
same model is its own; what this control gains is not. Every row is treated alike: no label is read.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.base import LabelNeed, Method, Module, SourceConfidence
from methods.groups import Evidence, RolloutGroups
from methods.random_keys import uniforms


@dataclass(frozen=True, slots=True)
class RandomRewardOptions:
    """The coin."""

    seed: int = 0
    probability: float = 0.5  # of reward 1

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int):
            raise ValueError(f"seed: found {self.seed!r}, allowed whole numbers")
        if not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability: found {self.probability!r}, allowed 0 to 1")


class RandomReward(Method):
    """Reward 0 or 1 by the hash of a rollout."""

    name = "random_reward"
    summary = "control: a coin decides the reward"
    module = Module.CONTROL
    paper = "2506.10947"
    confidence = SourceConfidence.PAPER
    label_need = LabelNeed.IGNORED
    Options = RandomRewardOptions
    options: RandomRewardOptions

    def rewards(self, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence) -> NDArray[np.float64]:
        """Toss a coin for every rollout that exists; a failed one scores 0, [B, G]."""
        tossed = uniforms(self.options.seed, groups.step, groups.index, groups.rollout) < self.options.probability
        return (tossed & (groups.lengths > 0)).astype(np.float64)
