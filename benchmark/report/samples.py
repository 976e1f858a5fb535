"""The responses of a cell beside their questions and verdicts: what a number in a table rests on.

Texts of restricted benchmarks (GPQA asks that no example appears in plain form) are left out unless asked for: then
their item ids and verdicts remain.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.errors import DataError, unknown_name
from benchmark.evaluation.benchmarks.table import BENCHMARKS
from benchmark.evaluation.grader import Verdict

_KEY = ("benchmark", "item_id", "sample")
_RESTRICTED = "gpqa"  # what a benchmark outside the table may be a version of


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One response with what it was asked and how it was judged; texts are None where they are withheld."""

    benchmark: str
    item_id: str
    sample: int
    question: str | None
    choices: tuple[str, ...] | None  # A, B, ... in the order of the prompt; None also for mathematics
    gold: str | None
    response: str | None
    extracted: str | None  # the stated answer; None also where there is none
    verdict: str
    method: str  # layer of the grader that decided
    second: str | None  # verdict of the second grader, where it applies
    finish_reason: str
    response_tokens: int
    withheld: bool = False  # a restricted benchmark: texts are None for that reason


@dataclass(frozen=True, slots=True)
class ResponseList:
    """The first responses that were asked for, in the order of the evaluation, and how many there are."""

    responses: tuple[JudgedResponse, ...]
    matching: int
    total: int


@dataclass(frozen=True, slots=True)
class BenchmarkSample:
    """Some responses of a cell to one benchmark, one per question in each list, and how many there are of all."""

    wrong: tuple[JudgedResponse, ...]
    right: tuple[JudgedResponse, ...]
    verdicts: dict[str, int]  # responses by verdict, most frequent first


@dataclass(frozen=True, slots=True)
class ResponseFolders:
    """Where the parts of an evaluated cell lie: artifacts of `benchmarks`, `generate` and `grade`."""

    benchmarks: Path
    samples: Path
    verdicts: Path


def read_responses(
    folders: ResponseFolders,
    *,
    benchmark: str | None = None,
    wrong: bool = False,
    limit: int | None = None,
    restricted: bool = False,
) -> ResponseList:
    """Read the responses to one benchmark or all; `wrong` keeps those that are not correct, whatever the reason.

    Raises UnknownNameError for a benchmark that the cell was not evaluated on, DataError for a verdict without a
    response or a question.
    """
    verdicts = _read(folders.verdicts / artifacts.VERDICTS)
    asked = _read(folders.benchmarks / artifacts.BENCHMARKS)
    names = list(dict.fromkeys(asked["benchmark"].to_pylist()))
    if benchmark is not None and benchmark not in names:
        raise unknown_name("benchmark", benchmark, names)
    wanted = _wanted(verdicts, names, benchmark, wrong)
    chosen: list[dict[str, Any]] = wanted.slice(0, limit).to_pylist()
    items = {(row["benchmark"], row["item_id"]): row for row in asked.to_pylist()}
    samples = _samples(folders.samples / artifacts.SAMPLES, chosen)
    responses = tuple(_judged(row, items, samples, restricted) for row in chosen)
    return ResponseList(responses, wanted.num_rows, verdicts.num_rows)


def sample_by_benchmark(folders: ResponseFolders, *, wrong: int, right: int) -> dict[str, BenchmarkSample]:
    """Read the first response of each verdict side to the first questions of every benchmark, texts withheld as always.

    Of a question with several wrong (or right) responses the first is taken, so that the lists are of different
    questions. Raises DataError for a verdict without a response or a question.
    """
    asked = _read(folders.benchmarks / artifacts.BENCHMARKS)
    names = list(dict.fromkeys(asked["benchmark"].to_pylist()))
    rows = _wanted(_read(folders.verdicts / artifacts.VERDICTS), names, None, wrong=False).to_pylist()
    chosen: dict[tuple[str, bool], dict[str, dict[str, Any]]] = {}
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for row in rows:
        side = row["verdict"] == Verdict.CORRECT
        counts[row["benchmark"]][row["verdict"]] += 1
        of_side = chosen.setdefault((row["benchmark"], side), {})
        if len(of_side) < (right if side else wrong):
            of_side.setdefault(row["item_id"], row)
    wanted = [row for of_side in chosen.values() for row in of_side.values()]
    ids = pa.array(sorted({row["item_id"] for row in wanted}), pa.string())
    questions = asked.filter(pc.is_in(asked["item_id"], value_set=ids)).to_pylist()
    items = {(row["benchmark"], row["item_id"]): row for row in questions}
    samples = _samples(folders.samples / artifacts.SAMPLES, wanted)

    def judged(name: str, side: bool) -> tuple[JudgedResponse, ...]:
        rows = chosen.get((name, side), {}).values()
        return tuple(_judged(row, items, samples, restricted=False) for row in rows)

    return {
        name: BenchmarkSample(judged(name, False), judged(name, True), dict(counts[name].most_common()))
        for name in names
    }


def is_restricted(benchmark: str) -> bool:
    """Say whether the texts of a benchmark must not be shown unasked."""
    known = next((entry for entry in BENCHMARKS if entry.name == benchmark), None)
    return benchmark.startswith(_RESTRICTED) if known is None else known.restricted


def _wanted(verdicts: pa.Table, names: list[str], benchmark: str | None, wrong: bool) -> pa.Table:
    if benchmark is not None:
        verdicts = verdicts.filter(pc.equal(verdicts["benchmark"], benchmark))
    if wrong:
        verdicts = verdicts.filter(pc.not_equal(verdicts["verdict"], Verdict.CORRECT.value))
    place = pc.index_in(verdicts["benchmark"], pa.array(names))
    order = [("place", "ascending"), ("item_id", "ascending"), ("sample", "ascending")]
    return verdicts.append_column("place", place).sort_by(order)


def _samples(path: Path, chosen: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Read the chosen responses by their key; the others, which may be long, never become Python objects."""
    table = _read(path)
    ids = pa.array(sorted({row["item_id"] for row in chosen}), pa.string())
    rows = table.filter(pc.is_in(table["item_id"], value_set=ids)).to_pylist()
    return {tuple(row[name] for name in _KEY): row for row in rows}


def _judged(
    verdict: dict[str, Any],
    items: dict[tuple[str, str], dict[str, Any]],
    samples: dict[tuple[Any, ...], dict[str, Any]],
    restricted: bool,
) -> JudgedResponse:
    key = tuple(verdict[name] for name in _KEY)
    item, sample = items.get(key[:2]), samples.get(key)
    if item is None or sample is None:
        lacking = "question" if item is None else "response"
        raise DataError(f"verdict of {'/'.join(map(str, key))} has no {lacking}; fix: grade the cell again")
    judged = JudgedResponse(
        benchmark=verdict["benchmark"],
        item_id=verdict["item_id"],
        sample=verdict["sample"],
        question=item["question"],
        choices=tuple(item.get("choices") or ()) or None,
        gold=item["gold"],
        response=sample["response"],
        extracted=verdict["extracted"],
        verdict=verdict["verdict"],
        method=verdict["method"],
        second=verdict.get("second"),
        finish_reason=sample["finish_reason"],
        response_tokens=sample["response_tokens"],
    )
    if restricted or not is_restricted(judged.benchmark):
        return judged
    return replace(judged, question=None, choices=None, gold=None, response=None, extracted=None, withheld=True)


def _read(path: Path) -> pa.Table:
    return pq.read_table(path)
