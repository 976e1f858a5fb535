"""Which arm of a suite stands beside which: plain GRPO on the labels that a method is given."""

from collections.abc import Mapping
from dataclasses import replace

from benchmark.suite.spec import CellSpec, MethodSpec
from methods.base import TrainingRows

PLAIN_METHODS = frozenset({"grpo", "labeled_only"})
"""Methods that do nothing with labels but verify answers with them."""


def plain_partners(arms: Mapping[str, CellSpec]) -> dict[str, str]:
    """Map the labels of arms to that of the arm with plain GRPO on the same labels, where there is one.

    `arms` holds a cell of each arm, by label.
    """
    plain = {_given(spec): label for label, spec in arms.items() if spec.method.name in PLAIN_METHODS}
    partners = {label: plain.get(_given(spec), "") for label, spec in arms.items() if spec.trained}
    return {label: partner for label, partner in partners.items() if partner not in ("", label)}


def _given(spec: CellSpec) -> CellSpec:
    """Return what an arm is given: all of its specification but the method, and which rows beside the labelled ones."""
    supervision = replace(spec.supervision, rows=TrainingRows.ALL.value)
    return replace(spec, method=MethodSpec("", 0), supervision=supervision, seed=0, probe=None)
