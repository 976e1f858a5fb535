"""The artifact of a train stage, collected from what a job left in its work folder."""

import json
import math
import shutil
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.stage import StageJob
from benchmark.training.checkpoints import hand_on, step_folder
from benchmark.training.job_config import JobPaths, last_step
from benchmark.training.usage import read_usage


def collect(job: StageJob, paths: JobPaths) -> None:
    """Write model, metrics, decisions and the summary of a finished job into `job.out`.

    In the second round and later, figures and files cover the rounds before as well.
    """
    steps, train = last_step(job.params), job.params["train"]
    previous = job.inputs.get("previous")
    model = step_folder(paths.checkpoints, steps) / "actor" / "huggingface"
    shutil.copytree(model, job.out / artifacts.MODEL_DIR)
    metrics = merge_metrics(sorted(job.work.glob("metrics-*.jsonl")))
    decisions = [pq.read_table(path) for path in sorted(paths.decisions.glob("step-*.parquet"))]
    if previous:
        metrics = _joined(pq.read_table(previous / artifacts.METRICS), metrics)
        decisions.insert(0, pq.read_table(previous / artifacts.DECISIONS))
    pq.write_table(metrics, job.out / artifacts.METRICS)
    pq.write_table(pa.concat_tables(decisions), job.out / artifacts.DECISIONS)

    def total(key: str) -> float:
        return float(sum(row["value"] for row in metrics.to_pylist() if row["key"] == key))

    attempts = read_usage(job.work)
    before = json.loads((previous / artifacts.TRAIN_INFO).read_text(encoding="utf-8")) if previous else {}
    summary = {
        "steps": steps,
        "prompts": steps * train["prompts"],
        "rollouts": steps * train["prompts"] * train["rollouts"] + round(total("supervision/teacher_rollouts")),
        "generated_tokens": round(total("supervision/generated_tokens") + total("supervision/teacher_tokens")),
        "optimizer_steps": round(total("supervision/updated")),
        "wall_seconds": sum(attempt["wall_seconds"] for attempt in attempts) + before.get("wall_seconds", 0.0),
        "cpu_seconds": sum(attempt["cpu_seconds"] for attempt in attempts) + before.get("cpu_seconds", 0.0),
        "peak_rss_bytes": max(before.get("peak_rss_bytes", 0), *(attempt["peak_rss_bytes"] for attempt in attempts)),
        "attempts": len(attempts) + before.get("attempts", 0),
    }
    if job.params.get("round", 0) + 1 < job.params.get("rounds", 1):
        hand_on(paths.checkpoints, steps, job.out / artifacts.CHECKPOINT)
    (job.out / artifacts.TRAIN_INFO).write_text(json.dumps(summary, indent=1, allow_nan=False), encoding="utf-8")


def _joined(before: pa.Table, now: pa.Table) -> pa.Table:
    """Join the metrics of two rounds; where both have a step (the one between them), the earlier round counts."""
    known = set(zip(before["step"].to_pylist(), before["key"].to_pylist(), strict=True))
    rows = [row for row in now.to_pylist() if (row["step"], row["key"]) not in known]
    return pa.concat_tables([before, pa.Table.from_pylist(rows, schema=artifacts.METRICS_SCHEMA)])


def merge_metrics(files: Iterable[Path]) -> pa.Table:
    """Merge the metric files of all attempts, in order: a later attempt overrides a step that it ran again.

    verl truncates its file when it starts, hence one file per attempt. A torn last line, left by a kill, is
    dropped. Values that are not finite numbers are dropped too: a metric is a number or absent.
    """
    values: dict[tuple[int, str], float] = {}
    for path in files:
        for line in path.read_text(encoding="utf-8").split("\n"):
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            for key, value in entry["data"].items():
                if isinstance(value, int | float) and math.isfinite(value):
                    values[entry["step"], key] = float(value)
    rows = [{"step": step, "key": key, "value": value} for (step, key), value in sorted(values.items())]
    return pa.Table.from_pylist(rows, schema=artifacts.METRICS_SCHEMA)
