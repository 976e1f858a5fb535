"""The pool stage: training questions and the validation panel, disjoint, with their answers and paraphrases.

A paraphrase becomes a row of its own in a paired training file, so its text must differ from every other question
and paraphrase: a text that occurs twice would carry the label of one row to another.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from benchmark import artifacts
from benchmark.data.content import content_index, seeded_rank
from benchmark.data.micro import splits
from benchmark.data.micro.paraphrase import candidates
from benchmark.data.micro.questions import Question
from benchmark.data.schema import write_json, write_rows
from benchmark.data.sources import PoolItem, collect, rows_of
from benchmark.errors import DataError, unknown_name
from benchmark.stage import StageJob

SOURCES = ("micro", "hub", "local")
PARAPHRASED_POOL = 1536
"""Micro questions whose texts no paraphrase takes, also in a smaller pool: so paraphrases do not depend on its size."""


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
    info["paraphrases"] = sum(bool(item.paraphrase) for item in pool)
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
    questions = splits.training_pool(pool)
    taken = {q.text for q in splits.training_pool(max(pool, PARAPHRASED_POOL))}
    items = []
    for question in questions:
        other = next(text for text in candidates(question) if text not in taken)
        taken.add(other)
        items.append(_item(question, other))
    return items, [_item(q) for q in splits.validation_panel(panel)], {}


def _read(
    source: str, pool: int, panel: int, recipe: Mapping[str, Any]
) -> tuple[list[PoolItem], list[PoolItem], dict[str, Any]]:
    columns, rows = rows_of(source, recipe)
    report = collect(rows, columns)
    items, repeated = _with_distinct_paraphrases(report.items)
    counts = {
        "rows_read": report.rows,
        "below_min_level": report.below_min_level,
        "empty_answers": report.empty_answers,
        "duplicates": report.duplicates,
        "conflicting_duplicates": report.conflicting_duplicates,
        "repeated_paraphrases": repeated,
    }
    training, held_out = divide(items, pool, panel)
    return training, [replace(item, paraphrase="") for item in held_out], counts


def _with_distinct_paraphrases(items: Iterable[PoolItem]) -> tuple[list[PoolItem], int]:
    """Drop each paraphrase that says what another question or an earlier paraphrase says; returns how many."""
    kept = sorted(items, key=lambda item: item.index)  # whatever the order of the source
    taken = {item.index for item in kept}
    repeated = 0
    for position, item in enumerate(kept):
        if not item.paraphrase:
            continue
        other = content_index(item.paraphrase)
        if other in taken:
            kept[position] = replace(item, paraphrase="")
            repeated += 1
        taken.add(other)
    return kept, repeated


def _item(question: Question, paraphrase: str = "") -> PoolItem:
    index = content_index(question.text)
    return PoolItem(index, question.text, question.answer, question.family, question.level, paraphrase)
