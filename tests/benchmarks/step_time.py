"""Seconds per training step, three ways on one model and batch: venus, verl's stock entry point, bare PyTorch.

    python tests/benchmarks/step_time.py [--steps 12] [--prompts 32] [--rollouts 8] [--store PATH]

Prints the three medians and the two ratios as JSON. The stock run is verl's own trainer ("sync"), agent loop,
replay buffer and log-probabilities; from this project it only borrows what makes verl run without a GPU at all
(platform, engine, rollout server). The median leaves out the first two steps (warm-up).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

PLUGIN_OF_STOCK = "stock_plugin"


def median_step(metrics: Path) -> float:
    """Median of verl's own `timing_s/step`, without the first two steps."""
    lines = [json.loads(line)["data"] for line in metrics.read_text(encoding="utf-8").splitlines()]
    seconds = [data["timing_s/step"] for data in lines if "timing_s/step" in data]
    return statistics.median(seconds[2:])


def run_job(kind: str, inputs: dict[str, Path], params: dict[str, Any], work: Path) -> dict[str, Any]:
    """Run one verl job in a child process and return its median step and its usage."""
    work.mkdir(parents=True)
    job = {"kind": kind, "inputs": {name: str(path) for name, path in inputs.items()}, "params": params}
    (work / "bench.json").write_text(json.dumps(job), encoding="utf-8")
    with (work / "log.txt").open("w", encoding="utf-8") as log:
        command = [sys.executable, __file__, "--child", str(work)]
        status = subprocess.run(command, stdout=log, stderr=log, check=False, timeout=1800).returncode
    if status:
        raise SystemExit((work / "log.txt").read_text(encoding="utf-8")[-3000:])
    usage = json.loads(next(work.glob("usage-*.json")).read_text(encoding="utf-8"))
    return {"seconds_per_step": median_step(work / "metrics.jsonl"), "peak_rss_gb": usage["peak_rss_bytes"] / 2**30}


def child(work: Path) -> None:
    """Run the job described in `work/bench.json` (both ways share everything but what they compare)."""
    from benchmark.training import entry
    from benchmark.training.job_config import JobPaths, compose, job_config
    from benchmark.training.usage import UsageMonitor

    job = json.loads((work / "bench.json").read_text(encoding="utf-8"))
    inputs = {name: Path(path) for name, path in job["inputs"].items()}
    paths = JobPaths(
        model=inputs["base_model"] / "model",
        train=inputs["supervise"] / "train.parquet",
        panel=inputs["supervise"] / "panel.parquet",
        truth=inputs["supervise"] / "truth.parquet",
        checkpoints=work / "checkpoints",
        decisions=work / "decisions",
        progress=work / "progress.jsonl",
    )
    environment = entry.job_environment("cpu", work.name, work / "metrics.jsonl", 1)
    if job["kind"] == "stock":
        environment["VERL_USE_EXTERNAL_MODULES"] = PLUGIN_OF_STOCK
        environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    os.environ.update(environment)  # before anything imports verl, which reads it
    config = job_config(compose("cpu"), job["params"], paths, {"checkpoint_every": 1000, "threads": 1})
    config.trainer.val_before_train = False
    if job["kind"] == "stock":
        config.trainer.v1.trainer_mode = "sync"
        config.trainer.v1.sampler.custom_sampler = {"path": None, "name": None}
        config.actor_rollout_ref.rollout.agent.agent_loop_manager_class = None
        config.actor_rollout_ref.rollout.router_config_path = None
        config.reward.num_workers = 1
    with UsageMonitor(work, 1, entry.JOB_NAMESPACE, environment[entry.JOB_NAMESPACE]):
        entry.run_on_ray(config, None, environment)


def measure(inputs: dict[str, Path], train: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Measure all three and form the ratios."""
    import bare_loop
    import pyarrow.parquet as pq
    import torch
    from transformers import AutoTokenizer

    params = {"method": {"name": "grpo", "version": 1, "options": {}}, "train": train, "seed": 0}
    venus = run_job("venus", inputs, params, folder / "venus")
    stock = run_job("stock", inputs, params, folder / "stock")
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(inputs["base_model"] / "model")
    rows = pq.read_table(inputs["supervise"] / "train.parquet")["prompt"].to_pylist()[: train["prompts"]]
    prompts = [
        tokenizer(tokenizer.apply_chat_template(row, tokenize=False, add_generation_prompt=True))["input_ids"]
        for row in rows
    ]
    bare = bare_loop.seconds_per_step(inputs["base_model"] / "model", prompts, train["rollouts"], 20)
    return {
        "venus": venus,
        "stock": stock,
        "bare_seconds_per_step": bare,
        "stock_over_venus": stock["seconds_per_step"] / venus["seconds_per_step"],
        "venus_over_bare": venus["seconds_per_step"] / bare,
    }


def main() -> None:
    """Parse the command line, build the inputs in the store where they are missing, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", type=Path)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--rollouts", type=int, default=8)
    parser.add_argument("--base-model", type=Path, help="artifact folder of a base_model stage")
    parser.add_argument("--supervise", type=Path, help="artifact folder of a supervise stage")
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    import yaml

    root = Path(__file__).resolve().parents[2]
    train = yaml.safe_load((root / "configs/train/micro.yaml").read_text(encoding="utf-8"))
    train |= {"steps": options.steps, "prompts": options.prompts, "rollouts": options.rollouts, "panel_every": 0}
    inputs = {"base_model": options.base_model, "supervise": options.supervise}
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(inputs, train, Path(folder)), indent=1))


if __name__ == "__main__":
    main()
