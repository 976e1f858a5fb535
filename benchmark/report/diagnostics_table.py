"""What supervision did in training, per arm, over the last third of the steps.

The runner records these metrics with the hidden truth beside training (`benchmark.training.diagnostics`); no method
sees them. A step in which a metric is undefined (no unlabelled prompt, nothing refined) does not count, so a value
is the mean of the steps that have one, not weighted by how many prompts they had.
"""

from collections.abc import Sequence

import numpy as np

from benchmark.report.arm_cells import NOT_TRAINED, arm_rows
from benchmark.report.results import ArmResult, CellState, SeedResult
from benchmark.report.table_model import Column, Quantity, Table, TableCell, column_notes, missing

_PREFIX = "supervision/"
_COLUMNS = (
    Column(
        "pseudo_label_share",
        "Pseudo labels",
        Quantity.SHARE,
        "share of the unlabelled prompts with a pseudo label",
        min_width=100,
    ),
    Column("pseudo_label_accuracy", "Pseudo acc.", Quantity.SHARE, "pseudo labels that are true"),
    Column("admitted_share", "Admitted", Quantity.SHARE, "prompts that are admitted to the update"),
    Column(
        "admitted_pseudo_label_accuracy",
        "Precision",
        Quantity.SHARE,
        "precision of admission: pseudo labels of admitted prompts that are true",
    ),
    Column(
        "reward_auroc_unlabelled",
        "AUROC",
        Quantity.NUMBER,
        "how often a right rollout of an unlabelled prompt scores above a wrong one of its group; .5 is chance",
    ),
    Column(
        "given_label_accuracy",
        "Label acc.",
        Quantity.SHARE,
        "labels in the training data that are true: those given, and those that an earlier round promoted or changed",
        min_width=100,
    ),
    Column(
        "refined_share", "Refined", Quantity.SHARE, "share of the labelled prompts with a refined label", min_width=100
    ),
    Column("refined_accuracy", "Refined acc.", Quantity.SHARE, "refined labels that are true: precision of refinement"),
    Column(
        "wrong_labels_corrected",
        "Corrected",
        Quantity.SHARE,
        "prompts with a wrong label whose target is true: recall of refinement",
    ),
)
_SHOWN_WITH = {"refined_share": "refined_accuracy"}  # recorded as 0 by every arm with labels: no news without the other


def diagnostics_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out the diagnostics that some arm has recorded: means over the last third of the steps, then over seeds."""
    columns = tuple(
        column for column in _COLUMNS if any(_recorded(arm, _SHOWN_WITH.get(column.key, column.key)) for arm in arms)
    )
    rows = arm_rows(arms, reference, columns, _cell)
    notes = (
        "Means over the last third of the training steps, then over seeds; measured against the hidden truth, "
        "which no method sees.",
        *column_notes(columns),
    )
    return Table(title, "diagnostics", "Arm", columns, rows, notes)


def late_mean(seed: SeedResult, metric: str) -> float | None:
    """Return the mean of a metric over the steps after two thirds of all, None where none of them recorded it."""
    curve = seed.curves.get(metric)
    if curve is None or not len(curve.steps):
        return None
    last = max(int(other.steps[-1]) for other in seed.curves.values() if len(other.steps))
    late = curve.values[3 * curve.steps > 2 * last]
    return float(late.mean()) if len(late) else None


def _recorded(arm: ArmResult, name: str) -> bool:
    return any(_PREFIX + name in seed.curves for seed in arm.finished.values())


def _cell(arm: ArmResult, name: str) -> TableCell:
    """Average over the seeds that have the metric in their last third; missing where there is none."""
    if not arm.trained:
        return NOT_TRAINED
    if not arm.finished:
        return missing(arm.state, arm.reason)
    if not _recorded(arm, name):
        return missing(CellState.NOT_APPLICABLE, "not recorded: the arm has nothing that it measures")
    means = {number: late_mean(seed, _PREFIX + name) for number, seed in arm.finished.items()}
    values = [value for value in means.values() if value is not None]
    if not values:
        return missing(CellState.NOT_APPLICABLE, "undefined in the last third of the steps")
    mean, planned = float(np.mean(values)), len(arm.seeds)
    if len(values) == planned:
        return TableCell(mean, seeds=planned, planned=planned)
    lacking = [f"seed {number}: undefined in the last third" for number, value in means.items() if value is None]
    reason = "; ".join([*([arm.reason] if arm.reason else []), *lacking])
    return TableCell(mean, CellState.PARTIAL, reason, seeds=len(values), planned=planned)
