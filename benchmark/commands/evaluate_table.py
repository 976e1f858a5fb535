"""The table that `venus evaluate` prints: one row per benchmark, then the averages of its groups."""

from typing import Any

from benchmark.report.results import CellState
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell, missing

_COLUMNS = (
    Column("items", "Items", Quantity.COUNT, "questions"),
    Column("samples", "n", Quantity.COUNT, "responses per question"),
    Column("accuracy", "Accuracy", Quantity.ACCURACY, "avg@n with its 95% interval over questions"),
    Column("truncated_rate", "Cut off", Quantity.SHARE, "responses that ended at the limit without an answer"),
    Column("no_answer_rate", "No answer", Quantity.SHARE, "complete responses without an answer", 90),
    Column("response_tokens", "Tokens", Quantity.COUNT, "mean length of a response", 100),
)
_TITLES = {"id": "ID average", "ood": "OOD average"}
_MOST = 3  # differences that are written out


def benchmark_table(data: dict[str, Any]) -> Table:
    """Lay out what `evaluation_data` returned."""
    rows = [Row(name, _cells(entry)) for name, entry in data["benchmarks"].items()]
    rows += [
        Row(_TITLES[group], _average_cells(entry)) for group, entry in data["averages"].items() if entry["benchmarks"]
    ]
    title = f"{data['model'].rpartition('/')[2]} on {data['eval']}"
    notes = ("95% intervals over questions (Wilson); averages are unweighted.",)
    return Table(title, "evaluation", "Benchmark", _COLUMNS, tuple(rows), notes)


def protocol_line(data: dict[str, Any]) -> str:
    """Name the protocol, and where the evaluation differs from it; of many differences, the first and their number."""
    found = data["deviations"]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return f"protocol: {data['protocol']}" + (f", but for {'; '.join(found[:_MOST])}{more}" if found else "")


def _cells(entry: dict[str, Any]) -> dict[str, TableCell]:
    cells = {column.key: TableCell(entry[column.key]) for column in _COLUMNS}
    return cells | {"accuracy": _with_interval(entry["accuracy"], entry, "no response to a question could be judged")}


def _average_cells(entry: dict[str, Any]) -> dict[str, TableCell]:
    cells = {column.key: missing(CellState.NOT_APPLICABLE, "an average of benchmarks") for column in _COLUMNS}
    return cells | {"accuracy": _with_interval(entry["value"], entry, entry["reason"] or "a benchmark has no accuracy")}


def _with_interval(value: float | None, entry: dict[str, Any], reason: str) -> TableCell:
    if value is None:
        return missing(CellState.PARTIAL, reason)
    return TableCell(value, low=entry["low"], high=entry["high"])
