"""Write a report into a folder: Markdown, LaTeX, CSV, JSON and HTML, each file whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from benchmark.files import write_atomically
from benchmark.report.html import to_html
from benchmark.report.latex import latex_page
from benchmark.report.render import json_text, to_csv, to_json, to_markdown
from benchmark.report.results import SuiteReport
from benchmark.report.sample_pages import write_sample_pages
from benchmark.report.table_model import Table
from benchmark.report.tables import report_tables


def write_report(folder: Path, report: SuiteReport) -> list[Path]:
    """Write table.md, table.tex, a CSV file per table, table.json and report.html, and return their paths.

    table.csv is the main table, each other one lies beside it under its key (benchmarks.csv, costs.csv, ...), without
    lines where the table has none; samples/ holds a page with responses per cell. Raises DataError, before anything is
    written, where the results cannot stand in one table.
    """
    tables = report_tables(report)
    texts = {
        "table.md": markdown_page(report, tables),
        "table.tex": latex_page(_shown(tables)),
        **{csv_name(key): to_csv(table) for key, table in tables.items()},
        "table.json": json_page(report, tables),
        "report.html": to_html(report, folder),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text)
    write_sample_pages(folder, report)
    return [folder / name for name in texts]


def csv_name(key: str) -> str:
    """Name the CSV file of a table; the main one is that of the report."""
    return "table.csv" if key == "main" else f"{key}.csv"


def markdown_page(report: SuiteReport, tables: Mapping[str, Table]) -> str:
    """Write all tables that have rows under a heading that says what they are of."""
    origin = (
        f"Suite {report.suite}@{report.version}, profile {report.profile}, results from "
        f"{report.data_date or 'no result yet'}, grader {report.grader_version or 'none yet'}, "
        f"identity `{report.identity}`."
    )
    return "\n".join([f"## {report.title}", "", origin, "", *map(to_markdown, _shown(tables))])


def json_page(report: SuiteReport, tables: Mapping[str, Table] | None = None) -> str:
    """Serialise a report: what it is of, and all its tables with raw numbers.

    Keys: `suite`, `version` (of the suite), `title`, `profile`, `reference` (label of an arm), `identity` (digest of
    the cells), `data_date` (of the newest result) and `grader_version` (both null before the first), `versions` (lists,
    by kind) and `tables`, by key, each as `benchmark.report.render.to_json` describes. `tables` are those of the
    report, laid out here if not given. Raises DataError where the results cannot stand in one table.
    """
    tables = report_tables(report) if tables is None else tables
    head = {
        "suite": report.suite,
        "version": report.version,
        "title": report.title,
        "profile": report.profile,
        "reference": report.reference,
        "identity": report.identity,
        "data_date": report.data_date,
        "grader_version": report.grader_version,
        "versions": {kind: list(report.versions(kind)) for kind in ("grader", "data", "protocol", "engine")},
    }
    return json_text({**head, "tables": {key: to_json(table) for key, table in tables.items()}})


def _shown(tables: Mapping[str, Table]) -> list[Table]:
    return [table for table in tables.values() if table.rows and table.columns]
