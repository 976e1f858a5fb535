"""Cells and rows that several tables share: means over the seeds of an arm, with the state of what is missing.

With some seeds done, a value is the mean of those and says k/n. A seed that is done but lacks the value withholds
it, as the mean of the others would be that of another quantity.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmark.report.intervals import clustered_standard_error
from benchmark.report.results import ArmResult, CellState, SeedResult
from benchmark.report.table_model import GROUP_TITLES, Column, Row, TableCell, missing

NOT_TRAINED = missing(CellState.NOT_APPLICABLE, "the base policy is not trained")
"""Stands where a value of training would, in the row of the untrained policy."""


def arm_rows(
    arms: Sequence[ArmResult],
    reference: str,
    columns: Sequence[Column],
    cell: Callable[[ArmResult, str], TableCell],
) -> tuple[Row, ...]:
    """Build a row per arm; `cell` gives the cell of an arm in the column with a key."""
    return tuple(arm_row(arm, {column.key: cell(arm, column.key) for column in columns}, reference) for arm in arms)


def arm_row(arm: ArmResult, cells: Mapping[str, TableCell], reference: str) -> Row:
    """Build the row of an arm, which says how many of its seeds are finished."""
    return Row(arm.arm, cells, arm.arm == reference, arm.sources, len(arm.finished), len(arm.seeds))


def mean_cell(arm: ArmResult, value: Callable[[SeedResult], float | None], absent: str) -> TableCell:
    """Average a value over the finished seeds; missing where the arm has none or where one of them lacks it."""
    if not arm.finished:
        return missing(arm.state, arm.reason)
    values = {number: value(seed) for number, seed in arm.finished.items()}
    lacking = [str(number) for number, found in values.items() if found is None]
    if lacking:
        return missing(CellState.PARTIAL, f"{absent}: a part is missing in seed {', '.join(lacking)}")
    mean = float(np.mean([found for found in values.values() if found is not None]))
    return TableCell(mean, arm.state, arm.reason, seeds=len(values), planned=len(arm.seeds))


def average_cell(arm: ArmResult, group: str) -> TableCell:
    """Average the accuracy on a group of benchmarks, with the standard error over its questions."""

    def error() -> float | None:
        scores = [seed.items.of_group(group) for seed in arm.finished.values()]
        if len({tuple(score.item_id.tolist()) for score in scores}) != 1:
            return None
        return clustered_standard_error(np.mean([score.accuracy for score in scores], axis=0), scores[0].benchmark)

    cell = mean_cell(arm, lambda seed: seed.average(group), f"no {GROUP_TITLES[group]} average")
    return cell if cell.value is None else replace(cell, error=error())


def cost_cell(arm: ArmResult, name: str) -> TableCell:
    """Average a figure of `Costs` over the finished seeds."""

    def value(seed: SeedResult) -> float | None:
        return None if seed.costs is None else float(getattr(seed.costs, name))

    return mean_cell(arm, value, f"no {name}") if arm.trained else NOT_TRAINED
