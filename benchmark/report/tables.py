"""The tables of a suite, laid out from the results of its arms. Pure; rendering is elsewhere.

A value that does not exist is a state with a reason, never 0; an average never leaves out what is missing.
With some seeds done, a value is the mean of those and says k/n.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmark import artifacts
from benchmark.errors import unknown_name
from benchmark.report.items import GROUPS, ItemScores
from benchmark.report.metrics import macro_average
from benchmark.report.results import ArmResult, CellState, SeedResult, SuiteReport, one_grader_version
from benchmark.report.stats import clustered_standard_error, paired_difference
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell, difference_cell, missing

_GROUP_TITLES = {"id": "ID", "ood": "OOD"}
_NOT_TRAINED = missing(CellState.NOT_APPLICABLE, "the base policy is not trained")

_MAIN = (
    Column("label_ratio", "Label ratio", Quantity.SHARE, "nominal share of labelled rows", min_width=180),
    Column("labels", "Labels", Quantity.COUNT, "ground-truth answers revealed to training"),
    Column("id", "ID", Quantity.ACCURACY, "unweighted mean of the in-distribution benchmarks", with_error=True),
    Column("ood", "OOD", Quantity.ACCURACY, "unweighted mean of the out-of-distribution benchmarks", with_error=True),
    Column("delta_id", "Δ ID", Quantity.DIFFERENCE, "ID minus the reference, 95% interval"),
    Column("delta_ood", "Δ OOD", Quantity.DIFFERENCE, "OOD minus the reference, 95% interval"),
    Column("panel", "Panel", Quantity.ACCURACY, "last accuracy on the validation panel", min_width=180),
    Column("rollouts", "Rollouts", Quantity.COUNT, "responses sampled in training", min_width=110),
    Column("wall_seconds", "Time", Quantity.SECONDS, "wall time of training, all attempts", min_width=100),
    Column("state", "State", Quantity.STATE),
)
_COSTS = (
    Column("labels", "Labels", Quantity.COUNT, "ground-truth answers revealed to training"),
    Column(
        "panel_labels",
        "Panel labels",
        Quantity.COUNT,
        "answers of the validation panel: diagnostics only",
        min_width=140,
    ),
    Column("prompts", "Prompts", Quantity.COUNT, "prompts visited", min_width=140),
    Column("rollouts", "Rollouts", Quantity.COUNT, "responses sampled"),
    Column("generated_tokens", "Tokens", Quantity.COUNT, "tokens generated"),
    Column("optimizer_steps", "Updates", Quantity.COUNT, "optimizer steps", min_width=140),
    Column("wall_seconds", "Wall time", Quantity.SECONDS, "all attempts"),
    Column("cpu_seconds", "CPU time", Quantity.SECONDS, "all processes of the job", min_width=140),
    Column("peak_rss_bytes", "Peak memory", Quantity.BYTES, "sum over the processes of the job"),
)
_RESPONSES = (
    Column("majority", "Majority", Quantity.ACCURACY, "maj@n: majority answer, ties split; mean over benchmarks"),
    Column("pass_at_k", "pass@k", Quantity.ACCURACY, "k: the largest power of two up to n; mean over benchmarks"),
    Column("no_answer_rate", "No answer", Quantity.SHARE, "responses that state no answer"),
    Column("truncated_rate", "Truncated", Quantity.SHARE, "responses cut off before an answer"),
    Column("ungraded_rate", "Ungraded", Quantity.SHARE, "responses that could not be judged"),
    Column("response_tokens", "Tokens", Quantity.COUNT, "mean length of a response"),
)


def report_tables(report: SuiteReport) -> dict[str, Table]:
    """Lay out every table of a report, by key: main, benchmarks, responses, costs, missing."""
    arms, reference = report.arms, report.reference
    tables = (
        suite_table(report.title, arms, reference),
        benchmark_table("Accuracy by benchmark", arms, reference),
        response_table("Responses to the benchmarks", arms, reference),
        cost_table("Cost of training", arms, reference),
        missing_table("Cells without a result", arms),
    )
    return {table.key: table for table in tables}


def suite_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out the main table: one row per arm, compared with the arm labelled `reference`.

    Raises UnknownNameError where no arm has that label, DataError where results cannot be compared (other
    questions, another grader).
    """
    by_label = {arm.arm: arm for arm in arms}
    if reference not in by_label:
        raise unknown_name("reference arm", reference, by_label)
    one_grader_version(tuple(arms))
    rows = tuple(Row(arm.arm, _main_cells(arm, by_label[reference]), arm.arm == reference) for arm in arms)
    return Table(title, "main", "Arm", _MAIN, rows, _notes(rows, reference))


def benchmark_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out the accuracy of each arm on each benchmark, ID benchmarks first."""
    columns = _benchmark_columns(arms)
    return Table(title, "benchmarks", "Arm", columns, _rows(arms, reference, columns, _benchmark_cell))


def cost_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out what each arm cost, as a mean over its seeds."""
    return Table(title, "costs", "Arm", _COSTS, _rows(arms, reference, _COSTS, _cost_cell))


def response_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out what the responses of each arm look like beyond their accuracy."""
    return Table(title, "responses", "Arm", _RESPONSES, _rows(arms, reference, _RESPONSES, _response_cell))


def missing_table(title: str, arms: Sequence[ArmResult]) -> Table:
    """List the cells that have no result, with the reason; without rows where all are done."""
    columns = (
        Column("seed", "Seed", Quantity.COUNT),
        Column("state", "State", Quantity.STATE),
        Column("reason", "Reason", Quantity.TEXT),
    )
    rows = []
    for arm in arms:
        for number, seed in arm.missing.items():
            state = missing(seed.state, seed.reason)
            rows.append(Row(arm.arm, {"seed": TableCell(number), "state": state, "reason": TableCell(seed.reason)}))
    return Table(title, "missing", "Arm", columns, tuple(rows))


def _rows(
    arms: Sequence[ArmResult],
    reference: str,
    columns: Sequence[Column],
    cell: Callable[[ArmResult, str], TableCell],
) -> tuple[Row, ...]:
    return tuple(
        Row(arm.arm, {column.key: cell(arm, column.key) for column in columns}, arm.arm == reference) for arm in arms
    )


def _main_cells(arm: ArmResult, reference: ArmResult) -> dict[str, TableCell]:
    ratio = missing(CellState.NOT_APPLICABLE, "reads no labels") if arm.label_ratio is None else None
    cells = {"label_ratio": _NOT_TRAINED if not arm.trained else ratio or TableCell(arm.label_ratio)}
    cells |= {name: _cost_cell(arm, name) for name in ("labels", "rollouts", "wall_seconds")}
    for group in GROUPS:
        cells[group] = _average_cell(arm, group)
        cells[f"delta_{group}"] = _delta_cell(arm, reference, group)
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

    cell = _mean_cell(arm, lambda seed: seed.average(group), f"no {_GROUP_TITLES[group]} average")
    return cell if cell.value is None else replace(cell, error=error())


def _delta_cell(arm: ArmResult, reference: ArmResult, group: str) -> TableCell:
    if arm is reference:
        return missing(CellState.NOT_APPLICABLE, "the reference itself")
    for side in (arm, reference):
        average = _average_cell(side, group)
        if average.value is None:
            return average if side is arm else missing(average.state, f"reference: {average.note}")
    ours, theirs = _paired_seeds(arm, reference, group)
    if not ours.keys() & theirs.keys():
        return missing(CellState.PARTIAL, f"no seed in common with the reference: {sorted(ours)}, {sorted(theirs)}")
    cell = difference_cell(paired_difference(ours, theirs))
    pairs, planned = len(ours.keys() & theirs.keys()), len(reference.seeds if not arm.trained else arm.seeds)
    return cell if pairs == planned else replace(cell, state=CellState.PARTIAL, seeds=f"{pairs}/{planned}")


def _paired_seeds(
    arm: ArmResult, reference: ArmResult, group: str
) -> tuple[dict[int, ItemScores], dict[int, ItemScores]]:
    """Return the scores to pair by seed; the untrained policy stands beside every seed of the other side."""
    ours, theirs = (
        {number: seed.items.of_group(group) for number, seed in side.finished.items()} for side in (arm, reference)
    )
    if not arm.trained:
        ours = dict.fromkeys(theirs, next(iter(ours.values())))
    elif not reference.trained:
        theirs = dict.fromkeys(ours, next(iter(theirs.values())))
    return ours, theirs


def _mean_cell(arm: ArmResult, value: Callable[[SeedResult], float | None], absent: str) -> TableCell:
    """Average a value over the finished seeds; missing where the arm has none or where one of them lacks it."""
    if not arm.finished:
        return missing(arm.state, arm.reason)
    values = {number: value(seed) for number, seed in arm.finished.items()}
    lacking = [str(number) for number, found in values.items() if found is None]
    if lacking:
        return missing(CellState.PARTIAL, f"{absent}: a part is missing in seed {', '.join(lacking)}")
    mean = float(np.mean([found for found in values.values() if found is not None]))
    if arm.state is CellState.PARTIAL:
        return TableCell(mean, CellState.PARTIAL, arm.reason, seeds=f"{len(values)}/{len(arm.seeds)}")
    return TableCell(mean)


def _cost_cell(arm: ArmResult, name: str) -> TableCell:
    def value(seed: SeedResult) -> float | None:
        return None if seed.costs is None else float(getattr(seed.costs, name))

    return _mean_cell(arm, value, f"no {name}") if arm.trained else _NOT_TRAINED


def _panel_cell(arm: ArmResult) -> TableCell:
    def last(seed: SeedResult) -> float | None:
        curve = seed.curves.get(artifacts.PANEL_ACCURACY)
        return float(curve.values[-1]) if curve is not None and len(curve.values) else None

    if not arm.trained:
        return _NOT_TRAINED
    if arm.finished and all(last(seed) is None for seed in arm.finished.values()):
        return missing(CellState.NOT_APPLICABLE, "the panel was not evaluated")
    return _mean_cell(arm, last, "no panel accuracy")


def _benchmark_columns(arms: Sequence[ArmResult]) -> tuple[Column, ...]:
    """Return a column per benchmark of any result, ordered by group and then as the evaluation names them."""
    found: dict[str, Column] = {}
    groups: dict[str, str] = {}
    for arm in arms:
        for seed in arm.finished.values():
            for name, entry in seed.record["benchmarks"].items():
                about = f"{_GROUP_TITLES[entry['group']]}, {entry['items']} questions, avg@{entry['samples']}"
                found.setdefault(name, Column(name, name, Quantity.ACCURACY, about))
                groups[name] = entry["group"]
    return tuple(sorted(found.values(), key=lambda column: GROUPS.index(groups[column.key])))


def _benchmark_cell(arm: ArmResult, name: str) -> TableCell:
    return _mean_cell(arm, lambda seed: seed.record["benchmarks"].get(name, {}).get("accuracy"), f"no {name}")


def _response_cell(arm: ArmResult, name: str) -> TableCell:
    def value(seed: SeedResult) -> float | None:
        entries = seed.record["benchmarks"].values()
        if name == "pass_at_k":
            return macro_average(entry["pass_at"].get(max(entry["pass_at"], key=int, default="")) for entry in entries)
        return macro_average(entry[name] for entry in entries)

    return _mean_cell(arm, value, f"no {name}")


def _notes(rows: Sequence[Row], reference: str) -> tuple[str, ...]:
    """Say what a reader must know to read the main table honestly."""
    cells = [row.cells[f"delta_{group}"] for row in rows for group in GROUPS]
    notes = [
        f"Accuracies in points (avg@n); Δ is the paired difference to {reference!r} with its 95% interval; "
        "bold where it excludes 0."
    ]
    if any(cell.provisional for cell in cells):
        notes.append(
            "† provisional: fewer than 5 seeds. With 1 seed the interval covers the choice of questions only, not "
            "that of the training run; with 2 to 4 it is a t interval over seeds, and q (where shown) the one over "
            "questions."
        )
    if any(row.cells["state"].state is not CellState.DONE for row in rows):
        notes.append("A value with k/n rests on k of n planned seeds; without a result the state stands instead.")
    return tuple(notes)
