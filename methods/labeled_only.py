"""GRPO on the labelled rows alone: the floor that unlabelled data must beat.

The unlabelled rest of the pool is left out of the training file, so that every rollout is spent on a
labelled question; at a fixed number of steps each of them is visited more often.
"""

from methods.base import LabelNeed, Method, Module, TrainingRows


class LabeledOnly(Method):
    """Plain GRPO restricted to labelled rows."""

    name = "labeled_only"
    summary = "GRPO on the labelled rows alone"
    module = Module.BASELINE
    paper = "2402.03300"
    label_need = LabelNeed.REQUIRED
    rows = TrainingRows.LABELLED
