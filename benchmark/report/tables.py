"""The tables of a suite, laid out from the results of its arms. Pure; rendering is elsewhere.

A value that does not exist is a state with a reason, never 0; an average never leaves out what is missing.
With some seeds done, a value is the mean of those and says k/n.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from benchmark.report.arm_cells import arm_rows, cost_cell, mean_cell
from benchmark.report.convergence import CONVERGENCE, convergence_cells, convergence_notes
from benchmark.report.diagnostics_table import diagnostics_table
from benchmark.report.items import GROUPS
from benchmark.report.metrics import macro_average
from benchmark.report.results import ArmResult, SeedResult, SuiteReport
from benchmark.report.runs_table import runs_table
from benchmark.report.same_labels_table import same_labels_table
from benchmark.report.suite_notes import average_title
from benchmark.report.suite_table import suite_table
from benchmark.report.table_model import GROUP_TITLES, Column, Quantity, Row, Table, TableCell, column_notes, missing

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
    Column("majority", "maj@n", Quantity.ACCURACY, "the majority answer of all n responses is right, ties split"),
    Column("pass_at_k", "pass@k", Quantity.ACCURACY, "at least one of k responses is right"),
    Column("no_answer_rate", "No answer", Quantity.SHARE, "responses that state no answer"),
    Column("truncated_rate", "Truncated", Quantity.SHARE, "responses cut off before an answer"),
    Column("ungraded_rate", "Ungraded", Quantity.SHARE, "responses that could not be judged"),
    Column("response_tokens", "Tokens", Quantity.COUNT, "mean length of a response"),
)
_RESPONSE_KEYS = frozenset(column.key for column in _RESPONSES)
# of benchmarks for which they are defined: enough responses, a second grader
_WHERE_DEFINED = (
    Column(
        "g_pass",
        "mG-Pass",
        Quantity.ACCURACY,
        "stability: mean G-Pass@k over the thresholds above one half, k = n/2; over benchmarks with n of 4 or more",
    ),
    Column(
        "disagreement_rate",
        "Graders differ",
        Quantity.SHARE,
        "responses that one of two independent graders calls correct and the other does not",
    ),
)


@lru_cache(maxsize=2)
def report_tables(report: SuiteReport) -> Mapping[str, Table]:
    """Lay out every table of a report, by key.

    These are main, same_labels, benchmarks, diagnostics, responses, runs, costs and missing, in this order. A report is
    printed and written in several forms: its tables, which need a bootstrap, are laid out once.
    """
    arms, reference = report.arms, report.reference
    tables = (
        suite_table(report.title, arms, reference),
        same_labels_table("Against the same labels", arms, reference),
        benchmark_table("Accuracy by benchmark", arms, reference),
        diagnostics_table("Diagnostics", arms, reference),
        response_table("Responses to the benchmarks", arms, reference),
        runs_table("Across runs and benchmarks", arms, reference),
        cost_table("Cost of training", arms, reference),
        missing_table("Cells without a result", arms),
    )
    return MappingProxyType({table.key: table for table in tables})


def benchmark_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out the accuracy of each arm on each benchmark, ID benchmarks first."""
    columns = _benchmark_columns(arms)
    return Table(title, "benchmarks", "Arm", columns, arm_rows(arms, reference, columns, _benchmark_cell))


def cost_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out what each arm cost, as a mean over its seeds, and the step from which it is as good as the reference."""
    convergence = convergence_cells(arms, reference)

    def cell(arm: ArmResult, name: str) -> TableCell:
        return convergence[arm.arm] if name == CONVERGENCE.key else cost_cell(arm, name)

    columns = (*_COSTS[:-3], CONVERGENCE, *_COSTS[-3:])  # before the costs of the machine
    rows = arm_rows(arms, reference, columns, cell)
    return Table(title, "costs", "Arm", columns, rows, convergence_notes(arms, reference))


def response_table(title: str, arms: Sequence[ArmResult], reference: str) -> Table:
    """Lay out what the responses of each arm look like beyond their accuracy."""
    entries = [entry for arm in arms for seed in arm.finished.values() for entry in seed.record["benchmarks"].values()]
    more = tuple(
        column for column in _WHERE_DEFINED if any(_defined(entry, column.key) is not None for entry in entries)
    )
    columns = tuple(map(_numbered(entries), _RESPONSES + more))
    notes = ("Means over all benchmarks.", *column_notes(columns))
    return Table(title, "responses", "Arm", columns, arm_rows(arms, reference, columns, _response_cell), notes)


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


def _numbered(entries: Sequence[Mapping[str, Any]]) -> Callable[[Column], Column]:
    """Return what puts numbers into the titles of maj@n and pass@k, where they are the same for all benchmarks."""
    largest = {max(map(int, entry["pass_at"]), default=0) for entry in entries}
    titles = {"majority": average_title(entries, "maj")}
    titles |= {"pass_at_k": f"pass@{largest.pop()}"} if len(largest) == 1 and 0 not in largest else {}
    return lambda column: replace(column, title=titles.get(column.key, column.title))


def _benchmark_columns(arms: Sequence[ArmResult]) -> tuple[Column, ...]:
    """Return a column per benchmark of any result, by group (none last) and then as the evaluation names them."""
    found: dict[str, Column] = {}
    groups: dict[str, str] = {}
    for arm in arms:
        for seed in arm.finished.values():
            for name, entry in seed.record["benchmarks"].items():
                group = GROUP_TITLES.get(entry["group"], "in no average")
                about = f"{group}, {entry['items']} questions, avg@{entry['samples']}"
                found.setdefault(name, Column(name, name, Quantity.ACCURACY, about))
                groups[name] = entry["group"]
    order = {group: place for place, group in enumerate(GROUPS)}
    return tuple(sorted(found.values(), key=lambda column: order.get(groups[column.key], len(order))))


def _benchmark_cell(arm: ArmResult, name: str) -> TableCell:
    return mean_cell(arm, lambda seed: seed.record["benchmarks"].get(name, {}).get("accuracy"), f"no {name}")


def _response_cell(arm: ArmResult, name: str) -> TableCell:
    def value(seed: SeedResult) -> float | None:
        entries = seed.record["benchmarks"].values()
        if name == "pass_at_k":
            return macro_average(entry["pass_at"].get(max(entry["pass_at"], key=int, default="")) for entry in entries)
        if name in _RESPONSE_KEYS:
            return macro_average(entry[name] for entry in entries)
        return macro_average(found for entry in entries if (found := _defined(entry, name)) is not None)

    return mean_cell(arm, value, f"no {name}")


def _defined(entry: Mapping[str, Any], name: str) -> float | None:
    """Return a figure of a benchmark that may be undefined there, or unknown to the version that recorded it."""
    found: float | None = (entry.get("g_pass_at") or {}).get("mean") if name == "g_pass" else entry.get(name)
    return found
