"""The report as one HTML page: no script, no request to anywhere, the same bytes for the same results."""

from collections.abc import Sequence
from pathlib import Path

from benchmark.report.figures import LEARNING, SUPERVISION, draw
from benchmark.report.items import GROUPS
from benchmark.report.render import NUMBERS, cell_parts
from benchmark.report.results import CellState, SuiteReport
from benchmark.report.stats import REPETITIONS, SEEDS_FOR_BOOTSTRAP
from benchmark.report.table_model import Table
from benchmark.report.tables import report_tables

_TEMPLATES = Path(__file__).parent / "templates"
STATISTICS = (
    "Every arm is compared with the reference question by question and seed by seed, benchmarks weigh equally within "
    "their group, and repeated responses to a question count as one observation.",
    f"With one seed the 95% interval comes from {REPETITIONS:,} bootstrap samples of the questions of each benchmark, "
    f"with two to {SEEDS_FOR_BOOTSTRAP - 1} seeds from Student's t over the means of the seeds beside that bootstrap, "
    "and with more from a bootstrap of seeds and questions.",
)


def to_html(report: SuiteReport) -> str:
    """Write the report of a suite as a self-contained page.

    Raises DataError where its results cannot stand in one table.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(parts=cell_parts, numbers=NUMBERS, not_applicable=CellState.NOT_APPLICABLE)
    tables = report_tables(report)
    return environment.get_template("report.html.j2").render(
        report=report,
        tables=tables,
        learning=draw(LEARNING, report.arms),
        supervision=draw(SUPERVISION, report.arms),
        statistics=STATISTICS,
        claims=claims(report, tables["main"]),
    )


def claims(report: SuiteReport, main: Table) -> tuple[str, ...]:
    """Say how far the main table carries: seeds, provisional intervals, differences that exclude zero."""
    planned = sorted({len(arm.seeds) for arm in report.arms if arm.trained})
    cells = [row.cells[f"delta_{group}"] for row in main.rows for group in GROUPS]
    compared = [cell for cell in cells if cell.value is not None]
    said = [f"Planned seeds per trained arm: {_range(planned)}."]
    if compared:
        strong = sum(cell.strong for cell in compared)
        said.append(
            f"{strong} of {len(compared)} differences to the reference have an interval that excludes 0; the intervals "
            "are not adjusted for the number of comparisons."
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
