"""What the hooks of methods cost: the median step of each method over that of plain GRPO, in real verl jobs.

    python tests/benchmarks/hook_cost.py --base-model ARTIFACT --supervise ARTIFACT [--steps 12] [--methods ttrl ...]

Plain GRPO is measured before, between and after the others, so that a machine whose speed drifts shows in the
spread of its own figure. A method that reads evidence pays for a pass over the rollouts that GRPO on the CPU backend
does not need (the old log-probabilities come with the rollouts there). Give a partly labelled set, so that both kinds
of rows occur.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import yaml
from step_time import run_job

METHODS = ("ttrl", "random_reward", "olr", "trapo", "self_certainty", "tok_entropy", "geomin")


def main() -> None:
    """Measure the methods one after the other and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-model", type=Path, required=True, help="artifact folder of a base_model stage")
    parser.add_argument("--supervise", type=Path, required=True, help="artifact folder of a supervise stage")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[2]
    train = yaml.safe_load((root / "configs/train/micro.yaml").read_text(encoding="utf-8"))
    train |= {"steps": options.steps, "panel_every": 0}
    inputs = {"base_model": options.base_model, "supervise": options.supervise}
    half = len(options.methods) // 2
    order = ["grpo", *options.methods[:half], "grpo", *options.methods[half:], "grpo"]
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(order):
            params: dict[str, Any] = {"method": {"name": name, "version": 1, "options": {}}, "train": train, "seed": 0}
            job = run_job("venus", inputs, params, Path(folder) / f"{number}-{name}")
            found.setdefault(name, []).append(job["seconds_per_step"])
    plain = statistics.median(found["grpo"])
    report = {
        "grpo_seconds_per_step": found["grpo"],
        "over_grpo": {name: round(statistics.median(found[name]) / plain, 3) for name in options.methods},
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
