"""What a cell cost: labels, samples, tokens and machine time."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.errors import DataError


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of training one cell.

    Labels of the validation panel are counted apart: they show how training went and choose nothing.
    """

    labels: float  # answers bought: given to training (wrong ones included), to calibrate, or to score questions
    panel_labels: float  # ground-truth answers of the validation panel
    prompts: float  # prompts visited, repeats included
    rollouts: float
    generated_tokens: float
    optimizer_steps: float
    wall_seconds: float  # all attempts
    cpu_seconds: float  # all processes of the job, all attempts
    peak_rss_bytes: float

    def to_json(self) -> dict[str, float]:
        """Return the costs as plain data."""
        return asdict(self)


def read_costs(train: Path, supervise: Path) -> Costs:
    """Read the costs of a trained cell from the artifacts of its train and supervise stages.

    Raises DataError for a summary that lacks a figure.
    """
    summary = _read(train / artifacts.TRAIN_INFO)
    supervision = _read(supervise / artifacts.SUPERVISION_INFO)
    panel = supervise / artifacts.PANEL
    measured = ("prompts", "rollouts", "generated_tokens", "optimizer_steps")
    machine = ("wall_seconds", "cpu_seconds", "peak_rss_bytes")
    return Costs(
        labels=_figure(supervision.get("labels_bought", {}), "total", artifacts.SUPERVISION_INFO),
        panel_labels=pq.read_metadata(panel).num_rows if panel.exists() else 0,
        **{name: _figure(summary, name, artifacts.TRAIN_INFO) for name in measured + machine},
    )


def costs_from_json(data: Mapping[str, Any] | None) -> Costs | None:
    """Rebuild the costs that a record holds; None for the untrained policy, which costs nothing to train."""
    if data is None:
        return None
    return Costs(**{field.name: _figure(data, field.name, artifacts.RECORD) for field in fields(Costs)})


def _figure(data: Mapping[str, Any], name: str, source: str) -> float:
    value = data.get(name)
    if not isinstance(value, int | float):
        raise DataError(f"{source}: found {name} = {value!r}, allowed a number; fix: run the cell again")
    return value


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
