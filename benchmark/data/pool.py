"""The pool stage: training questions and the validation panel, disjoint, with their answers."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from benchmark import artifacts
from benchmark.data.content import content_index, seeded_rank
from benchmark.data.micro import splits
from benchmark.data.micro.questions import Question
from benchmark.data.schema import write_json, write_rows
from benchmark.data.sources import PoolItem, collect, rows_of
from benchmark.errors import DataError, unknown_name
from benchmark.stage import StageJob

SOURCES = ("micro", "hub", "local")


def run(job: StageJob) -> None:
    """Write pool.parquet, panel.parquet and pool.json (what became of the rows of the source).

    Parameters: source, pool and panel (rows; pool 0 means all), recipe. Raises DataError where
    the source cannot be read or holds too few questions.
    """
    source, recipe = job.params["source"], job.params["recipe"]
    sizes = (int(job.params["pool"]), int(job.params["panel"]))
    if source not in SOURCES:
        raise unknown_name("data source", source, SOURCES)
    pool, panel, info = _generated(*sizes, recipe) if source == "micro" else _read(source, *sizes, recipe)
    indices = {item.index for item in (*pool, *panel)}
    if len(indices) != len(pool) + len(panel):
        raise DataError("two questions of pool and panel have the same index; fix: remove one of them from the source")
    write_rows(job.out / artifacts.POOL, map(asdict, pool), artifacts.POOL_SCHEMA)
    write_rows(job.out / artifacts.PANEL, map(asdict, panel), artifacts.POOL_SCHEMA)
    write_json(job.out / artifacts.POOL_INFO, {"source": source, "pool": len(pool), "panel": len(panel), **info})


def divide(items: list[PoolItem], pool: int, panel: int) -> tuple[list[PoolItem], list[PoolItem]]:
    """Carve panel and pool out of items by the hash of their content.

    The panel does not depend on the size of the pool, and a smaller pool is a prefix of a larger one. Pool 0 means
    all that the panel leaves. Raises DataError where there are too few items.
    """
    if panel < 0 or pool < 0 or panel + max(pool, 1) > len(items):
        raise DataError(
            f"the source holds too few questions: found {len(items)}, wanted {pool or 'all'} for the pool after "
            f"{panel} for the panel; fix: lower data.pool or data.panel"
        )
    ordered = sorted(items, key=lambda item: seeded_rank("panel", 0, item.index))
    rest = ordered[panel:]
    return rest[: pool or len(rest)], ordered[:panel]


def _generated(
    pool: int, panel: int, recipe: Mapping[str, Any]
) -> tuple[list[PoolItem], list[PoolItem], dict[str, Any]]:
    for key in recipe:
        raise unknown_name("key in the recipe of data source 'micro'", key, ())
    questions = splits.training_pool(pool), splits.validation_panel(panel)
    return [_item(q) for q in questions[0]], [_item(q) for q in questions[1]], {}


def _read(
    source: str, pool: int, panel: int, recipe: Mapping[str, Any]
) -> tuple[list[PoolItem], list[PoolItem], dict[str, Any]]:
    columns, rows = rows_of(source, recipe)
    report = collect(rows, columns)
    counts = {
        "rows_read": report.rows,
        "below_min_level": report.below_min_level,
        "empty_answers": report.empty_answers,
        "duplicates": report.duplicates,
        "conflicting_duplicates": report.conflicting_duplicates,
    }
    return *divide(report.items, pool, panel), counts


def _item(question: Question) -> PoolItem:
    return PoolItem(content_index(question.text), question.text, question.answer, question.family, question.level)
