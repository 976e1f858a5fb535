"""Across runs and benchmarks: how robust a ranking is, beside how large its differences are.

Each training run of an arm scores on each benchmark, and these scores are looked at together: their interquartile
mean, and how probable it is that a run of the arm beats one of the reference (Agarwal et al. 2021, arXiv 2108.13264;
`benchmark.report.iqm`). Both need several runs, so arms with a single finished seed are left out and named.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmark.report.arm_cells import arm_row
from benchmark.report.iqm import Estimate, interquartile_mean_interval, probability_of_improvement
from benchmark.report.items import GROUPS
from benchmark.report.results import ArmResult, CellState
from benchmark.report.stats import SEEDS_FOR_BOOTSTRAP
from benchmark.report.table_model import Column, Quantity, Table, TableCell, column_notes, missing

_REPETITIONS = 10_000
_FEWEST = 2  # finished seeds
_COLUMNS = (
    Column(
        "iqm",
        "IQM",
        Quantity.ACCURACY,
        "interquartile mean of accuracy over seeds and benchmarks: the mean of the middle half",
        with_interval=True,
    ),
    Column(
        "improvement",
        "P(better)",
        Quantity.SHARE,
        "probability of improvement: that a run of the arm beats one of the reference on a random benchmark; 50% is no "
        "difference",
        with_interval=True,
    ),
)


def runs_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out one row per trained arm with at least two finished seeds, compared with the reference."""
    shown = [arm for arm in arms if arm.trained and len(arm.finished) >= _FEWEST]
    few = [arm.arm for arm in arms if arm.trained and 0 < len(arm.finished) < _FEWEST]
    names = _benchmarks(shown)
    scores = {arm.arm: _scores(arm, names) for arm in shown}
    rows = tuple(arm_row(arm, _cells(arm, scores, reference), reference) for arm in shown)
    provisional = any(cell.provisional for row in rows for cell in row.cells.values())
    notes = [
        *column_notes(_COLUMNS),
        "95% intervals from a bootstrap of seeds within each benchmark: for these benchmarks and questions.",
        *(["† provisional: fewer than 5 seeds, with which these intervals are too narrow."] if provisional else []),
    ]
    who = "; ".join(few) if rows else "every arm"
    left_out = [f"Left out, as one seed says nothing of another run: {who}."] if few else []
    return Table(title, "runs", "Arm", _COLUMNS, rows, (*(notes if rows else ()), *left_out))


def _benchmarks(arms: Sequence[ArmResult]) -> tuple[str, ...]:
    """Return the benchmarks of ID and OOD that some result has."""
    entries = (seed.record["benchmarks"].items() for arm in arms for seed in arm.finished.values())
    return tuple(dict.fromkeys(name for found in entries for name, entry in found if entry["group"] in GROUPS))


def _scores(arm: ArmResult, names: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the accuracy by seed and benchmark, [S, T]; None where one is missing."""
    rows = [
        [seed.record["benchmarks"].get(name, {}).get("accuracy") for name in names] for seed in arm.finished.values()
    ]
    return None if any(value is None for row in rows for value in row) else np.array(rows, dtype=np.float64)


def _cells(arm: ArmResult, scores: Mapping[str, NDArray[np.float64] | None], reference: str) -> dict[str, TableCell]:
    own, other = scores[arm.arm], scores.get(reference)
    if own is None or not own.size:
        absent = missing(CellState.PARTIAL, "a benchmark has no accuracy in some seed")
        return {column.key: absent for column in _COLUMNS}
    cells = {"iqm": _cell(arm, interquartile_mean_interval(own, repetitions=_REPETITIONS), len(own))}
    if arm.arm == reference:
        cells["improvement"] = missing(CellState.NOT_APPLICABLE, "the reference itself")
    elif other is None:
        cells["improvement"] = missing(CellState.PARTIAL, "the reference has fewer than 2 complete seeds")
    else:
        fewest = min(len(own), len(other))
        cells["improvement"] = _cell(arm, probability_of_improvement(own, other), fewest)
    return cells


def _cell(arm: ArmResult, estimate: Estimate, fewest: int) -> TableCell:
    """Build a cell; provisional where one of its sides has fewer than five seeds."""
    return TableCell(
        estimate.value,
        arm.state,
        arm.reason,
        low=estimate.low,
        high=estimate.high,
        provisional=fewest < SEEDS_FOR_BOOTSTRAP,
        seeds=len(arm.finished),
        planned=len(arm.seeds),
        method="stratified_bootstrap",
    )
