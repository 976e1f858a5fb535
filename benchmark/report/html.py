"""The report as one HTML page: no script, no request to anywhere, the same bytes for the same results.

Beside it lie the pages of `sample_pages`, to which its numbers link.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmark.report.drawing import Figure
from benchmark.report.figures import LEARNING, SUPERVISION, draw
from benchmark.report.items import GROUPS
from benchmark.report.noise_curves import noise_figures
from benchmark.report.page import environment
from benchmark.report.pareto import pareto_figure
from benchmark.report.results import CellState, SuiteReport
from benchmark.report.sample_pages import page_name
from benchmark.report.stats import REPETITIONS, SEEDS_FOR_BOOTSTRAP
from benchmark.report.table_model import Table
from benchmark.report.tables import report_tables
from benchmark.stage import SHORT_ID

_PLACED = frozenset({"main", "missing", "benchmarks", "responses", "diagnostics", "costs"})  # by the template
STATISTICS = (
    "Every arm is compared with the reference question by question and seed by seed, benchmarks weigh equally within "
    "their group, and repeated responses to a question count as one observation.",
    f"With one seed the 95% interval comes from {REPETITIONS:,} bootstrap samples of the questions of each benchmark, "
    f"with two to {SEEDS_FOR_BOOTSTRAP - 1} seeds from Student's t with the variance over seeds and questions, beside "
    "that bootstrap, and with more from a bootstrap of seeds and questions.",
)


@dataclass(frozen=True, slots=True)
class SamplesRow:
    """A line of the list of cells: which cell, and relative addresses of its page, its responses and its verdicts."""

    arm: str
    seed: int
    cell: str  # the beginning of its id
    page: str  # empty where the questions are not in the store
    samples: str
    verdicts: str


def to_html(report: SuiteReport, folder: Path | None = None) -> str:
    """Write the report of a suite as a self-contained page.

    `folder` is where the page will lie: from there it links to the responses behind its numbers. Raises DataError
    where the results cannot stand in one table.
    """
    tables = report_tables(report)
    cells = samples_rows(report, folder) if folder is not None else ()
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            cells=cells,
            links=value_links(report, cells),
            tables=tables,
            others=other_tables(tables),
            costs=cost_figures(report, tables["main"]),
            noise=[figure for group in GROUPS for figure in noise_figures(tables["main"], report.arms, group)],
            learning=draw(LEARNING, report.arms, report.reference),
            supervision=draw(SUPERVISION, report.arms, report.reference),
            statistics=STATISTICS,
            claims=claims(report, tables["main"]),
        )
    )


def table_html(table: Table) -> str:
    """Write one table as a fragment for a page of one's own: a real table with caption, scopes and notes."""
    macros: Any = environment().get_template("table.html.j2").module
    return str(macros.show(table, f"{table.key}-table"))


def samples_rows(report: SuiteReport, folder: Path) -> tuple[SamplesRow, ...]:
    """List the cells whose responses are in a store, with addresses relative to `folder`."""

    def address(target: Path) -> str:
        return quote(Path(os.path.relpath(target, folder)).as_posix()) + "/"

    return tuple(
        SamplesRow(
            arm.arm,
            seed,
            source.cell[:SHORT_ID],
            page_name(source) if source.benchmarks is not None else "",
            address(source.samples),
            address(source.verdicts),
        )
        for arm in report.arms
        for seed, source in arm.sources.items()
    )


def value_links(report: SuiteReport, cells: Sequence[SamplesRow]) -> Mapping[str, Mapping[str, str]]:
    """Say where the values of each arm lead: by column key, the part of the page of its first seed.

    Keys are groups and names of benchmarks; the page leads on to the other seeds.
    """
    first = {cell.arm: cell.page for cell in reversed(cells) if cell.page}
    links: dict[str, dict[str, str]] = {}
    for arm in report.arms:
        if arm.arm in first:
            record = next(iter(arm.finished.values())).record
            links[arm.arm] = {key: f"{first[arm.arm]}#{quote(key)}" for key in (*GROUPS, *record["benchmarks"])}
    return links


def other_tables(tables: Mapping[str, Table]) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
    """Return the tables that the page has no fixed place for: those before the table by benchmark, and those after."""
    keys = list(tables)
    shown = [key for key in keys if key not in _PLACED and tables[key].rows and tables[key].columns]
    early = [key for key in shown if keys.index(key) < keys.index("benchmarks")]
    return tuple(tables[key] for key in early), tuple(tables[key] for key in shown if key not in early)


def cost_figures(report: SuiteReport, main: Table) -> tuple[Figure, ...]:
    """Draw labels against accuracy for each group of benchmarks in which there is something to trade."""
    figures = (pareto_figure(main, report.arms, group) for group in GROUPS)
    return tuple(figure for figure in figures if figure is not None)


def claims(report: SuiteReport, main: Table) -> tuple[str, ...]:
    """Say how far the main table carries: seeds, provisional intervals, differences that exclude zero."""
    planned = sorted({len(arm.seeds) for arm in report.arms if arm.trained})
    cells = [row.cells[f"delta_{group}"] for row in main.rows for group in GROUPS]
    compared = [cell for cell in cells if cell.value is not None]
    said = [f"Planned seeds per trained arm: {_range(planned)}."]
    if compared:
        strong, significant = sum(cell.strong for cell in compared), sum(cell.significant for cell in compared)
        said.append(
            f"{strong} of {len(compared)} differences to the reference have an interval that excludes 0; {significant} "
            "hold at 5% after Holm's correction for all that the table plans (*)."
        )
    provisional = sum(cell.provisional for cell in compared)
    if provisional:
        said.append(
            f"{provisional} of {len(compared)} are provisional (†): with fewer than {SEEDS_FOR_BOOTSTRAP} seeds they "
            "do not support a claim about a method, only about these runs."
        )
    if any(arm.state is not CellState.DONE for arm in report.arms):
        said.append("Some cells have no result; what rests on them is marked or withheld, never counted as 0.")
    return tuple(said)


def _range(counts: Sequence[int]) -> str:
    if not counts:
        return "none"
    return str(counts[0]) if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
