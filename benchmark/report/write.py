"""Write a report into a folder: Markdown, LaTeX, CSV, JSON and HTML, each file whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from benchmark.files import write_atomically
from benchmark.report.html import to_html
from benchmark.report.latex import to_latex
from benchmark.report.render import json_text, to_csv, to_json, to_markdown
from benchmark.report.results import SuiteReport
from benchmark.report.table_model import Table
from benchmark.report.tables import report_tables


def write_report(folder: Path, report: SuiteReport) -> list[Path]:
    """Write table.md, table.tex, table.csv, table.json and report.html, and return their paths.

    The CSV holds the main table; the others hold all. Raises DataError, before anything is written, where the
    results cannot stand in one table.
    """
    tables = report_tables(report)
    texts = {
        "table.md": markdown_page(report, tables),
        "table.tex": latex_page(tables),
        "table.csv": to_csv(tables["main"]),
        "table.json": json_page(report, tables),
        "report.html": to_html(report, folder),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in texts]


def markdown_page(report: SuiteReport, tables: Mapping[str, Table]) -> str:
    """Write all tables that have rows under a heading that says what they are of."""
    origin = (
        f"Suite {report.suite}@{report.version}, profile {report.profile}, results from "
        f"{report.data_date or 'no result yet'}, grader {report.grader_version or 'none yet'}, "
        f"identity `{report.identity}`."
    )
    return "\n".join([f"## {report.title}", "", origin, "", *map(to_markdown, _shown(tables))])


def latex_page(tables: Mapping[str, Table]) -> str:
    """Write all tables that have rows as floats, to be included in a document that uses booktabs."""
    return "\n".join(map(to_latex, _shown(tables)))


def json_page(report: SuiteReport, tables: Mapping[str, Table]) -> str:
    """Serialise what the report is of, and all its tables with raw numbers."""
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
