"""An evaluated cell written by hand: questions, responses and verdicts, as artifacts of a store."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.runs.store import Store
from benchmark.stage import Stage, StageKind

SECRET = "a text that must not be printed"
ITEMS = (
    {"benchmark": "mul", "group": "id", "item_id": "m1", "question": "3*4?", "gold": "12", "kind": "math"},
    {"benchmark": "add", "group": "id", "item_id": "a1", "question": "1+1?", "gold": "2", "kind": "math"},
    {
        "benchmark": "gpqa_diamond",
        "group": "ood",
        "item_id": "g1",
        "question": SECRET,
        "gold": "B",
        "kind": "multiple_choice",
        "choices": [f"no, {SECRET}", f"yes, {SECRET}"],
    },
)
# benchmark, item, sample, response, verdict, extracted
RESPONSES = (
    ("mul", "m1", 0, r"so \boxed{12}", "correct", "12"),
    ("mul", "m1", 1, "line one\nso \\boxed{13}\x1b[31m", "wrong", "13"),
    ("add", "a1", 0, "I do not know", "no_answer", None),
    ("add", "a1", 1, r"\boxed{2}", "correct", "2"),
    ("gpqa_diamond", "g1", 0, f"{SECRET}: A", "wrong", "A"),
    ("gpqa_diamond", "g1", 1, f"{SECRET}: B", "correct", "B"),
)


def write_parts(root: Path, items=ITEMS, responses=RESPONSES) -> dict[str, Path]:
    """Write the artifacts of benchmarks, generate and grade below `root`; return their folders by input name."""
    groups = {item["item_id"]: item["group"] for item in items}
    samples = [
        {
            "benchmark": benchmark,
            "item_id": item,
            "sample": sample,
            "prompt_hash": "0" * 64,
            "response": text,
            "finish_reason": "stop",
            "prompt_tokens": 5,
            "response_tokens": len(text),
        }
        for benchmark, item, sample, text, _, _ in responses
    ]
    verdicts = [
        {
            "benchmark": benchmark,
            "group": groups[item],
            "item_id": item,
            "sample": sample,
            "verdict": verdict,
            "extracted": extracted,
            "method": "text",
        }
        for benchmark, item, sample, _, verdict, extracted in responses
    ]
    tables = {
        "benchmarks": (list(items), artifacts.BENCHMARKS_SCHEMA, artifacts.BENCHMARKS),
        "samples": (samples, artifacts.SAMPLES_SCHEMA, artifacts.SAMPLES),
        "verdicts": (verdicts[::-1], artifacts.VERDICTS_SCHEMA, artifacts.VERDICTS),
    }
    for name, (rows, schema, file) in tables.items():
        (root / name).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), root / name / file)
    return {name: root / name for name in tables}


def publish_cell(store: Store, record: str, folders: dict[str, Path], keys: dict[StageKind, str] | None = None) -> None:
    """Publish the artifacts of an untrained cell, with an empty record under the key `record`.

    The keys of its parts are those in `keys`, else they begin with "part-".
    """
    kinds = {"benchmarks": StageKind.BENCHMARKS, "samples": StageKind.GENERATE, "verdicts": StageKind.GRADE}
    own = {name: keys[kind] if keys else f"part-{name}-{record}" for name, kind in kinds.items()}
    for name, key in own.items():
        files = {path.name: path.read_bytes() for path in folders[name].iterdir()}
        _publish(store, Stage(kinds[name], 1, "{}", ()), key, files)
    summary = {"benchmarks": {}, "averages": {"id": None, "ood": None}, "costs": None, "versions": {"grader": "1"}}
    items = pa.BufferOutputStream()
    pq.write_table(artifacts.ITEMS_SCHEMA.empty_table(), items)
    files = {artifacts.RECORD: json.dumps(summary).encode(), artifacts.ITEMS: items.getvalue().to_pybytes()}
    _publish(store, Stage(StageKind.RECORD, 1, "{}", tuple(own.items())), record, files)


def _publish(store: Store, stage: Stage, key: str, files: dict[str, bytes]) -> None:
    work = store.prepare(stage.kind, key, keep=False)
    for name, content in files.items():
        (work / "out" / name).write_bytes(content)
    store.publish(stage, key, 0.0)
