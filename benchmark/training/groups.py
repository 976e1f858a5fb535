"""Rollout groups <-> TransferQueue: the only place that knows both formats.

Rows of a batch have keys `{uid}_{session}_{output}`. They are laid out as B prompts x G rollouts, prompts in
the order of their persistent index: the order of the rows must not depend on random uids, or
a seeded run could not be repeated.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
import transfer_queue as tq
from numpy.typing import NDArray
from tensordict import TensorDict
from transfer_queue import KVBatchMeta

from benchmark.errors import MethodError
from methods.groups import Evidence, EvidenceKind, GivenLabels, RolloutGroups

FIELD_OF_EVIDENCE = {
    EvidenceKind.ENTROPY: "entropy",
    EvidenceKind.LOG_PROBS: "old_log_probs",
    EvidenceKind.SELF_CERTAINTY: "self_certainty",
    EvidenceKind.HIDDEN_STATES: "hidden_states",
    EvidenceKind.ATTENTION: "attention",
}
EVIDENCE_REQUEST = "venus_evidence"
"""Key of a batch's extra_info: the kinds that its forward pass must add, joined by commas (evidence_engine.py)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each rollout of a step lives in TransferQueue.

    `keys[b][g]` is None for a rollout that failed on its server: it votes as "no answer" and is never
    trained on.
    """

    keys: tuple[tuple[str | None, ...], ...]  # [B][G]
    tokens: NDArray[np.int64]  # [B, G] response tokens, invalid ones (of a tool, say) included
    last: NDArray[np.int64]  # [B, G] position of the last valid response token

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rollouts exist, [B, G]."""
        return np.array([[key is not None for key in row] for row in self.keys])

    def selected(self, mask: NDArray[np.bool_]) -> list[str]:
        """List the keys of the rollouts that exist and are selected by mask [B, G], in layout order."""
        return [
            key
            for row, chosen in zip(self.keys, mask, strict=True)
            for key, yes in zip(row, chosen, strict=True)
            if key and yes
        ]


def plain(column: Any) -> list[Any]:
    """Return a non-tensor column of TransferQueue as a list, whichever of its three types it has."""
    return list(column.tolist()) if hasattr(column, "tolist") else list(column)


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """What the training file says of an item."""

    label: str | None  # None where none was given
    pair: int  # index of its paraphrase, -1 where there is none


def read_rows(train_file: Path) -> dict[int, TrainingRow]:
    """Read a training file: persistent index to label and pair."""
    rows = pq.read_table(train_file, columns=["extra_info", "reward_model"]).to_pylist()
    return {
        int(row["extra_info"]["index"]): TrainingRow(
            str(row["reward_model"]["ground_truth"]) if row["extra_info"]["labeled"] else None,
            int(row["extra_info"]["pair"]),
        )
        for row in rows
    }


def read_groups(
    batch: KVBatchMeta,
    rows: Mapping[int, TrainingRow],
    rollouts: int,
    extract: Callable[[Sequence[torch.Tensor]], list[str | None]],
    step: int,
    epoch: int,
) -> tuple[RolloutGroups, Layout]:
    """Read a sampled batch as rollout groups.

    `rows` holds what the training file says by index, and `extract` finds the answers in responses. Raises
    MethodError for rows with more than one output per rollout: their credit assignment is not defined here.
    """
    fields = ["responses", "response_mask", "index"]
    data = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=fields)
    responses, masks = list(data["responses"].unbind()), list(data["response_mask"].unbind())
    indices = [int(index) for index in plain(data["index"])]
    answers = extract(responses)

    members: dict[str, dict[int, int]] = defaultdict(dict)
    for row, key in enumerate(batch.keys):
        uid, session, output = key.rsplit("_", 2)
        if output != "0":
            raise MethodError(f"rollout {key!r} has several outputs; allowed: single-turn agent loops with one output")
        members[uid][int(session)] = row
    prompts = sorted(members.values(), key=lambda rows: indices[next(iter(rows.values()))])

    def of_rollouts(values: Sequence[Any], missing: Any) -> list[list[Any]]:
        return [[values[rows[g]] if g in rows else missing for g in range(rollouts)] for rows in prompts]

    index = [indices[next(iter(rows.values()))] for rows in prompts]
    labels = [rows[item].label for item in index]
    partner = np.array([rows[item].pair for item in index], dtype=np.int64)
    groups = RolloutGroups(
        index=np.array(index, dtype=np.int64),
        labelled=np.array([label is not None for label in labels]),
        labels=GivenLabels(labels),
        answers=tuple(tuple(row) for row in of_rollouts(answers, None)),
        lengths=np.array(of_rollouts([int(mask.sum()) for mask in masks], 0), dtype=np.int64),
        rollout=np.tile(np.arange(rollouts), (len(prompts), 1)),
        step=step,
        epoch=epoch,
        partner=partner if (partner >= 0).any() else None,
    )
    layout = Layout(
        keys=tuple(tuple(row) for row in of_rollouts(batch.keys, None)),
        tokens=np.array(of_rollouts([len(mask) for mask in masks], 0), dtype=np.int64),
        last=np.array(of_rollouts([int(mask.nonzero()[-1]) for mask in masks], 0), dtype=np.int64),
    )
    return groups, layout


def select(batch: KVBatchMeta, keys: Sequence[str]) -> KVBatchMeta:
    """Select rows by key, tensors and tags aligned, in the order of `keys`."""
    tags = dict(zip(batch.keys, batch.tags, strict=True))
    return KVBatchMeta(
        partition_id=batch.partition_id,
        keys=list(keys),
        tags=[tags[key] for key in keys],
        fields=batch.fields,
        extra_info=batch.extra_info,
    )


def write_scores(partition: str, layout: Layout, scores: NDArray[np.float64], present: NDArray[np.bool_]) -> None:
    """Write one score per rollout ([B, G]) to the last valid response token, as verl's rm_scores."""
    chosen = present & layout.present
    tokens = []
    for length, last, score in zip(layout.tokens[chosen], layout.last[chosen], scores[chosen], strict=True):
        row = torch.zeros(int(length))
        row[int(last)] = float(score)
        tokens.append(row)
    _put(partition, layout.selected(chosen), rm_scores=torch.nested.as_nested_tensor(tokens, layout=torch.jagged))


def evidence_request(declared: frozenset[EvidenceKind]) -> str:
    """Name the declared kinds that verl's old-log-prob pass does not deliver by itself; "" where there is none."""
    return ",".join(sorted(declared - {EvidenceKind.ENTROPY, EvidenceKind.LOG_PROBS}))


def read_evidence(
    partition: str, layout: Layout, declared: frozenset[EvidenceKind], present: NDArray[np.bool_], groups: RolloutGroups
) -> Evidence:
    """Read the declared evidence of the admitted rollouts, valid tokens only; the others get empty arrays.

    Raises MethodError where a value is not finite: a comparison with NaN would silently choose a side.
    """
    if not declared:
        return Evidence()
    keys = layout.selected(present)
    fields = [FIELD_OF_EVIDENCE[kind] for kind in sorted(declared)]
    data = tq.kv_batch_get(keys=keys, partition_id=partition, select_fields=[*fields, "response_mask"])
    valid = [mask.bool() for mask in data["response_mask"].unbind()]

    def by_rollout(kind: EvidenceKind) -> tuple[tuple[NDArray[Any], ...], ...] | None:
        if kind not in declared:
            return None
        values = data[FIELD_OF_EVIDENCE[kind]].unbind()
        if kind is EvidenceKind.HIDDEN_STATES:
            rows = {key: row.float().numpy() for key, row in zip(keys, values, strict=True)}
            empty = np.zeros((0, 0), dtype=np.float32)
        else:
            rows = {key: row[own].double().numpy() for key, row, own in zip(keys, values, valid, strict=True)}
            empty = np.zeros(0)
        arrays = tuple(tuple(rows.get(key, empty) for key in row) for row in layout.keys)
        require_finite(kind, arrays, groups)
        return arrays

    return Evidence(**{kind.value: by_rollout(kind) for kind in EvidenceKind})


def require_finite(kind: EvidenceKind, arrays: Sequence[Sequence[NDArray[Any]]], groups: RolloutGroups) -> None:
    """Raise MethodError at the first item ([B][G] arrays) whose evidence has NaN or infinity."""
    for index, own in zip(groups.index, arrays, strict=True):
        if not all(np.isfinite(array).all() for array in own):
            raise MethodError(
                f"evidence {kind.value} is not finite: found NaN or infinity for item {index} in step {groups.step}, "
                "allowed finite numbers; fix: lower the learning rate, or resume from an earlier checkpoint"
            )


def read_advantages(partition: str, keys: Sequence[str]) -> dict[str, torch.Tensor]:
    """Read the advantages of rollouts: one value per response token, by key."""
    data = tq.kv_batch_get(keys=list(keys), partition_id=partition, select_fields=["advantages"])
    return dict(zip(keys, data["advantages"].unbind(), strict=True))


def one_per_rollout(layout: Layout, advantages: Mapping[str, torch.Tensor]) -> NDArray[np.float64]:
    """Return the advantage of each rollout, [B, G]: that of its first token, 0 where it has none."""
    value = {key: float(row[0]) for key, row in advantages.items()}
    return np.array([[value.get(key, 0.0) if key else 0.0 for key in row] for row in layout.keys])


def scale_advantages(
    partition: str, layout: Layout, advantages: Mapping[str, torch.Tensor], weights: NDArray[np.float64]
) -> None:
    """Write back the advantages, multiplied by the weight ([B]) of their prompt; a weight of 1 changes nothing."""
    weight = {key: float(w) for row, w in zip(layout.keys, weights, strict=True) for key in row if key}
    scaled = {key: row * weight[key] for key, row in advantages.items() if weight[key] != 1}
    if scaled:
        _put(partition, list(scaled), advantages=torch.nested.as_nested_tensor([*scaled.values()], layout=torch.jagged))


def _put(partition: str, keys: list[str], **fields: torch.Tensor) -> None:
    tq.kv_batch_put(keys=keys, partition_id=partition, fields=TensorDict(fields, batch_size=len(keys)))
