"""Small but real inputs for end-to-end tests: every stage is the product's own, only shorter."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmark.stage import StageJob, StageKind

ROOT = Path(__file__).parents[2]
PRETRAINING_STEPS = 200  # of 2,500: enough that some answers are right, so that a gradient exists


def recipe(group: str, name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / "configs" / group / f"{name}.yaml").read_text(encoding="utf-8"))


def run_stage(run, kind: StageKind, params: dict[str, Any], inputs: dict[str, Path], folder: Path) -> Path:
    out = folder / "out"
    out.mkdir(parents=True)
    run(StageJob(kind, f"test-{kind}", params, inputs, folder, out, 1, {"threads": 2}))
    return out


@pytest.fixture(scope="session")
def micro_train() -> dict[str, Any]:
    return recipe("train", "micro")


@pytest.fixture(scope="session")
def base_model(tmp_path_factory) -> Path:
    from benchmark.data.base_model import run

    params = recipe("model", "micro")
    params["recipe"] |= {"steps": PRETRAINING_STEPS}
    return run_stage(run, StageKind.BASE_MODEL, params, {}, tmp_path_factory.mktemp("base_model"))


@pytest.fixture(scope="session")
def supervision(tmp_path_factory) -> Path:
    """Half of the rows are labelled, so that both kinds meet in every batch."""
    from benchmark.data import pool, supervise

    params = {**recipe("data", "micro"), "pool": 192, "panel": 24}
    questions = run_stage(pool.run, StageKind.POOL, params, {}, tmp_path_factory.mktemp("pool"))
    labels = {"label_ratio": 0.5, "noise_kind": "none", "noise_ratio": 0.0, "rows": "all", "seed": 7}
    folder = tmp_path_factory.mktemp("supervise")
    return run_stage(supervise.run, StageKind.SUPERVISE, labels, {"pool": questions}, folder)
