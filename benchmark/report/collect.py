"""Read the artifacts of finished cells from folders; it knows no store."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.report.costs import costs_from_json
from benchmark.report.items import read_items
from benchmark.report.results import ArmResult, CellSource, Curve, MissingSeed, SeedResult

_CURVES = (artifacts.PANEL_ACCURACY, artifacts.TRAIN_REWARD)
_CURVE_PREFIX = "supervision/"


def load_seed(record_dir: Path, train_dir: Path | None = None, source: CellSource | None = None) -> SeedResult:
    """Read a finished cell: the artifact of its record stage and, where it was trained, of its train stage."""
    record = json.loads((record_dir / artifacts.RECORD).read_text(encoding="utf-8"))
    return SeedResult(
        record=record,
        items=read_items(record_dir),
        costs=costs_from_json(record["costs"]),
        path=record_dir,
        curves=read_curves(train_dir / artifacts.METRICS) if train_dir is not None else {},
        source=source,
    )


def arm_result(
    arm: str,
    method: str,
    label_ratio: float | None,
    noise: str,
    seeds: Mapping[int, SeedResult | MissingSeed],
    *,
    trained: bool = True,
    noise_kind: str = "none",
    noise_ratio: float = 0.0,
    family: str = "",
    plain: str = "",
) -> ArmResult:
    """Put the cells of an arm together, seeds ascending."""
    ordered = dict(sorted(seeds.items()))
    return ArmResult(arm, method, label_ratio, noise, ordered, trained, noise_kind, noise_ratio, family, plain)


def read_curves(path: Path) -> dict[str, Curve]:
    """Read the metrics that a report draws: panel accuracy, training reward, and all of `supervision/`."""
    table = pq.read_table(path).sort_by([("key", "ascending"), ("step", "ascending")])
    keys = np.asarray(table["key"].to_pylist(), dtype=np.str_)
    steps, values = table["step"].to_numpy(), table["value"].to_numpy()
    drawn = [str(key) for key in np.unique(keys) if key in _CURVES or key.startswith(_CURVE_PREFIX)]
    return {key: Curve(steps[keys == key], values[keys == key]) for key in drawn}
