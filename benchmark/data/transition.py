"""The transition stage: from the data of a round and the probes so far to the data of the next round.

D(k), probes 0..k -> decision -> D(k+1) and the manifest of every change so far (DE-Venus, section 2.6). The rule
belongs to the method; here files become what it sees, and what it decides becomes files. A promoted question that
round k did not train on is added from the pool. The truth sidecar is extended from the pool and never changed, and
the rule does not see it: the truth is read to describe the changes in supervision.json, and for nothing else.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmark import artifacts
from benchmark.data.probed import read_probe
from benchmark.data.schema import NO_PAIR, read_rows, verl_row, write_json, write_rows
from benchmark.data.supervise import write_training_files
from benchmark.errors import DataError, MethodError, SuiteError
from benchmark.evaluation.equivalence import same
from benchmark.stage import StageJob
from methods.registry import build_method
from methods.transitions.base import Change, ChangeKind, ProbeVisit, StoredLabel

GIVEN = "given"
"""The provenance of a label that no transition has touched."""

Row = dict[str, Any]
Pool = Mapping[int, Row]
"""Rows of artifacts.POOL_SCHEMA by index."""


def run(job: StageJob) -> None:
    """Write train.parquet, panel.parquet, truth.parquet, supervision.json and manifest.parquet.

    Inputs: pool, supervise (the data of round k), probe_0 .. probe_k. Parameters: method, options, round (k, 0-based).
    Raises SuiteError for a method without transition, DataError where an input is missing, paired or of
    another pool, and MethodError where a decision contradicts the data.
    """
    number, source = int(job.params["round"]), job.inputs["supervise"]
    transition = build_method(job.params["method"], job.params["options"]).transition
    if transition is None:
        raise SuiteError(
            f"method {job.params['method']!r} changes no label: found no transition, allowed a method with one; "
            "fix: train it in one round"
        )
    pool = {row["index"]: row for row in read_rows(job.inputs["pool"] / artifacts.POOL, artifacts.POOL_SCHEMA)}
    train = read_rows(source / artifacts.TRAIN, artifacts.VERL_SCHEMA)
    manifest = _read_manifest(source)
    stored = stored_labels(pool, train, manifest)
    probes = [_visits(job.inputs[name], pool) for name in probe_names(job.inputs, number)]
    changes = transition.decide(stored, probes)
    require_sound(changes, stored)
    changed = changed_rows(pool, train, changes)
    write_training_files(job.out, changed, {index: row["answer"] for index, row in pool.items()})
    shutil.copyfile(source / artifacts.PANEL, job.out / artifacts.PANEL)
    manifest += [{"round": number, **asdict(change)} for change in changes]
    write_rows(job.out / artifacts.MANIFEST, manifest, artifacts.MANIFEST_SCHEMA)
    info = json.loads((source / artifacts.SUPERVISION_INFO).read_text(encoding="utf-8"))
    totals = Counter(entry["kind"] for entry in manifest)
    write_json(
        job.out / artifacts.SUPERVISION_INFO,
        info
        | {
            "rows": len(changed),
            "labelled_rows": sum(row["extra_info"]["labeled"] for row in changed),
            "round": number,
            "changes": {kind.value: sum(change.kind is kind for change in changes) for kind in ChangeKind},
            "changes_so_far": {kind.value: totals[kind.value] for kind in ChangeKind},
            "diagnostics": diagnostics(pool, changed, changes),
        },
    )


def probe_names(inputs: Mapping[str, Any], number: int) -> list[str]:
    """Name the inputs probe_0 .. probe_k of round k, oldest first.

    Raises DataError where they are not exactly these.
    """
    wanted = [f"probe_{k}" for k in range(number + 1)]
    found = [name for name in inputs if re.fullmatch(r"probe_\d+", name)]
    if set(found) != set(wanted):
        raise DataError(
            f"probes of the transition after round {number}: found {', '.join(sorted(found)) or 'none'}, "
            f"allowed {', '.join(wanted)}; fix: plan one probe per round"
        )
    return wanted


def stored_labels(pool: Pool, train: Sequence[Row], manifest: Sequence[Row]) -> list[StoredLabel]:
    """Return what every question of the pool carries in the data of a round, in pool order.

    A question that the round did not train on counts as unlabelled. Raises DataError for a paired set, and for
    a row that the pool lacks.
    """
    labels: dict[int, str | None] = dict.fromkeys(pool)
    for row in train:
        info = row["extra_info"]
        if info["pair"] != NO_PAIR:
            raise DataError(
                f"rounds on paired data: found index {info['index']} with the pair {info['pair']}, allowed unpaired "
                "rows; fix: use a method whose rows are all or labelled"
            )
        if info["index"] not in pool:
            raise DataError(f"index {info['index']} of train.parquet is not in the pool; fix: use the pool it is from")
        if info["labeled"]:
            labels[info["index"]] = row["reward_model"]["ground_truth"]
    provenance = {entry["index"]: entry["kind"] for entry in manifest}
    return [StoredLabel(index, label, provenance.get(index, GIVEN)) for index, label in labels.items()]


def changed_rows(pool: Pool, train: Sequence[Row], changes: Sequence[Change]) -> list[Row]:
    """Return the training rows with the changed labels, in pool order; promoted questions join the others."""
    labels = {change.index: change.label for change in changes}
    rows = {row["extra_info"]["index"]: row for row in train}
    rows |= {
        index: verl_row(pool[index]["question"], index, label, labelled=True, split="train")
        for index, label in labels.items()
    }
    return [rows[index] for index in pool if index in rows]


def diagnostics(pool: Pool, changed: Sequence[Row], changes: Sequence[Change]) -> dict[str, Any]:
    """Compare the changes of a round, and the labels after it, with the truth; None where there is nothing to compare.

    `repaired` and `harmed` are relabelled rows that became right and that were right.
    """

    def right(index: int, label: str | None) -> bool:
        return same(label, pool[index]["answer"])

    found: dict[str, Any] = {}
    for kind in ChangeKind:
        own = [change for change in changes if change.kind is kind]
        found[f"{kind.value}_precision"] = _share([right(change.index, change.label) for change in own])
    replaced = [
        (right(change.index, change.previous), right(change.index, change.label))
        for change in changes
        if change.kind is ChangeKind.RELABELLED
    ]
    found["repaired"] = sum(after and not before for before, after in replaced)
    found["harmed"] = sum(before and not after for before, after in replaced)
    found["label_accuracy"] = _share(
        [
            right(row["extra_info"]["index"], row["reward_model"]["ground_truth"])
            for row in changed
            if row["extra_info"]["labeled"]
        ]
    )
    return found


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _read_manifest(source: Path) -> list[Row]:
    """Read the changes that led to the data of a round; the first round has none."""
    path = source / artifacts.MANIFEST
    return read_rows(path, artifacts.MANIFEST_SCHEMA) if path.exists() else []


def _visits(folder: Path, pool: Pool) -> list[ProbeVisit]:
    visits = [ProbeVisit(question.index, question.answers) for question in read_probe(folder)]
    found = {visit.index for visit in visits}
    if found != pool.keys():
        raise DataError(
            f"a probe is of another pool: found {len(found - pool.keys())} questions that the pool lacks and "
            f"{len(pool.keys() - found)} of the pool unprobed; fix: probe this pool"
        )
    return visits


def require_sound(changes: Sequence[Change], stored: Sequence[StoredLabel]) -> None:
    """Stop a decision that contradicts the data: each change is of one pool item and replaces what is stored."""
    labels = {item.index: item.label for item in stored}
    seen: set[int] = set()
    for change in changes:
        if change.index not in labels or change.index in seen:
            raise MethodError(
                f"transition: found a change of index {change.index}, allowed one for each question of the pool; "
                "fix: the method's transition"
            )
        seen.add(change.index)
        label = labels[change.index]
        if not change.label or change.previous != label or (change.kind is ChangeKind.PROMOTED) is not (label is None):
            raise MethodError(
                f"transition: found {change}, allowed a non-empty label in place of {label!r}, which is stored "
                "(promoted where there is none, relabelled where there is one); fix: the method's transition"
            )
