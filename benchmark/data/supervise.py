"""The supervise stage: hide and corrupt labels, and write what verl trains on.

Only the labels that are given reach the training file. The truth goes to a sidecar, which diagnostics
read and methods never see.
"""

import hashlib
from typing import Any

from benchmark import artifacts
from benchmark.data.labels import labelled_indices
from benchmark.data.noise import corrupt
from benchmark.data.schema import read_rows, verl_row, write_json, write_rows
from benchmark.errors import DataError
from benchmark.stage import StageJob
from benchmark.suite.spec import NoiseKind

ROWS = ("all", "labelled")


def run(job: StageJob) -> None:
    """Write train.parquet, panel.parquet, truth.parquet and supervision.json.

    Input: pool. Parameters: label_ratio, noise_kind, noise_ratio, rows (all or labelled) and seed. Raises
    DataError where a parameter is out of range or no row is left to train on.
    """
    source = job.inputs["pool"]
    pool = read_rows(source / artifacts.POOL, artifacts.POOL_SCHEMA)
    panel = read_rows(source / artifacts.PANEL, artifacts.POOL_SCHEMA)
    params = job.params
    truth = {row["index"]: row["answer"] for row in pool}
    chosen = labelled_indices(list(truth), params["label_ratio"], params["seed"])
    given = corrupt(
        {index: truth[index] for index in truth if index in chosen},
        NoiseKind(params["noise_kind"]),
        params["noise_ratio"],
        params["seed"],
    )
    used = _training_rows(pool, given, params["rows"])
    train = [
        verl_row(
            row["question"],
            row["index"],
            given.get(row["index"], ""),
            labelled=row["index"] in given,
            split="train",
        )
        for row in used
    ]
    write_rows(job.out / artifacts.TRAIN, train, artifacts.VERL_SCHEMA)
    write_rows(
        job.out / artifacts.PANEL,
        [verl_row(row["question"], row["index"], row["answer"], labelled=True, split="panel") for row in panel],
        artifacts.VERL_SCHEMA,
    )
    write_rows(
        job.out / artifacts.TRUTH,
        [{"index": row["index"], "answer": row["answer"]} for row in used],
        artifacts.TRUTH_SCHEMA,
    )
    noisy = sum(label != truth[index] for index, label in given.items())
    ids = ",".join(map(str, sorted(given)))
    write_json(
        job.out / artifacts.SUPERVISION_INFO,
        {
            "seed": params["seed"],
            "pool_rows": len(pool),
            "panel_rows": len(panel),
            "rows": len(used),
            "labelled": len(given),
            "noisy": noisy,
            "label_ratio": {"nominal": params["label_ratio"], "realised": len(given) / len(pool)},
            "noise_kind": params["noise_kind"],
            "noise_ratio": {"nominal": params["noise_ratio"], "realised": noisy / len(given) if given else 0.0},
            "labelled_sha256": hashlib.sha256(ids.encode()).hexdigest(),
        },
    )


def _training_rows(pool: list[dict[str, Any]], given: dict[int, str], rows: str) -> list[dict[str, Any]]:
    if rows not in ROWS:
        raise DataError(f"training rows: found {rows!r}, allowed {' or '.join(ROWS)}; fix: correct the method")
    used = [row for row in pool if rows == "all" or row["index"] in given]
    if not used:
        raise DataError(f"no row to train on: found {len(given)} labelled of {len(pool)}; fix: raise the label ratio")
    return used
