"""The main table of a suite: what each arm was given, how accurate it is, and how it differs from the reference.

All differences of the table are one declared family: a star stands where a difference holds at 5% after Holm's
correction for all of them, bold where its own interval excludes zero. The share of the gap recovered has the
untrained policy as its floor, and there is no such column in a suite without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmark import artifacts
from benchmark.errors import unknown_name
from benchmark.report.arm_cells import NOT_TRAINED, cost_cell, mean_cell
from benchmark.report.gap import Scores, gap_recovered
from benchmark.report.items import GROUPS, ItemScores
from benchmark.report.multiplicity import holm
from benchmark.report.results import ArmResult, CellState, SeedResult, refuse_mixed_versions
from benchmark.report.stats import Difference, clustered_standard_error, paired_differences
from benchmark.report.suite_notes import Comparisons, suite_notes
from benchmark.report.table_model import (
    GROUP_TITLES,
    Column,
    Quantity,
    Row,
    Table,
    TableCell,
    difference_cell,
    missing,
)

_FIRST = (
    Column("label_ratio", "Label ratio", Quantity.SHARE, "nominal share of labelled rows", min_width=180),
    Column("labels", "Labels", Quantity.COUNT, "ground-truth answers revealed to training"),
    Column("id", "ID", Quantity.ACCURACY, "unweighted mean of the in-distribution benchmarks", with_error=True),
    Column("ood", "OOD", Quantity.ACCURACY, "unweighted mean of the out-of-distribution benchmarks", with_error=True),
    Column("delta_id", "Δ ID", Quantity.DIFFERENCE, "ID minus the reference, 95% interval"),
    Column("delta_ood", "Δ OOD", Quantity.DIFFERENCE, "OOD minus the reference, 95% interval"),
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
    compared, cells = _compare(arms, by_label[reference])
    floor = next((arm for arm in arms if not arm.trained and arm.arm != reference), None)
    rows = []
    for arm in arms:
        own = _own_cells(arm) | {f"delta_{group}": cells[arm.arm, group] for group in GROUPS}
        if floor is not None:
            own |= {f"gap_{group}": _gap_cell(arm, floor, by_label[reference], group) for group in GROUPS}
        rows.append(Row(arm.arm, own, arm.arm == reference, arm.sources))
    columns = (*_FIRST, *(_gap_columns(floor.arm, reference) if floor is not None else ()), *_LAST)
    return Table(title, "main", "Arm", columns, tuple(rows), suite_notes(rows, arms, compared, reference, floor))


def _own_cells(arm: ArmResult) -> dict[str, TableCell]:
    ratio = missing(CellState.NOT_APPLICABLE, "reads no labels") if arm.label_ratio is None else None
    cells = {"label_ratio": NOT_TRAINED if not arm.trained else ratio or TableCell(arm.label_ratio)}
    cells |= {name: cost_cell(arm, name) for name in ("labels", "rollouts", "wall_seconds")}
    cells |= {group: _average_cell(arm, group) for group in GROUPS}
    cells["panel"] = _panel_cell(arm)
    done = f"{len(arm.finished)}/{len(arm.seeds)}" if arm.state is CellState.PARTIAL else ""
    cells["state"] = TableCell(None, arm.state, arm.reason, seeds=done)
    return cells


def _average_cell(arm: ArmResult, group: str) -> TableCell:
    def error() -> float | None:
        scores = [seed.items.of_group(group) for seed in arm.finished.values()]
        if len({tuple(score.item_id.tolist()) for score in scores}) != 1:
            return None
        return clustered_standard_error(np.mean([score.accuracy for score in scores], axis=0), scores[0].benchmark)

    cell = mean_cell(arm, lambda seed: seed.average(group), f"no {GROUP_TITLES[group]} average")
    return cell if cell.value is None else replace(cell, error=error())


def _panel_cell(arm: ArmResult) -> TableCell:
    def last(seed: SeedResult) -> float | None:
        curve = seed.curves.get(artifacts.PANEL_ACCURACY)
        return float(curve.values[-1]) if curve is not None and len(curve.values) else None

    if not arm.trained:
        return NOT_TRAINED
    if arm.finished and all(last(seed) is None for seed in arm.finished.values()):
        return missing(CellState.NOT_APPLICABLE, "the panel was not evaluated")
    return mean_cell(arm, last, "no panel accuracy")


def _compare(arms: Sequence[ArmResult], reference: ArmResult) -> tuple[Comparisons, dict[tuple[str, str], TableCell]]:
    """Compare every arm with the reference in every group, with probabilities adjusted for all of them."""
    cells = {(arm.arm, group): _no_difference(arm, reference, group) for arm in arms for group in GROUPS}
    by_label = {arm.arm: arm for arm in arms}
    compared: Comparisons = {}
    for group in GROUPS:
        there = [arm for arm in arms if cells[arm.arm, group] is None]
        if there:
            compared |= {(label, group): found for label, found in _differences(there, reference, group).items()}
    adjusted = dict(zip(compared, holm([difference.p_value for difference in compared.values()]), strict=True))
    found: dict[tuple[str, str], TableCell] = {}
    for key, absent in cells.items():
        found[key] = absent or _difference_cell(by_label[key[0]], reference, compared[key], adjusted[key])
    return compared, found


def _differences(arms: Sequence[ArmResult], reference: ArmResult, group: str) -> dict[str, Difference]:
    """Compare arms with the reference, all with a result; the untrained policy stands beside every seed."""
    ours, theirs = {arm.arm: _by_seed(arm, group) for arm in arms}, _by_seed(reference, group)
    seeds = dict.fromkeys(seed for scores in (*ours.values(), theirs) if isinstance(scores, dict) for seed in scores)

    def beside(scores: Scores, others: Iterable[int]) -> Mapping[int, ItemScores]:
        return dict.fromkeys(others, scores) if isinstance(scores, ItemScores) else scores

    common = beside(theirs, seeds or (0,))
    return paired_differences({label: beside(scores, common) for label, scores in ours.items()}, common)


def _no_difference(arm: ArmResult, reference: ArmResult, group: str) -> TableCell | None:
    """Say why an arm has no difference to the reference; None where it has one."""
    if arm is reference:
        return missing(CellState.NOT_APPLICABLE, "the reference itself")
    for side in (arm, reference):
        average = _average_cell(side, group)
        if average.value is None:
            return average if side is arm else missing(average.state, f"reference: {average.note}")
    if arm.trained and reference.trained and not arm.finished.keys() & reference.finished.keys():
        seeds = f"{sorted(arm.finished)}, {sorted(reference.finished)}"
        return missing(CellState.PARTIAL, f"no seed in common with the reference: {seeds}")
    return None


def _difference_cell(arm: ArmResult, reference: ArmResult, difference: Difference, p_adjusted: float) -> TableCell:
    cell = replace(difference_cell(difference), p_adjusted=p_adjusted)
    planned = len(reference.seeds if not arm.trained else arm.seeds)
    if difference.seeds == planned:
        return cell
    return replace(cell, state=CellState.PARTIAL, seeds=f"{difference.seeds}/{planned}")


def _by_seed(arm: ArmResult, group: str) -> dict[int, ItemScores] | ItemScores:
    """Return the scores of an arm by seed; those of the untrained policy have no seed."""
    scores = {number: seed.items.of_group(group) for number, seed in arm.finished.items()}
    return scores if arm.trained else next(iter(scores.values()))


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
        average = _average_cell(side, group)
        if average.value is None:
            return missing(average.state, f"{name}{average.note}")
    scores = (_by_seed(side, group) for side in (arm, floor, ceiling))
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
        seeds=f"{gap.seeds}/{len(arm.seeds)}" if partial else "",
    )
