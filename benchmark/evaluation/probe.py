"""Stage `probe`: sample answers to every question of the pool from a policy, with evidence about each response.

A probe never trains anything. It feeds selection scorers, the wrong answers of active noise, and the
transitions between rounds. Prompts are rendered and sampled exactly as by the stage `generate`. Evidence costs
one more forward pass over the sampled responses; without evidence there is none.

Trade-off taken: the whole probe is held in memory and written in one go, with the evidence as one flat array per kind,
so that no token becomes a Python number.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmark import artifacts
from benchmark.data.schema import read_rows, write_json
from benchmark.errors import DataError
from benchmark.evaluation.engines import make_engine
from benchmark.evaluation.engines.base import Completion, Engine, SamplingParameters
from benchmark.evaluation.extract import extract_answer
from benchmark.stage import StageJob
from methods.groups import EvidenceKind

KINDS = (EvidenceKind.ENTROPY, EvidenceKind.SELF_CERTAINTY, EvidenceKind.ATTENTION, EvidenceKind.HIDDEN_STATES)
"""The evidence that a probe can hold: the columns of artifacts.PROBE_SCHEMA."""
LAYERS = ("all", "none")
_FAR = 32  # tokens: the published-like attention window; it must fit several times into a response
_WINDOWS_PER_RESPONSE = 10
_CHUNK_VALUES = 2**30

Arrays = list[NDArray[np.float32]]


def run(job: StageJob) -> None:
    """Write probe.parquet, by index and sample, and probe.json.

    Inputs: model, pool. Parameters: samples, temperature, top_p, max_tokens, seed, engine, evidence (values of
    EvidenceKind) and layers (all or none, of the hidden states). Raises DataError for evidence that a probe cannot
    hold or that the engine cannot give, and for an empty pool.
    """
    kinds = _kinds(job.params)
    params = SamplingParameters(
        temperature=float(job.params["temperature"]),
        top_p=float(job.params["top_p"]),
        max_tokens=int(job.params["max_tokens"]),
        samples=int(job.params["samples"]),
        seed=int(job.params["seed"]),
    )
    questions = sorted(
        read_rows(job.inputs["pool"] / artifacts.POOL, artifacts.POOL_SCHEMA), key=lambda row: row["index"]
    )
    if not questions:
        raise DataError("no question to probe: found an empty pool, allowed 1 or more; fix: raise data.pool")
    started = time.perf_counter()
    engine = make_engine(
        str(job.params["engine"]), job.inputs["model"] / artifacts.MODEL_DIR, int(job.runtime.get("threads", 1))
    )
    if kinds:
        _require_model(engine, kinds)  # before hours of sampling
    prompts = [engine.encode(engine.render([{"role": "user", "content": row["question"]}])) for row in questions]
    groups = engine.generate(prompts, params, _print_progress)
    evidence = _evidence(engine, prompts, groups, kinds, params) if kinds else {}
    table = _table([row["index"] for row in questions], groups, evidence)
    pq.write_table(table, job.out / artifacts.PROBE)
    info = _description(engine, kinds, params, [one for own in groups for one in own])
    write_json(job.out / artifacts.PROBE_INFO, {**info, "seconds": time.perf_counter() - started})


def attention_window(max_tokens: int) -> int:
    """Say from how many tokens back attention counts as far, for responses of at most `max_tokens`."""
    return max(1, min(_FAR, max_tokens // _WINDOWS_PER_RESPONSE))


def _kinds(params: Mapping[str, Any]) -> tuple[EvidenceKind, ...]:
    asked, layers = set(params["evidence"]), params["layers"]
    unknown = sorted(asked - set(KINDS))
    if unknown:
        raise DataError(f"evidence of a probe: found {unknown[0]!r}, allowed {', '.join(KINDS)}; fix: ask for these")
    if layers not in LAYERS:
        raise DataError(f"layers of a probe: found {layers!r}, allowed {' or '.join(LAYERS)}; fix: ask for one")
    if EvidenceKind.HIDDEN_STATES in asked and layers == "none":
        raise DataError("hidden states of a probe: found layers 'none', allowed 'all'; fix: set layers to all")
    return tuple(kind for kind in KINDS if kind in asked)


def _require_model(engine: Engine, kinds: Sequence[EvidenceKind]) -> None:
    from benchmark.evaluation.engines.transformers import TransformersEngine

    if not isinstance(engine, TransformersEngine):
        raise DataError(
            f"evidence from engine {engine.name!r}: found {', '.join(kinds)}, allowed none, because it keeps no model "
            "to run; fix: probe with engine transformers"
        )


def _evidence(
    engine: Any,
    prompts: Sequence[Sequence[int]],
    groups: Sequence[Sequence[Completion]],
    kinds: Sequence[EvidenceKind],
    params: SamplingParameters,
) -> dict[EvidenceKind, Arrays]:
    """Return each kind of evidence per response; hidden states are flattened, [layers * width]."""
    from benchmark.evaluation.engines.evidence import LongRange, response_evidence

    found = response_evidence(
        engine.model,
        [(prompt, completion.token_ids) for prompt, own in zip(prompts, groups, strict=True) for completion in own],
        frozenset(kind.value for kind in kinds),
        layers="all",
        temperature=params.temperature or 1.0,  # greedy decoding reads the policy's own distribution
        pad_id=engine.pad_id,
        long_range=LongRange(window=attention_window(params.max_tokens)),
    )
    return {kind: [np.ravel(getattr(one, kind.value)) for one in found] for kind in kinds}


def _description(
    engine: Any, kinds: Sequence[EvidenceKind], params: SamplingParameters, completions: Sequence[Completion]
) -> dict[str, Any]:
    hidden = EvidenceKind.HIDDEN_STATES in kinds
    window = {"attention_window": attention_window(params.max_tokens)} if EvidenceKind.ATTENTION in kinds else {}
    return {
        "engine": {"name": engine.name, "version": engine.version},
        "sampling": asdict(params),
        "samples": params.samples,
        "prompts": len(completions) // params.samples,
        "response_tokens": sum(completion.response_tokens for completion in completions),
        "truncated": sum(completion.finish_reason == "length" for completion in completions),
        "evidence": list(kinds),
        "layers": engine.model.config.num_hidden_layers + 1 if hidden else 0,  # the embeddings are row 0
        "width": engine.model.config.hidden_size if hidden else 0,
        **window,
    }


def _table(
    indices: Sequence[int], groups: Sequence[Sequence[Completion]], evidence: Mapping[EvidenceKind, Arrays]
) -> pa.Table:
    completions = [
        (index, sample, one) for index, own in zip(indices, groups, strict=True) for sample, one in enumerate(own)
    ]
    columns: dict[str, Any] = {
        "index": [index for index, _, _ in completions],
        "sample": [sample for _, sample, _ in completions],
        "response": [one.text for _, _, one in completions],
        "answer": [extract_answer(one.text).answer for _, _, one in completions],
        "finish_reason": [one.finish_reason for _, _, one in completions],
        "response_tokens": [one.response_tokens for _, _, one in completions],
    }
    for kind in KINDS:
        arrays = evidence.get(kind)
        columns[kind.value] = [None] * len(completions) if arrays is None else _lists(arrays)
    return pa.table(columns, schema=artifacts.PROBE_SCHEMA)


def _lists(arrays: Arrays) -> pa.ChunkedArray:
    """Build a list column from one array per row, in chunks whose offsets fit into 32 bits."""
    rows = max(1, _CHUNK_VALUES // max(1, *map(len, arrays)))
    return pa.chunked_array([_chunk(arrays[start : start + rows]) for start in range(0, len(arrays), rows)])


def _chunk(arrays: Arrays) -> pa.Array:
    offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, np.concatenate(arrays).astype(np.float32, copy=False))


def _print_progress(done: int, total: int) -> None:
    print(f"probed {done}/{total}", flush=True)
