"""The train stage: one cell is one verl job on the shared Ray cluster.

Runs in a process of its own. Order: lint the data, compose the configuration, find a checkpoint that is whole,
run verl, check that the planned number of steps was reached, collect the artifact. An exit
without an exception is not success: verl can return without having trained.
"""

import os
from pathlib import Path
from typing import Any

from benchmark import artifacts
from benchmark.data.lint import lint_training_set
from benchmark.errors import StageError
from benchmark.evaluation.grader import is_correct
from benchmark.imports import hide_scikit_learn, scikit_learn_hidden
from benchmark.stage import StageJob
from benchmark.training import results
from benchmark.training.checkpoints import continue_from, latest_whole_checkpoint, point_to
from benchmark.training.job_config import JobPaths, compose, job_config, last_step
from benchmark.training.patches import JOB_NAMESPACE
from benchmark.training.usage import UsageMonitor

PLUGIN = "benchmark.training.verl_plugin"


def run(job: StageJob) -> None:
    """Train one cell.

    Inputs: base_model, supervise, and from the second round on previous, the train artifact that this round
    continues: weights, optimiser and steps go on, only the data is new. Parameters: method, train (a
    TrainSpec), seed; round and rounds where there is more than one. Raises DataError where the training set
    fails its lint and StageError where fewer steps were run than planned.
    """
    train = job.params["train"]
    paths = JobPaths(
        model=job.inputs["base_model"] / artifacts.MODEL_DIR,
        train=job.inputs["supervise"] / artifacts.TRAIN,
        panel=job.inputs["supervise"] / artifacts.PANEL,
        truth=job.inputs["supervise"] / artifacts.TRUTH,
        checkpoints=job.work / "checkpoints",
        decisions=job.work / "decisions",
        progress=job.work / "progress.jsonl",
    )
    metrics = job.work / f"metrics-{job.attempt:03d}.jsonl"
    environment = job_environment(train["backend"], job.key, metrics, int(job.runtime["threads"]))
    os.environ.update(environment)
    _lint(paths, train)
    paths.checkpoints.mkdir(parents=True, exist_ok=True)
    planned = last_step(job.params)
    if "previous" in job.inputs and latest_whole_checkpoint(paths.checkpoints) == 0:
        continue_from(job.inputs["previous"] / artifacts.CHECKPOINT, paths.checkpoints)
    resumed_from = latest_whole_checkpoint(paths.checkpoints)
    point_to(paths.checkpoints, resumed_from)
    print(f"training {job.params['method']['name']}: to step {planned}, from step {resumed_from}", flush=True)

    with UsageMonitor(job.work, job.attempt, JOB_NAMESPACE, environment[JOB_NAMESPACE]):
        config = job_config(compose(train["backend"]), job.params, paths, job.runtime)
        run_on_ray(config, job.runtime.get("ray_address"), environment)

    reached = latest_whole_checkpoint(paths.checkpoints)
    if reached != planned:
        raise StageError(f"verl returned after step {reached}, planned {planned}; the log is beside the job")
    results.collect(job, paths)


def job_environment(backend: str, key: str, metrics: Path, threads: int) -> dict[str, str]:
    """Return the environment of the driver and of every Ray worker of the job."""
    environment = {
        "VERL_USE_EXTERNAL_MODULES": PLUGIN,
        JOB_NAMESPACE: f"transfer_queue_{key}",
        "VERL_FILE_LOGGER_PATH": str(metrics),
        "HF_HUB_OFFLINE": "1",  # weights and data are artifacts by now: nothing may be fetched
        "TOKENIZERS_PARALLELISM": "false",
        "HYDRA_FULL_ERROR": "1",
        "OMP_NUM_THREADS": str(threads),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    if backend == "cpu":
        environment["VERL_PLATFORM"] = "cpu"
    return environment


def run_on_ray(config: Any, address: str | None, environment: dict[str, str]) -> None:
    """Run verl's PPO entry point on the cluster at `address`, or on a local one of its own."""
    import ray

    with scikit_learn_hidden():
        from verl.trainer.constants_ppo import get_ppo_ray_runtime_env
        from verl.trainer.main_ppo import run_ppo
        from verl.trainer.ppo.utils import need_critic, need_reference_policy
        from verl.utils.config import validate_config

        from benchmark.training.task_runner import InProcessTaskRunner

    validate_config(config=config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))
    runtime_env = get_ppo_ray_runtime_env(config)
    runtime_env["worker_process_setup_hook"] = f"{hide_scikit_learn.__module__}.{hide_scikit_learn.__name__}"
    runtime_env["env_vars"] = {**runtime_env["env_vars"], **environment, "TRANSFER_QUEUE_ENABLE": "1"}
    options: dict[str, Any] = {"address": address} if address else {"num_cpus": 16, "num_gpus": 1}
    if not address:
        options["include_dashboard"] = False
    ray.init(runtime_env=runtime_env, log_to_driver=True, logging_level="warning", **options)
    try:
        run_ppo(config, task_runner_class=InProcessTaskRunner)
    finally:
        ray.shutdown()


def _lint(paths: JobPaths, train: Any) -> None:
    with scikit_learn_hidden():
        from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(paths.model)

    def render(messages: list[dict[str, str]]) -> list[int]:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    for path, batch in ((paths.train, train["prompts"]), (paths.panel, 1)):
        lint_training_set(path, render, train["max_prompt_tokens"], batch, is_correct)
