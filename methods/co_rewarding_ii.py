"""Co-rewarding-II: a slowly moving average of the policy votes (arXiv 2508.00410, section 3.3).

The teacher starts as the policy and follows it as an exponential moving average; its answers are the voters, the
policy's own rollouts are trained on. Separating who labels from who learns delays the collapse in which
a policy agrees with itself on a constant answer. Labelled items keep their given label.

The runner keeps and samples the teacher as `TeacherPlan` says. The paper's schedule takes the weight of the teacher
from .99 to .9999, so the policy enters with 1e-2 falling to 1e-4 (the paper's printed equation ends at 1, its code at
1e-5: option `last_rate`). The divergence penalty is against the same moving teacher (`kl_ref`), so that the
anchor drifts; "frozen" keeps it at the base policy.
"""

from dataclasses import dataclass
from typing import Final

from benchmark.errors import MethodError
from methods.base import Method, Module
from methods.groups import RolloutGroups, Targets
from methods.pseudo_labels import majority_targets
from methods.teacher import TeacherPlan

KL_REFS: Final = ("teacher", "frozen")


@dataclass(frozen=True, slots=True)
class CoRewardingIIOptions:
    """How the teacher is sampled and moved."""

    teacher_rollouts: int = 8
    first_rate: float = 0.01
    last_rate: float = 1e-4
    kl_ref: str = "teacher"  # or "frozen"

    def __post_init__(self) -> None:
        if not isinstance(self.teacher_rollouts, int) or self.teacher_rollouts < 1:
            raise ValueError(f"teacher_rollouts: found {self.teacher_rollouts!r}, allowed whole numbers from 1")
        if not 0.0 < self.last_rate <= self.first_rate <= 1.0:
            raise ValueError(
                f"first_rate and last_rate: found {self.first_rate:g} and {self.last_rate:g}, "
                "allowed 0 < last_rate <= first_rate <= 1"
            )
        if self.kl_ref not in KL_REFS:
            raise ValueError(f"kl_ref: found {self.kl_ref!r}, allowed {', '.join(KL_REFS)}")


class CoRewardingII(Method):
    """Majority vote of an EMA teacher."""

    name = "co_rewarding_ii"
    summary = "majority answer of an EMA teacher as pseudo label (Co-rewarding-II)"
    module = Module.CONSTRUCTION
    paper = "2508.00410"
    Options = CoRewardingIIOptions
    options: CoRewardingIIOptions

    @property
    def teacher(self) -> TeacherPlan:
        """Sample and move the teacher as the options say."""
        options = self.options
        return TeacherPlan(
            options.teacher_rollouts, options.first_rate, options.last_rate, anchors=options.kl_ref == "teacher"
        )

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the unique majority of the teacher's answers, else no target.

        Raises MethodError where the teacher was not sampled.
        """
        if groups.teacher_answers is None:
            raise MethodError(
                f"method {self.name!r} needs a teacher: found no teacher answers in step {groups.step}; "
                "fix: the runner must sample the teacher that `teacher` plans"
            )
        return majority_targets(groups, groups.teacher_answers)
