"""The supervise stage: hide and corrupt labels, and write what verl trains on.

Only the labels that are given reach the training file. The truth goes to a sidecar, which diagnostics
read and methods never see. Which rows are labelled is drawn from the pool, or decided by a selection: then the labels
that it annotated or probed are given, and what it discarded is left out unless its label was bought anyway.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark import artifacts
from benchmark.data.content import content_index
from benchmark.data.labels import labelled_indices
from benchmark.data.noise import CorruptedLabels, corrupt, wrong_answers_of
from benchmark.data.probed import read_probe
from benchmark.data.schema import read_rows, verl_row, write_json, write_rows
from benchmark.errors import DataError
from benchmark.stage import StageJob
from benchmark.suite.spec import NoiseKind
from methods.selection.router import Route

ROWS = ("all", "labelled", "paired")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which questions are labelled, and which are left out of training; the rest is trained on without a label."""

    labelled: frozenset[int]
    left_out: frozenset[int]
    bought: Mapping[str, int]  # labels by what they were bought for


def run(job: StageJob) -> None:
    """Write train.parquet, panel.parquet, truth.parquet and supervision.json.

    Inputs: pool; selection, which then decides in place of label_ratio; probe, for the noise active_fixed. Parameters:
    label_ratio, noise_kind, noise_ratio, rows (all, labelled or paired) and seed. Raises DataError where a
    parameter is out of range, an input is missing or is of another pool, or no row is left to train on.
    """
    params, source = job.params, job.inputs["pool"]
    pool = read_rows(source / artifacts.POOL, artifacts.POOL_SCHEMA)
    panel = read_rows(source / artifacts.PANEL, artifacts.POOL_SCHEMA)
    truth = {row["index"]: row["answer"] for row in pool}
    if "selection" in job.inputs:
        choice = read_choice(job.inputs["selection"], truth)
    else:
        drawn = labelled_indices(list(truth), params["label_ratio"], params["seed"])
        choice = Choice(drawn, frozenset(), {"annotate": len(drawn), "probes": 0, "scoring": 0})
    given = _corrupted(job, {index: answer for index, answer in truth.items() if index in choice.labelled})
    used = _used(pool, choice, params["rows"])
    train = _training_rows(used, given.labels, paired=params["rows"] == "paired")
    write_training_files(job.out, train, _truths(train, truth))
    panel_rows = [verl_row(row["question"], row["index"], row["answer"], labelled=True, split="panel") for row in panel]
    write_rows(job.out / artifacts.PANEL, panel_rows, artifacts.VERL_SCHEMA)
    sizes = {
        "pool_rows": len(pool),
        "panel_rows": len(panel),
        "rows": len(train),
        "labelled_rows": sum(row["extra_info"]["labeled"] for row in train),
        "without_paraphrase": sum(not row["paraphrase"] for row in used) if params["rows"] == "paired" else 0,
    }
    write_json(job.out / artifacts.SUPERVISION_INFO, sizes | _description(params, choice, given, len(pool)))


def read_choice(folder: Path, pool: Mapping[int, str]) -> Choice:
    """Read what a selection decided about the questions of a pool (index -> truth), and what it bought.

    Raises DataError for an unknown route, and where the selection does not cover exactly the pool.
    """
    path = folder / artifacts.SELECTION
    rows = read_rows(path, artifacts.SELECTION_SCHEMA)
    bought = json.loads((folder / artifacts.SELECTION_INFO).read_text(encoding="utf-8"))["label_cost"]
    routed = {row["index"] for row in rows}
    if routed != pool.keys() or len(routed) != len(rows):
        raise DataError(
            f"{path.name} is of another pool: found {len(rows)} rows, of which {len(routed & pool.keys())} are in the "
            f"pool, allowed exactly the {len(pool)} of the pool; fix: run the selection on this pool"
        )
    for row in rows:
        if row["route"] not in set(Route):
            raise DataError(
                f"route of index {row['index']} in {path.name}: found {row['route']!r}, "
                f"allowed {', '.join(Route)}; fix: run the selection again"
            )
    annotated = frozenset(row["index"] for row in rows if row["route"] == Route.ANNOTATE)
    probed = frozenset(row["index"] for row in rows if row["probed"]) - annotated
    discarded = frozenset(row["index"] for row in rows if row["route"] == Route.DISCARD)
    return Choice(annotated | probed, discarded - probed, bought)


def write_training_files(out: Path, train: Sequence[Row], truth: Mapping[int, str]) -> None:
    """Write train.parquet and its truth sidecar, with the same rows in the same order."""
    write_rows(out / artifacts.TRAIN, train, artifacts.VERL_SCHEMA)
    indices = [row["extra_info"]["index"] for row in train]
    sidecar = [{"index": index, "answer": truth[index]} for index in indices]
    write_rows(out / artifacts.TRUTH, sidecar, artifacts.TRUTH_SCHEMA)


def _corrupted(job: StageJob, truth: Mapping[int, str]) -> CorruptedLabels:
    kind = NoiseKind(job.params["noise_kind"])
    wrong = None
    if kind is NoiseKind.ACTIVE_FIXED and "probe" in job.inputs:
        probed = {question.index: question.answers for question in read_probe(job.inputs["probe"])}
        missing = truth.keys() - probed.keys()
        if missing:
            raise DataError(
                f"the probe is of another pool: found no answer to index {min(missing)} and {len(missing) - 1} more, "
                "allowed answers to every labelled question; fix: probe this pool"
            )
        wrong = wrong_answers_of(truth, probed)
    return corrupt(truth, kind, job.params["noise_ratio"], job.params["seed"], wrong)


def _description(params: Mapping[str, Any], choice: Choice, given: CorruptedLabels, pool: int) -> dict[str, Any]:
    labelled, noisy = len(given.labels), len(given.noisy)
    ids = ",".join(map(str, sorted(given.labels)))
    return {
        "seed": params["seed"],
        "labelled": labelled,
        "labels_bought": {**choice.bought, "total": sum(choice.bought.values())},
        "left_out": len(choice.left_out),
        "noisy": noisy,
        "label_ratio": {"nominal": params["label_ratio"], "realised": labelled / pool},
        "noise_kind": params["noise_kind"],
        "noise_ratio": {"nominal": params["noise_ratio"], "realised": noisy / labelled if labelled else 0.0},
        "noise_without_candidate": given.without_candidate,
        "labelled_sha256": hashlib.sha256(ids.encode()).hexdigest(),
    }


def _used(pool: Sequence[Row], choice: Choice, rows: str) -> list[Row]:
    if rows not in ROWS:
        raise DataError(f"training rows: found {rows!r}, allowed {', '.join(ROWS)}; fix: correct the method")
    used = [
        row
        for row in pool
        if row["index"] in choice.labelled or (rows != "labelled" and row["index"] not in choice.left_out)
    ]
    if not used:
        raise DataError(
            f"no row to train on: found {len(choice.labelled)} labelled of {len(pool)}; fix: raise the label ratio"
        )
    if rows == "paired" and not any(row["paraphrase"] for row in used):
        raise DataError(
            f"no paraphrase to train on: found none for {len(used)} questions, allowed one or more; "
            "fix: name the column in recipe.paraphrase of the data source"
        )
    return used


def _training_rows(used: Sequence[Row], given: Mapping[int, str], *, paired: bool) -> list[Row]:
    train = []
    for row in used:
        index, label, labelled = row["index"], given.get(row["index"], ""), row["index"] in given
        if not paired:
            train.append(verl_row(row["question"], index, label, labelled=labelled, split="train"))
        elif row["paraphrase"]:
            other = content_index(row["paraphrase"])
            for question, own, partner in ((row["question"], index, other), (row["paraphrase"], other, index)):
                train.append(verl_row(question, own, label, labelled=labelled, split="train", pair=partner))
    return train


def _truths(train: Sequence[Row], truth: Mapping[int, str]) -> dict[int, str]:
    """Return the truth of each training row; that of a paraphrase is the truth of its question."""
    own = {row["extra_info"]["index"]: row["extra_info"]["pair"] for row in train}
    return {index: truth[index] if index in truth else truth[pair] for index, pair in own.items()}
