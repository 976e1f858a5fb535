"""GRPO on the given labels: the reference that every method is compared with.

Group-relative policy optimisation (DeepSeekMath, arXiv 2402.03300): the advantage of a rollout is its
verified reward, standardised within its group. An unlabelled item has no target, so its rollouts
all score 0 and its group carries no gradient: at a label ratio below 1 plain GRPO wastes those
rollouts, which is the very cost that the other methods try to avoid.
"""

from methods.base import LabelNeed, Method, Module


class GRPO(Method):
    """Plain GRPO: no surface is used."""

    name = "grpo"
    summary = "GRPO on the given labels; unlabelled rows score 0"
    module = Module.BASELINE
    paper = "2402.03300"
    label_need = LabelNeed.REQUIRED
