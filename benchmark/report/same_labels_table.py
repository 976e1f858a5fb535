"""Against the same labels: what a method adds to plain GRPO that gets the labels the method gets, and no more.

The main table asks how close a method comes to full supervision. Whether the method, and not its labels, is
responsible needs another comparison: on noisy labels with GRPO on the same noisy labels, at a label ratio below one
with GRPO on those labelled rows alone. Arms without such a partner in the suite are not in the table, nor are those
whose partner is the reference, which the main table compares. The differences are a family of their own.
"""

from collections.abc import Sequence

from benchmark.report.arm_cells import arm_row
from benchmark.report.comparison import DELTAS, compare, delta_columns, delta_note
from benchmark.report.results import ArmResult
from benchmark.report.table_model import Column, Quantity, Table, TableCell

_PARTNER = Column("plain", "Plain GRPO", Quantity.TEXT, "the arm with the same labels that it is compared with")


def same_labels_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out one row per arm that the suite has a partner for, with the paired differences to it."""
    by_label = {arm.arm: arm for arm in arms}
    pairs = [(arm, by_label[arm.plain]) for arm in arms if arm.plain in by_label and arm.plain != reference]
    columns = (_PARTNER, *delta_columns("plain GRPO on the same labels")) if pairs else ()
    family = compare(pairs)
    rows = []
    for arm, partner in pairs:
        cells = {"plain": TableCell(partner.arm)} | {key: family.cells[arm.arm, group] for group, key in DELTAS.items()}
        rows.append(arm_row(arm, cells, reference))
    note = delta_note("plain GRPO on the same labels (on the labelled rows alone where not all are)", family)
    return Table(title, "same_labels", "Arm", columns, tuple(rows), (note,) if rows else ())
