"""The plan of an EMA teacher: a slowly moving average of the policy that a method learns from.

The runner keeps the average (in float32, beside the training engine), samples from it and moves it; a
method only says how. Source: Co-rewarding-II (arXiv 2508.00410, section 3.3).
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TeacherPlan:
    """How the teacher is sampled and moved.

    After each step the teacher becomes (1 - a) * teacher + a * policy, where a falls from `first_rate` to
    `last_rate` on half a cosine.
    """

    rollouts: int  # answers per prompt that the teacher gives
    first_rate: float  # a at the first step, in (0, 1]
    last_rate: float  # a at the last step, in (0, 1]
    anchors: bool  # whether the divergence penalty is against the teacher instead of the frozen base policy

    def rate(self, step: int, steps: int) -> float:
        """Return a for the 1-based `step` of `steps`."""
        progress = (step - 1) / max(1, steps - 1)
        return self.last_rate + 0.5 * (self.first_rate - self.last_rate) * (1 + math.cos(math.pi * progress))
