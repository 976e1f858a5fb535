"""From a file or a hub dataset to the items of a benchmark, failing closed.

`examine` says everything that is wrong; `load` returns items only where nothing is: no unlisted defect, the expected
number of items, the expected content. A silent repair or a dropped row would change a score that others compare with.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.data.data_files import DATA_VARIABLE, data_directory, read_data_rows
from benchmark.errors import DataError
from benchmark.evaluation.benchmarks.defects import Finding, refused
from benchmark.evaluation.benchmarks.gpqa import question_of, read_restricted_rows
from benchmark.evaluation.benchmarks.hub import read_hub_rows
from benchmark.evaluation.benchmarks.items import Item, content_hash, item_id
from benchmark.evaluation.benchmarks.lint import RawItem, distinct, inspect, inspect_raw, repair
from benchmark.evaluation.benchmarks.options import letter, permutation
from benchmark.evaluation.benchmarks.table import Benchmark, Kind

_NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class Examination:
    """What a source was found to hold; `problems` are the lines for which it is refused."""

    rows: int
    items: tuple[Item, ...]
    content_hash: str
    findings: tuple[Finding, ...]
    problems: tuple[str, ...]


def find_file(benchmark: Benchmark, directory: Path | None = None) -> Path:
    """Return the file of a benchmark below the data directory; a restricted one may also lie there in plain form.

    Raises DataError where there is none.
    """
    folder = directory or data_directory()
    names = [benchmark.file, benchmark.file.removesuffix(".enc")]
    for path in (folder / name for name in names):
        if path.is_file():
            return path
    raise DataError(
        f"no file of benchmark {benchmark.name}: found nothing at {folder / benchmark.file}; "
        f"fix: put it there, set {DATA_VARIABLE}, or choose eval.source=hub"
    )


def load(benchmark: Benchmark, source: str = "local", directory: Path | None = None) -> tuple[Item, ...]:
    """Return the items of a public benchmark from "local" or "hub", in the order of their source.

    Raises DataError, naming what was found and what was expected, where the source differs in anything.
    """
    rows = read_rows_of(benchmark, source, directory)
    examination = examine(benchmark, rows)
    if examination.problems:
        raise DataError(f"benchmark {benchmark.name}: {examination.problems[0]}")
    return examination.items


def read_rows_of(benchmark: Benchmark, source: str, directory: Path | None = None) -> list[dict[str, Any]]:
    """Read the raw rows of a public benchmark.

    Raises DataError where the source cannot be read.
    """
    if source == "hub" and benchmark.hub is not None:
        return read_hub_rows(benchmark.hub)
    path = find_file(benchmark, directory)
    return read_restricted_rows(path) if benchmark.restricted else read_data_rows(path)


def examine(benchmark: Benchmark, rows: Iterable[Mapping[str, Any]]) -> Examination:
    """Repair and inspect rows, and compare them with what the table expects.

    Raises DataError for a row without a needed column.
    """
    items: list[Item] = []
    findings: list[Finding] = []
    for number, row in enumerate(rows):
        raw = _raw_item(benchmark, row, number)
        item, repairs = repair(raw, benchmark.integers)
        items.append(item)
        findings += [*repairs, *inspect_raw(raw), *inspect(item, benchmark.integers, benchmark.usual_options)]
    kept, repeats = distinct(benchmark.name, items)
    findings += repeats
    if benchmark.shuffled:
        kept = [_shuffle(benchmark, item) for item in kept]
    found_hash = content_hash(benchmark.name, kept)
    problems = _describe(refused(findings, benchmark.known))
    if len(kept) != benchmark.items:
        problems.append(
            f"missing or extra items: found {len(kept)}, allowed {benchmark.items}; fix: fetch the file again"
        )
    elif found_hash != benchmark.content_hash:
        problems.append(
            f"changed items: found content hash {found_hash}, allowed {benchmark.content_hash}; "
            "fix: fetch the file again"
        )
    return Examination(len(items), tuple(kept), found_hash, tuple(findings), tuple(problems))


def _describe(findings: list[Finding]) -> list[str]:
    """Write a line per kind of defect: how many items, and which are the first."""
    lines = []
    for defect in dict.fromkeys(finding.defect for finding in findings):
        own = [finding for finding in findings if finding.defect is defect]
        named = ", ".join(
            f"{finding.item} ({finding.detail})" if finding.detail else finding.item for finding in own[:_NAMED_AT_MOST]
        )
        lines.append(
            f"{defect.value}: found {len(own)} items ({named}), allowed none but the listed; fix: correct the file"
        )
    return lines


def _raw_item(benchmark: Benchmark, row: Mapping[str, Any], number: int) -> RawItem:
    name = str(row.get("id", f"{benchmark.name}-{number}"))
    choices = None
    if benchmark.kind is Kind.MULTIPLE_CHOICE:
        choices = tuple(str(choice or "") for choice in _need(row, "choices", name))
    stored_prompt = ""
    if benchmark.restricted and "question" not in row:
        stored_prompt = str(_need(row, "prompt", name))
        question = question_of(stored_prompt, list(choices or ()), name)
    else:
        question = str(_need(row, "question", name) or "")
    gold = row["raw_answer"] if "raw_answer" in row else _need(row, "answer", name)
    labels, index, error = row.get("choice_labels"), row.get("answer_index"), row.get("error")
    return RawItem(
        name,
        question,
        "" if gold is None else str(gold),
        choices,
        tuple(map(str, labels)) if labels else None,
        None if index is None else int(index),
        str(error) if error else None,
        stored_prompt,
    )


def _need(row: Mapping[str, Any], column: str, name: str) -> Any:
    if column not in row:
        raise DataError(f"item {name} has no column {column!r}; allowed {', '.join(row)}; fix: see the loaders")
    return row[column]


def _shuffle(benchmark: Benchmark, item: Item) -> Item:
    choices = item.choices or ()
    order = permutation(item_id(benchmark.name, item.question, choices), choices)
    position = ord(item.gold) - ord("A") if len(item.gold) == 1 else -1
    gold = letter(order.index(position)) if position in order else item.gold
    return Item(
        item.source_id,
        item.question,
        gold,
        tuple(choices[old] for old in order),
        item.tolerance,
        item.occurrence,
    )
