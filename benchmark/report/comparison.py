"""Arms against what they are measured by: the differences of one table, which are one declared family.

A star stands where a difference holds at 5% after Holm's correction, bold where its own intervals exclude zero. The
correction counts every difference that the table has planned, so that an arm that is not finished makes
the others no more certain. A difference on a single seed of a suite that planned several is not tested: its interval
and its p would be about questions only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmark.report.arm_cells import average_cell
from benchmark.report.gap import Scores
from benchmark.report.items import GROUPS, ItemScores
from benchmark.report.multiplicity import holm
from benchmark.report.results import ArmResult, CellState
from benchmark.report.stats import Difference, paired_differences
from benchmark.report.table_model import (
    GROUP_TITLES,
    SIGNIFICANCE,
    Column,
    Quantity,
    TableCell,
    difference_cell,
    missing,
)

DELTAS = {group: f"delta_{group}" for group in GROUPS}
"""Column keys of the differences, by group of benchmarks."""

Key = tuple[str, str]
"""Label of an arm and group of benchmarks."""


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """The differences of a table: a cell for each arm and group, and what is known of those that exist."""

    cells: Mapping[Key, TableCell]
    differences: Mapping[Key, Difference]
    planned: int  # how many differences the correction counts
    tested: int


def delta_columns(other: str) -> tuple[Column, ...]:
    """Build the columns of the differences to `other`, in words."""
    return tuple(
        Column(
            key, f"Δ {GROUP_TITLES[group]}", Quantity.DIFFERENCE, f"{GROUP_TITLES[group]} minus {other}, 95% interval"
        )
        for group, key in DELTAS.items()
    )


def compare(pairs: Sequence[tuple[ArmResult, ArmResult]]) -> Family:
    """Compare the first of each pair with the second, in every group; no arm comes first twice."""
    absent = {(arm.arm, group): _no_difference(arm, other, group) for arm, other in pairs for group in GROUPS}
    differences = _differences(pairs, absent)
    several = max((len(arm.seeds) for arm, _ in pairs), default=0) > 1
    tested = {key: found for key, found in differences.items() if not several or found.seeds > 1}
    planned = len(differences) + sum(
        cell is not None and cell.state is not CellState.NOT_APPLICABLE for cell in absent.values()
    )
    untested = [1.0] * (planned - len(tested))
    adjusted = dict(zip(tested, holm([found.p_value for found in tested.values()] + untested), strict=False))
    cells: dict[Key, TableCell] = {}
    for arm, other in pairs:
        for group in GROUPS:
            key = (arm.arm, group)
            cells[key] = absent[key] or _cell(arm, other, differences[key], adjusted.get(key))
    return Family(cells, differences, planned, len(tested))


def delta_note(other: str, family: Family) -> str:
    """Explain the differences of a table to `other`, in words, and their marks."""
    star = (
        f", a star (*) where p < {100 * SIGNIFICANCE:g}% after Holm's correction for all {family.planned} differences "
        "of this table"
    )
    return (
        f"Δ is the paired difference to {other} with its 95% interval: bold where this and the interval over questions "
        f"exclude 0{star if family.tested else ''}."
    )


def scores_by_seed(arm: ArmResult, group: str) -> dict[int, ItemScores] | ItemScores:
    """Return the scores of an arm by seed; those of the untrained policy have no seed."""
    scores = {number: seed.items.of_group(group) for number, seed in arm.finished.items()}
    return scores if arm.trained else next(iter(scores.values()))


def _no_difference(arm: ArmResult, other: ArmResult, group: str) -> TableCell | None:
    """Say why an arm has no difference; None where it has one."""
    if arm is other:
        return missing(CellState.NOT_APPLICABLE, "the reference itself")
    for side in (arm, other):
        average = average_cell(side, group)
        if average.value is None:
            return average if side is arm else missing(average.state, f"{other.arm}: {average.note}")
    if arm.trained and other.trained and not arm.finished.keys() & other.finished.keys():
        seeds = f"{sorted(arm.finished)}, {sorted(other.finished)}"
        return missing(CellState.PARTIAL, f"no seed in common with {other.arm}: {seeds}")
    return None


def _differences(
    pairs: Sequence[tuple[ArmResult, ArmResult]], absent: Mapping[Key, TableCell | None]
) -> dict[Key, Difference]:
    """Compare the pairs that can be; those with the same second share the draws of the bootstrap."""
    found: dict[Key, Difference] = {}
    for group in GROUPS:
        by_other: dict[str, list[tuple[ArmResult, ArmResult]]] = {}
        for arm, other in pairs:
            if absent[arm.arm, group] is None:
                by_other.setdefault(other.arm, []).append((arm, other))
        for together in by_other.values():
            arms = _against([arm for arm, _ in together], together[0][1], group)
            found |= {(label, group): difference for label, difference in arms.items()}
    return found


def _against(arms: Sequence[ArmResult], other: ArmResult, group: str) -> dict[str, Difference]:
    """Compare arms with one other; the untrained policy stands beside every seed."""
    ours, theirs = {arm.arm: scores_by_seed(arm, group) for arm in arms}, scores_by_seed(other, group)
    seeds = dict.fromkeys(seed for scores in (*ours.values(), theirs) if isinstance(scores, dict) for seed in scores)

    def beside(scores: Scores, others: Iterable[int]) -> Mapping[int, ItemScores]:
        return dict.fromkeys(others, scores) if isinstance(scores, ItemScores) else scores

    common = beside(theirs, seeds or (0,))
    return paired_differences({label: beside(scores, common) for label, scores in ours.items()}, common)


def _cell(arm: ArmResult, other: ArmResult, difference: Difference, p_adjusted: float | None) -> TableCell:
    """Build the cell of a difference; without an adjusted probability it is not tested, hence not strong either."""
    planned = len(other.seeds if not arm.trained else arm.seeds)
    state = CellState.DONE if difference.seeds == planned else CellState.PARTIAL
    cell = replace(difference_cell(difference), state=state, planned=planned, p_adjusted=p_adjusted)
    return cell if p_adjusted is not None else replace(cell, p_value=None, strong=False)
