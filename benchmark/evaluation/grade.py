"""Stage `grade`: judge stored responses. Pure and repeatable: it never samples.

Samples are judged from a few threads, because what takes time is waiting for the workers of the symbolic layer.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.errors import DataError, StageError
from benchmark.evaluation.canaries import check_canaries
from benchmark.evaluation.grader import GRADER_VERSION, Verdict, grade
from benchmark.evaluation.workers import default_pool
from benchmark.stage import StageJob, canonical_json

ItemKey = tuple[str, str]
"""Benchmark and item id."""

_NAMED_AT_MOST = 3


def run(job: StageJob) -> None:
    """Read `samples` and `benchmarks`, write verdicts.parquet and grade.json.

    Raises StageError where another grader version was planned or a canary fails, DataError where the
    samples are not exactly n of each item.
    """
    planned = job.params["grader_version"]
    if planned != GRADER_VERSION:
        raise StageError(
            f"grader version changed under way: found {GRADER_VERSION!r}, planned {planned!r}; fix: plan again"
        )
    canaries = check_canaries()
    items = _read_items(job)
    table = pq.read_table(job.inputs["samples"] / artifacts.SAMPLES, schema=artifacts.SAMPLES_SCHEMA)
    samples: list[dict[str, Any]] = table.to_pylist()
    generated = json.loads((job.inputs["samples"] / artifacts.GENERATE_INFO).read_text(encoding="utf-8"))
    check_complete(items, samples, generated["sampling"]["samples"])
    with ThreadPoolExecutor(default_pool().size) as threads:
        rows = list(threads.map(lambda one: _verdict(items[one["benchmark"], one["item_id"]], one), samples))
    pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.VERDICTS_SCHEMA), job.out / artifacts.VERDICTS)
    info = {
        "grader_version": GRADER_VERSION,
        "canaries": canaries,
        "verdicts": _counts(rows),
        "second_grader": second_grader_rates(rows),
    }
    (job.out / artifacts.GRADE_INFO).write_text(canonical_json(info) + "\n", encoding="utf-8")


def second_grader_rates(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float | int | None]]:
    """Count per benchmark how often the two graders disagree about whether a response is correct.

    `compared` are the samples that both judged, `disagreed` a part of them, `rate` their ratio, None without samples.
    """
    compared: defaultdict[str, list[bool]] = defaultdict(list)
    for row in rows:
        judged = compared[row["benchmark"]]
        if row["second"] is not None:
            judged.append((row["verdict"] == Verdict.CORRECT) != (row["second"] == Verdict.CORRECT))
    return {
        name: {
            "compared": len(judged),
            "disagreed": sum(judged),
            "rate": sum(judged) / len(judged) if judged else None,
        }
        for name, judged in sorted(compared.items())
    }


def check_complete(items: Iterable[ItemKey], samples: Sequence[Mapping[str, Any]], n: int | Mapping[str, int]) -> None:
    """Check that there are exactly the samples 0 .. n-1 of each item; n may differ by benchmark.

    Raises DataError that names the first items that are missing, unknown or incomplete: a mean over what happens
    to exist would look like a result.
    """
    found: defaultdict[ItemKey, list[int]] = defaultdict(list)
    for sample in samples:
        found[sample["benchmark"], sample["item_id"]].append(sample["sample"])
    known = set(items)
    problems: dict[str, set[ItemKey]] = {
        "items without samples": known - found.keys(),
        "samples of unknown items": found.keys() - known,
    }
    for key in found.keys() & known:
        wanted = int(n[key[0]] if isinstance(n, Mapping) else n)
        if sorted(found[key]) != list(range(wanted)):
            problems.setdefault(f"items without exactly the samples 0..{wanted - 1}", set()).add(key)
    for problem, keys in problems.items():
        if keys:
            named = ", ".join("/".join(key) for key in sorted(keys)[:_NAMED_AT_MOST])
            raise DataError(f"{problem}: found {len(keys)} ({named}), allowed none; fix: generate again")


def _read_items(job: StageJob) -> dict[ItemKey, Mapping[str, Any]]:
    table = pq.read_table(job.inputs["benchmarks"] / artifacts.BENCHMARKS, schema=artifacts.BENCHMARKS_SCHEMA)
    rows = table.to_pylist()
    counts = Counter((row["benchmark"], row["item_id"]) for row in rows)
    repeated = sorted(key for key, count in counts.items() if count > 1)
    if repeated:
        named = ", ".join("/".join(key) for key in repeated[:_NAMED_AT_MOST])
        raise DataError(f"benchmark items that occur twice: found {len(repeated)} ({named}), allowed none")
    return {(row["benchmark"], row["item_id"]): row for row in rows}


def _verdict(item: Mapping[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    record = grade(
        sample["response"],
        item["gold"],
        kind=item["kind"],
        finish_reason=sample["finish_reason"],
        choices=item["choices"],
        tolerance=item["tolerance"],
    )
    return {
        "benchmark": item["benchmark"],
        "group": item["group"],
        "item_id": item["item_id"],
        "sample": sample["sample"],
        "verdict": record.verdict.value,
        "extracted": record.extracted,
        "method": record.method,
        "choice": record.choice,
        "second": record.second,
    }


def _counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Count each verdict per benchmark; verdicts that did not occur are 0, not absent."""
    counted = Counter((row["benchmark"], row["verdict"]) for row in rows)
    benchmarks = sorted({row["benchmark"] for row in rows})
    return {name: {verdict.value: counted[name, verdict.value] for verdict in Verdict} for name in benchmarks}
