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
from benchmark.training.checkpoints import step_folder
from benchmark.training.job_config import JobPaths
from benchmark.training.usage import read_usage


def collect(job: StageJob, paths: JobPaths) -> None:
    """Write model, metrics, decisions and the summary of a finished job into `job.out`."""
    steps, train = job.params["train"]["steps"], job.params["train"]
    model = step_folder(paths.checkpoints, steps) / "actor" / "huggingface"
    shutil.copytree(model, job.out / artifacts.MODEL_DIR)
    metrics = merge_metrics(sorted(job.work.glob("metrics-*.jsonl")))
    pq.write_table(metrics, job.out / artifacts.METRICS)
    decisions = [pq.read_table(path) for path in sorted(paths.decisions.glob("step-*.parquet"))]
    pq.write_table(pa.concat_tables(decisions), job.out / artifacts.DECISIONS)

    def total(key: str) -> float:
        return float(sum(row["value"] for row in metrics.to_pylist() if row["key"] == key))

    attempts = read_usage(job.work)
    summary = {
        "steps": steps,
        "prompts": steps * train["prompts"],
        "rollouts": steps * train["prompts"] * train["rollouts"],
        "generated_tokens": round(total("supervision/generated_tokens")),
        "optimizer_steps": round(total("supervision/updated")),
        "wall_seconds": sum(attempt["wall_seconds"] for attempt in attempts),
        "cpu_seconds": sum(attempt["cpu_seconds"] for attempt in attempts),
        "peak_rss_bytes": max(attempt["peak_rss_bytes"] for attempt in attempts),
        "attempts": len(attempts),
    }
    (job.out / artifacts.TRAIN_INFO).write_text(json.dumps(summary, indent=1, allow_nan=False), encoding="utf-8")


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
