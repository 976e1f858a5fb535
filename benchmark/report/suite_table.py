"""The main table of a suite: what each arm was given, how accurate it is, and how it differs from the reference.

All differences of the table are one declared family (benchmark.report.comparison). The share of the gap recovered
has the untrained policy as its floor, and there is no such column in a suite without it.
"""

from collections.abc import Sequence

from benchmark import artifacts
from benchmark.errors import unknown_name
from benchmark.report.arm_cells import NOT_TRAINED, arm_row, average_cell, cost_cell, mean_cell
from benchmark.report.comparison import DELTAS, compare, delta_columns, scores_by_seed
from benchmark.report.gap import gap_recovered
from benchmark.report.items import GROUPS
from benchmark.report.results import ArmResult, CellState, SeedResult, refuse_mixed_versions
from benchmark.report.suite_notes import suite_notes
from benchmark.report.table_model import GROUP_TITLES, Column, Quantity, Table, TableCell, missing

_GIVEN = (
    Column("label_ratio", "Label ratio", Quantity.SHARE, "nominal share of labelled rows", min_width=180),
    Column("labels", "Labels", Quantity.COUNT, "ground-truth answers revealed to training"),
)
_SEEDS = Column("seeds", "Seeds", Quantity.COUNT, "finished seeds: training runs that the values are means of")
_ACCURACY = (
    Column("id", "ID", Quantity.ACCURACY, "unweighted mean of the in-distribution benchmarks", with_error=True),
    Column("ood", "OOD", Quantity.ACCURACY, "unweighted mean of the out-of-distribution benchmarks", with_error=True),
    *delta_columns("the reference"),
)
_LAST = (
    Column("panel", "Panel", Quantity.ACCURACY, "last accuracy on the validation panel", min_width=180),
    Column("rollouts", "Rollouts", Quantity.COUNT, "responses sampled in training", min_width=110),
    Column("wall_seconds", "Time", Quantity.SECONDS, "wall time of training, all attempts", min_width=100),
    Column("state", "State", Quantity.STATE),
)


def suite_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out the main table: one row per arm, compared with the arm labelled `reference`.

    Raises UnknownNameError where no arm has that label, DataError where results cannot be compared (another version
    of the grader, the data or the protocol, other questions).
    """
    by_label = {arm.arm: arm for arm in arms}
    if reference not in by_label:
        raise unknown_name("reference arm", reference, by_label)
    refuse_mixed_versions(arms)
    family = compare([(arm, by_label[reference]) for arm in arms])
    floor = next((arm for arm in arms if not arm.trained and arm.arm != reference), None)
    seeds = (_SEEDS,) if len({len(arm.seeds) for arm in arms if arm.trained}) > 1 else ()
    rows = []
    for arm in arms:
        own = _own_cells(arm) | {delta: family.cells[arm.arm, group] for group, delta in DELTAS.items()}
        if seeds:
            own["seeds"] = _seeds_cell(arm)
        if floor is not None:
            own |= {f"gap_{group}": _gap_cell(arm, floor, by_label[reference], group) for group in GROUPS}
        rows.append(arm_row(arm, own, reference))
    gaps = _gap_columns(floor.arm, reference) if floor is not None else ()
    columns = (*_GIVEN, *seeds, *_ACCURACY, *gaps, *_LAST)
    return Table(title, "main", "Arm", columns, tuple(rows), suite_notes(rows, arms, family, reference, floor))


def _own_cells(arm: ArmResult) -> dict[str, TableCell]:
    cells = {"label_ratio": _label_ratio_cell(arm)}
    cells |= {name: cost_cell(arm, name) for name in ("labels", "rollouts", "wall_seconds")}
    cells |= {group: average_cell(arm, group) for group in GROUPS}
    cells["panel"] = _panel_cell(arm)
    cells["state"] = TableCell(None, arm.state, arm.reason, seeds=len(arm.finished), planned=len(arm.seeds))
    return cells


def _label_ratio_cell(arm: ArmResult) -> TableCell:
    if not arm.trained:
        return NOT_TRAINED
    return TableCell(0.0, note="reads no labels") if arm.label_ratio is None else TableCell(arm.label_ratio)


def _seeds_cell(arm: ArmResult) -> TableCell:
    if not arm.trained:
        return NOT_TRAINED
    if not arm.finished:
        return missing(arm.state, arm.reason)
    return TableCell(float(len(arm.finished)), arm.state, arm.reason)


def _panel_cell(arm: ArmResult) -> TableCell:
    def last(seed: SeedResult) -> float | None:
        curve = seed.curves.get(artifacts.PANEL_ACCURACY)
        return float(curve.values[-1]) if curve is not None and len(curve.values) else None

    if not arm.trained:
        return NOT_TRAINED
    if arm.finished and all(last(seed) is None for seed in arm.finished.values()):
        return missing(CellState.NOT_APPLICABLE, "the panel was not evaluated")
    return mean_cell(arm, last, "no panel accuracy")


def _gap_columns(floor: str, ceiling: str) -> tuple[Column, ...]:
    return tuple(
        Column(
            f"gap_{group}",
            f"Gap {GROUP_TITLES[group]}",
            Quantity.SHARE,
            f"share of the gap from {floor} to {ceiling} that is recovered, 95% interval",
            min_width=220,
            with_interval=True,
        )
        for group in GROUPS
    )


def _gap_cell(arm: ArmResult, floor: ArmResult, ceiling: ArmResult, group: str) -> TableCell:
    if arm in (floor, ceiling):
        return missing(CellState.NOT_APPLICABLE, "an end of the gap itself")
    for side, name in ((arm, ""), (floor, "floor: "), (ceiling, "reference: ")):
        average = average_cell(side, group)
        if average.value is None:
            return missing(average.state, f"{name}{average.note}")
    scores = (scores_by_seed(side, group) for side in (arm, floor, ceiling))
    gap = gap_recovered(*scores, floor_name=floor.arm, ceiling_name=ceiling.arm)
    if gap.value is None:
        return missing(CellState.NOT_APPLICABLE, f"undefined: {gap.reason}")
    partial = gap.seeds < len(arm.seeds)
    return TableCell(
        gap.value,
        CellState.PARTIAL if partial else CellState.DONE,
        low=gap.low,
        high=gap.high,
        provisional=gap.provisional,
        seeds=gap.seeds,
        planned=len(arm.seeds),
        method="fieller",
    )
