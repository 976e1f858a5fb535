"""Stage `generate`: sample responses to every benchmark item and store them, one row per sample."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.errors import DataError
from benchmark.evaluation.engines import make_engine
from benchmark.evaluation.engines.base import Completion, Engine, SamplingParameters
from benchmark.stage import StageJob, canonical_json

Item = dict[str, Any]


def run(job: StageJob) -> None:
    """Read `model` and `benchmarks`, write samples.parquet and generate.json.

    Raises DataError for an empty benchmark or a model without a chat template.
    """
    params = SamplingParameters(
        temperature=float(job.params["temperature"]),
        top_p=float(job.params["top_p"]),
        max_tokens=int(job.params["max_tokens"]),
        samples=int(job.params["samples"]),
        seed=int(job.params["seed"]),
    )
    items = _read_items(job)
    started = time.perf_counter()
    engine = make_engine(
        str(job.params["engine"]), job.inputs["model"] / artifacts.MODEL_DIR, int(job.runtime.get("threads", 1))
    )
    rendered = [engine.render([{"role": "user", "content": item["question"]}]) for item in items]
    completions = engine.generate([engine.encode(text) for text in rendered], params, _print_progress)
    rows = _rows(items, rendered, completions)
    pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.SAMPLES_SCHEMA), job.out / artifacts.SAMPLES)
    info = _describe(engine, params, rows, time.perf_counter() - started)
    (job.out / artifacts.GENERATE_INFO).write_text(canonical_json(info) + "\n", encoding="utf-8")


def _read_items(job: StageJob) -> list[Item]:
    table = pq.read_table(job.inputs["benchmarks"] / artifacts.BENCHMARKS, schema=artifacts.BENCHMARKS_SCHEMA)
    items: list[Item] = sorted(table.to_pylist(), key=lambda item: (item["benchmark"], item["item_id"]))
    if not items:
        raise DataError("no benchmark item to answer: found 0 rows, allowed 1 or more; fix: see eval.benchmarks")
    return items


def _rows(
    items: Sequence[Item], rendered: Sequence[str], completions: Sequence[Sequence[Completion]]
) -> list[dict[str, Any]]:
    return [
        {
            "benchmark": item["benchmark"],
            "item_id": item["item_id"],
            "sample": number,
            "prompt_hash": hashlib.sha256(prompt.encode()).hexdigest(),
            "response": completion.text,
            "finish_reason": completion.finish_reason,
            "prompt_tokens": completion.prompt_tokens,
            "response_tokens": completion.response_tokens,
        }
        for item, prompt, own in zip(items, rendered, completions, strict=True)
        for number, completion in enumerate(own)
    ]


def _describe(
    engine: Engine, params: SamplingParameters, rows: Sequence[dict[str, Any]], seconds: float
) -> dict[str, Any]:
    return {
        "engine": {"name": engine.name, "version": engine.version},
        "sampling": asdict(params),
        "prompts": len(rows) // params.samples,
        "responses": len(rows),
        "prompt_tokens": sum(row["prompt_tokens"] for row in rows) // params.samples,
        "response_tokens": sum(row["response_tokens"] for row in rows),
        "truncated": sum(row["finish_reason"] == "length" for row in rows),
        "seconds": seconds,
    }


def _print_progress(done: int, total: int) -> None:
    print(f"generated {done}/{total}", flush=True)
