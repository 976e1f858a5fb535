"""Stage `grade`: judge stored responses. Pure and repeatable: it never samples."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.errors import DataError, StageError
from benchmark.evaluation.grader import GRADER_VERSION, Verdict, check_canaries, grade
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
    check_complete(items, samples, int(generated["sampling"]["samples"]))
    rows = [_verdict(items[sample["benchmark"], sample["item_id"]], sample) for sample in samples]
    pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.VERDICTS_SCHEMA), job.out / artifacts.VERDICTS)
    info = {"grader_version": GRADER_VERSION, "canaries": canaries, "verdicts": _counts(rows)}
    (job.out / artifacts.GRADE_INFO).write_text(canonical_json(info) + "\n", encoding="utf-8")


def check_complete(items: Iterable[ItemKey], samples: Sequence[Mapping[str, Any]], n: int) -> None:
    """Check that there are exactly the samples 0 .. n-1 of each item.

    Raises DataError that names the first items that are missing, unknown or incomplete: a mean over what happens
    to exist would look like a result.
    """
    found: defaultdict[ItemKey, list[int]] = defaultdict(list)
    for sample in samples:
        found[sample["benchmark"], sample["item_id"]].append(sample["sample"])
    known = set(items)
    problems = {
        "items without samples": known - found.keys(),
        "samples of unknown items": found.keys() - known,
        f"items without exactly the samples 0..{n - 1}": {
            key for key in found.keys() & known if sorted(found[key]) != list(range(n))
        },
    }
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
    record = grade(sample["response"], item["gold"], finish_reason=sample["finish_reason"])
    return {
        "benchmark": item["benchmark"],
        "group": item["group"],
        "item_id": item["item_id"],
        "sample": sample["sample"],
        "verdict": record.verdict.value,
        "extracted": record.extracted,
        "method": record.method,
    }


def _counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Count each verdict per benchmark; verdicts that did not occur are 0, not absent."""
    counted = Counter((row["benchmark"], row["verdict"]) for row in rows)
    benchmarks = sorted({row["benchmark"] for row in rows})
    return {name: {verdict.value: counted[name, verdict.value] for verdict in Verdict} for name in benchmarks}
