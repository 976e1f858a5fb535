"""The benchmarks stage: write the items of the chosen benchmarks, each with the prompt that is sent."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark import artifacts
from benchmark.data.micro.splits import benchmark_items
from benchmark.data.schema import write_rows
from benchmark.errors import DataError
from benchmark.evaluation.benchmarks.items import Item, item_id
from benchmark.evaluation.benchmarks.loaders import load
from benchmark.evaluation.benchmarks.options import list_options
from benchmark.evaluation.benchmarks.table import MICRO_BENCHMARKS, PUBLIC_BENCHMARKS, Benchmark, benchmark_named
from benchmark.stage import StageJob

SOURCES = {"micro": MICRO_BENCHMARKS, "local": PUBLIC_BENCHMARKS, "hub": PUBLIC_BENCHMARKS}


def run(job: StageJob) -> None:
    """Write benchmarks.parquet.

    Parameters: source (micro, local, hub), benchmarks (names) and items (per benchmark; 0 means all, and for generated
    ones is refused). Raises UnknownNameError for another name, and DataError for another source, a name given twice,
    more generated items than there are, or a file that differs from what the table of benchmarks expects.
    """
    rows = benchmark_rows(job.params["source"], list(job.params["benchmarks"]), int(job.params["items"]))
    write_rows(job.out / artifacts.BENCHMARKS, rows, artifacts.BENCHMARKS_SCHEMA)


def benchmark_rows(
    source: str, names: Sequence[str], items: int, directory: Path | None = None
) -> list[dict[str, Any]]:
    """Build the rows of artifacts.BENCHMARKS_SCHEMA, in the order of `names`.

    `items` limits each benchmark to those with the smallest ids: a sample that is random in content, and part of every
    larger one. Raises as `run`.
    """
    if source not in SOURCES:
        raise DataError(
            f"benchmark source: found {source!r}, allowed {', '.join(SOURCES)}; fix: choose another eval configuration"
        )
    if not names or len(set(names)) != len(names):
        raise DataError(
            f"benchmarks: found {', '.join(names) or 'none'}, allowed distinct names; fix: correct the list"
        )
    chosen = [benchmark_named(name, SOURCES[source]) for name in names]
    return [row for benchmark in chosen for row in _rows(benchmark, source, items, directory)]


def _rows(benchmark: Benchmark, source: str, items: int, directory: Path | None) -> list[dict[str, Any]]:
    if benchmark.generated:
        made = benchmark_items(benchmark.name, items)
        return [row_of(benchmark, Item(question.text, question.text, question.answer)) for question in made]
    rows = [row_of(benchmark, item) for item in load(benchmark, source, directory)]
    return sorted(rows, key=_by_id)[:items] if items else rows


def _by_id(row: dict[str, Any]) -> str:
    return str(row["item_id"])


def row_of(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    """Build the row of an item, with its prompt."""
    options = list_options(item.choices or ())
    return {
        "benchmark": benchmark.name,
        "group": benchmark.group.value,
        "item_id": item_id(benchmark.name, item.question, item.choices or (), item.occurrence),
        "question": item.question,
        "prompt": benchmark.prompt.format(question=item.question, options=options),
        "gold": item.gold,
        "kind": benchmark.kind.value,
        "choices": None if item.choices is None else list(item.choices),
        "tolerance": item.tolerance,
    }
