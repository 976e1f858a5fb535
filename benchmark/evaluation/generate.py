"""Stage `generate`: sample responses to every benchmark item and store them, one row per sample.

All benchmarks go to the engine in one call. A prompt gets at most the tokens that are left of the model's context; one
that fills the context by itself cannot be answered and is stored as cut off: empty, finish reason `length`. Both are
counted by benchmark in generate.json, beside the settings that were sent: a limit of the model is a property of the
evaluation, and neither an error nor a wrong answer that looks like any other.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.errors import DataError, StageError
from benchmark.evaluation.engines import make_engine
from benchmark.evaluation.engines.base import Completion, Engine, SamplingParameters
from benchmark.stage import StageJob, canonical_json

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked about one item; `sent` is None where the prompt leaves no room for a response."""

    benchmark: str
    item_id: str
    rendered: str
    prompt: list[int]
    asked: SamplingParameters
    sent: SamplingParameters | None


def run(job: StageJob) -> None:
    """Read `model` and `benchmarks`, write samples.parquet and generate.json.

    `samples` is a number, or a mapping from benchmark to number. Raises DataError for an empty benchmark, one without
    a number of samples or a model without a chat template, StageError for fewer responses than were asked for.
    """
    items = _read_items(job)
    asked = sampling_by_benchmark(job.params, list(dict.fromkeys(item["benchmark"] for item in items)))
    started = time.perf_counter()
    engine = make_engine(
        str(job.params["engine"]), job.inputs["model"] / artifacts.MODEL_DIR, int(job.runtime.get("threads", 1))
    )
    requests = [_request(engine, item, asked[item["benchmark"]]) for item in items]
    completions = _generate(engine, requests)
    check_counts(requests, completions)
    rows = _rows(requests, completions)
    pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.SAMPLES_SCHEMA), job.out / artifacts.SAMPLES)
    info = {
        "engine": {"name": engine.name, "version": engine.version, "context": engine.context},
        "sampling": _as_planned(asked),
        "benchmarks": {name: _describe(name, own, requests, rows) for name, own in asked.items()},
        **_counts(requests, rows),
        "seconds": time.perf_counter() - started,
    }
    (job.out / artifacts.GENERATE_INFO).write_text(canonical_json(info) + "\n", encoding="utf-8")


def sampling_by_benchmark(params: Mapping[str, Any], names: Sequence[str]) -> dict[str, SamplingParameters]:
    """Return the settings of each benchmark.

    Raises DataError where `samples` is a mapping that lacks one of them.
    """
    samples = params["samples"]
    per_benchmark = samples if isinstance(samples, Mapping) else dict.fromkeys(names, samples)
    lacking = [name for name in names if name not in per_benchmark]
    if lacking:
        raise DataError(
            f"samples per benchmark: found none for {', '.join(lacking)}, allowed a number for each; "
            "fix: add it to eval.samples"
        )
    return {
        name: SamplingParameters(
            temperature=float(params["temperature"]),
            top_p=float(params["top_p"]),
            max_tokens=int(params["max_tokens"]),
            samples=int(per_benchmark[name]),
            seed=int(params["seed"]),
            stop=tuple(params.get("stop", ())),
        )
        for name in names
    }


def check_counts(requests: Sequence[Request], completions: Sequence[Sequence[Completion]]) -> None:
    """Raise StageError where an item has another number of responses than was asked for."""
    odd = [
        (request, len(own))
        for request, own in zip(requests, completions, strict=True)
        if len(own) != request.asked.samples
    ]
    if odd:
        request, found = odd[0]
        raise StageError(
            f"responses are missing for {len(odd)} of {len(requests)} items: found {found} for "
            f"{request.benchmark}/{request.item_id}, allowed {request.asked.samples}; fix: run again, see the log above"
        )


def _read_items(job: StageJob) -> list[Item]:
    table = pq.read_table(job.inputs["benchmarks"] / artifacts.BENCHMARKS, schema=artifacts.BENCHMARKS_SCHEMA)
    items: list[Item] = sorted(table.to_pylist(), key=lambda item: (item["benchmark"], item["item_id"]))
    if not items:
        raise DataError("no benchmark item to answer: found 0 rows, allowed 1 or more; fix: see eval.benchmarks")
    return items


def _request(engine: Engine, item: Item, asked: SamplingParameters) -> Request:
    rendered = engine.render([{"role": "user", "content": item["prompt"]}])
    prompt = engine.encode(rendered)
    room = engine.context - len(prompt) if engine.context else asked.max_tokens
    sent = replace(asked, max_tokens=min(asked.max_tokens, room)) if room > 0 else None
    return Request(item["benchmark"], item["item_id"], rendered, prompt, asked, sent)


def _generate(engine: Engine, requests: Sequence[Request]) -> list[list[Completion]]:
    """Sample what can be sampled, in one call; returns one list of completions per request."""
    sendable = [(request.prompt, request.sent) for request in requests if request.sent]
    found = iter(engine.generate([prompt for prompt, _ in sendable], [sent for _, sent in sendable], _print_progress))
    return [next(found) if request.sent else _cut_off(request) for request in requests]


def _cut_off(request: Request) -> list[Completion]:
    return [Completion("", (), "length", len(request.prompt), 0)] * request.asked.samples


def _rows(requests: Sequence[Request], completions: Sequence[Sequence[Completion]]) -> list[dict[str, Any]]:
    return [
        {
            "benchmark": request.benchmark,
            "item_id": request.item_id,
            "sample": number,
            "prompt_hash": hashlib.sha256(request.rendered.encode()).hexdigest(),
            "response": completion.text,
            "finish_reason": completion.finish_reason,
            "prompt_tokens": completion.prompt_tokens,
            "response_tokens": completion.response_tokens,
        }
        for request, own in zip(requests, completions, strict=True)
        for number, completion in enumerate(own)
    ]


def _as_planned(asked: Mapping[str, SamplingParameters]) -> dict[str, Any]:
    """Describe the settings as planned: `samples` is one number, or one by benchmark where they differ."""
    samples = {name: own.samples for name, own in asked.items()}
    shared = asdict(next(iter(asked.values())))
    return {**shared, "samples": samples if len(set(samples.values())) > 1 else shared["samples"]}


def _describe(
    name: str, asked: SamplingParameters, requests: Sequence[Request], rows: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Describe one benchmark: the settings that were sent, and what came back."""
    own = [request for request in requests if request.benchmark == name]
    limits = [request.sent.max_tokens for request in own if request.sent]
    return {
        "sampling": {**asdict(asked), "max_tokens": max(limits, default=0)},
        "least_max_tokens": min(limits, default=0),
        "shortened": sum(limit < asked.max_tokens for limit in limits),  # prompts, for the context of the model
        "too_long": len(own) - len(limits),  # prompts that fill the context
        **_counts(own, [row for row in rows if row["benchmark"] == name]),
    }


def _counts(requests: Sequence[Request], rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    return {
        "prompts": len(requests),
        "responses": len(rows),
        "prompt_tokens": sum(len(request.prompt) for request in requests),
        "response_tokens": sum(row["response_tokens"] for row in rows),
        "truncated": sum(row["finish_reason"] == "length" for row in rows),
    }


def _print_progress(done: int, total: int) -> None:
    print(f"generated {done}/{total}", flush=True)
