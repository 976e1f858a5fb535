"""The probe of a pool as scorers see it: questions with their responses, from probe.parquet.

Columns of evidence hold a value per token of the whole pool, so they are read only where they are asked for and handed
on as views into one array, never as Python lists.
"""

import json
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmark import artifacts
from benchmark.errors import DataError
from methods.groups import EvidenceKind
from methods.selection.base import ProbedQuestion

ATTENTION_WINDOW = "attention_window"
"""The key of probe.json with the window of the attention signal, in tokens."""


def read_probe(folder: Path, evidence: Collection[EvidenceKind] = ()) -> list[ProbedQuestion]:
    """Read the probed questions by rising index, with the kinds of evidence that are asked for.

    Raises DataError for a missing or unreadable file and for missing columns.
    """
    path = folder / artifacts.PROBE
    info = json.loads((folder / artifacts.PROBE_INFO).read_text(encoding="utf-8"))
    table = _read_columns(path, ["index", "sample", "answer", "finish_reason", "response_tokens", *sorted(evidence)])
    index = table["index"].to_numpy()
    order = np.lexsort((table["sample"].to_numpy(), index))
    answers = table["answer"].to_pylist()
    truncated = np.array([reason == "length" for reason in table["finish_reason"].to_pylist()], dtype=np.bool_)
    lengths = table["response_tokens"].to_numpy().astype(np.int64)
    ragged = {kind: _ragged(table[kind.value]) for kind in evidence}
    if ragged.get(EvidenceKind.HIDDEN_STATES):
        ragged[EvidenceKind.HIDDEN_STATES] = _stacked(ragged[EvidenceKind.HIDDEN_STATES], info["layers"])
    window: dict[str, Any] = {"attention_window": int(info[ATTENTION_WINDOW])} if ATTENTION_WINDOW in info else {}
    starts = np.unique(index[order], return_index=True)[1][1:]

    def question(rows: NDArray[np.intp]) -> ProbedQuestion:
        measured: dict[str, Any] = {
            kind.value: tuple(found[row] for row in rows) for kind, found in ragged.items() if found
        }
        return ProbedQuestion(
            int(index[rows[0]]),
            tuple(answers[row] for row in rows),
            truncated[rows],
            lengths[rows],
            **measured,
            **window,
        )

    return [question(rows) for rows in (np.split(order, starts) if len(order) else ())]


def _read_columns(path: Path, names: list[str]) -> Any:
    if not path.is_file():
        raise DataError(f"no such file: found {path}, allowed a parquet file; fix: run the stage that writes it")
    missing = [name for name in names if name not in pq.read_schema(path).names]
    if missing:
        raise DataError(f"columns of {path.name}: found none named {', '.join(missing)}; fix: run the probe again")
    return pq.read_table(path, columns=names)


def _ragged(column: Any) -> list[NDArray[np.float32]]:
    """Return a list column as views, [rows][T]; nothing where every row is null, so where it was not asked for."""
    if column.null_count == len(column):
        return []
    rows: list[NDArray[np.float32]] = []
    for chunk in column.chunks:  # kept apart: together they may exceed what 32-bit offsets can address
        values, offsets = chunk.values.to_numpy(zero_copy_only=False), chunk.offsets.to_numpy()
        rows += [values[start:stop] for start, stop in pairwise(offsets)]
    return rows


def _stacked(rows: list[NDArray[np.float32]], layers: int) -> list[NDArray[np.float32]]:
    if layers < 1 or any(len(row) % layers for row in rows):
        raise DataError(
            f"hidden states: found rows that are no multiple of {layers} layers; fix: run the probe again with layers"
        )
    return [row.reshape(layers, -1) for row in rows]
