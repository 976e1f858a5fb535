"""From the specification of a cell to verl's configuration.

Hydra composes `configs/job.yaml` over verl's own tree; the values of the cell are then merged as a nested
dictionary, so that no value ever passes through an override string. verl's tree is closed, so a
key that a new verl no longer has fails here and not silently.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from benchmark.suite.spec import Estimator
from methods.groups import EvidenceKind
from methods.registry import method_class

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@dataclass(frozen=True, slots=True)
class JobPaths:
    """The files of one job; `checkpoints` is its own, so that no two cells can resume each other."""

    model: Path
    train: Path
    panel: Path
    truth: Path
    checkpoints: Path
    decisions: Path
    progress: Path


def compose(backend: str) -> DictConfig:
    """Compose verl's tree with job.yaml and the settings of the backend ("cpu" or "gpu")."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    with initialize_config_dir(str(CONFIGS), version_base=None, job_name="venus"):
        return hydra_compose("job", overrides=[f"backend={backend}"])


def job_config(base: DictConfig, params: Mapping[str, Any], paths: JobPaths, runtime: Mapping[str, Any]) -> DictConfig:
    """Merge the values of a cell into the composed tree.

    `params` are the parameters of the train stage: method, train (a TrainSpec), seed. `runtime` holds what
    does not change the result. Raises omegaconf errors for keys that verl's tree does not have.
    """
    config = base.copy()
    OmegaConf.set_struct(config, True)
    config = OmegaConf.merge(config, estimator_values(params["train"]))
    config = OmegaConf.merge(config, cell_values(params["train"], params["seed"], paths, runtime))
    config.trainer.total_training_steps = last_step(params)
    with open_dict(config):
        config.venus = {
            "method": dict(params["method"]),
            "trust_rollout_log_probs": trusts_rollout_log_probs(params["train"], params["method"]["name"]),
            "labelled_share": params["train"]["labelled_share"],
            "truth": str(paths.truth),
            "decisions": str(paths.decisions),
            "progress": str(paths.progress),
        }
    return config


def trusts_rollout_log_probs(train: Mapping[str, Any], method: str) -> bool:
    """Say whether the log-probabilities of the rollout serve as those of the old policy.

    On the CPU backend sampler and trainer hold the same float32 weights, so they agree to rounding and a whole
    forward pass is saved. Not where the sampler cuts the distribution (top-p) or the method needs
    evidence that only this pass delivers.
    """
    delivered = {EvidenceKind.LOG_PROBS}
    return train["backend"] == "cpu" and train["top_p"] == 1 and method_class(method).evidence <= delivered


def last_step(params: Mapping[str, Any]) -> int:
    """Return the step after which a train stage ends: the rounds of a cell divide its steps evenly."""
    steps, rounds = params["train"]["steps"], params.get("rounds", 1)
    return int(steps * (params.get("round", 0) + 1) // rounds)


def estimator_values(train: Mapping[str, Any]) -> dict[str, Any]:
    """Map an Estimator to verl's keys; Dr. GRPO is GRPO without two normalisations (arXiv 2503.20783, section 3.2)."""
    kind = Estimator(train["estimator"])
    if kind is Estimator.DR_GRPO:
        return {
            "algorithm": {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False},
            "actor_rollout_ref": {"actor": {"loss_agg_mode": "seq-mean-token-sum-norm"}},
        }
    return {"algorithm": {"adv_estimator": kind.value, "norm_adv_by_std_in_grpo": train["normalise_by_std"]}}


def cell_values(train: Mapping[str, Any], seed: int, paths: JobPaths, runtime: Mapping[str, Any]) -> dict[str, Any]:
    """Map a TrainSpec to the keys of verl's tree; one suite seed fans out to every seed that verl has."""
    rollouts = train["prompts"] * train["rollouts"]
    micro_batch = {"cpu": rollouts, "gpu": None}[train["backend"]]
    values: dict[str, Any] = {
        "data": {
            "train_files": str(paths.train),
            "val_files": str(paths.panel),
            "train_batch_size": train["prompts"],
            "max_prompt_length": train["max_prompt_tokens"],
            "max_response_length": train["max_response_tokens"],
            "seed": seed,
        },
        "actor_rollout_ref": {
            "model": {"path": str(paths.model)},
            "actor": {
                "ppo_mini_batch_size": train["prompts"],
                "ppo_micro_batch_size_per_gpu": micro_batch,
                "use_kl_loss": train["kl_coefficient"] > 0,
                "kl_loss_coef": train["kl_coefficient"],
                "clip_ratio": train["clip"],
                "clip_ratio_low": train["clip"],
                "clip_ratio_high": train["clip"],
                "data_loader_seed": seed,
                "fsdp_config": {"seed": seed},
                "optim": {
                    "lr": train["learning_rate"],
                    "lr_warmup_steps": train["warmup_steps"],
                    "weight_decay": train["weight_decay"],
                },
            },
            "ref": {"log_prob_micro_batch_size_per_gpu": micro_batch, "fsdp_config": {"seed": seed}},
            "rollout": {
                "n": train["rollouts"],
                "temperature": train["temperature"],
                "top_p": train["top_p"],
                "seed": seed,
                "log_prob_micro_batch_size_per_gpu": micro_batch,
                "val_kwargs": {
                    "n": max(1, train["panel_samples"]),
                    "temperature": train["temperature"],
                    "top_p": train["top_p"],
                    "do_sample": True,
                },
            },
        },
        "trainer": {
            "test_freq": train["panel_every"] if train["panel_every"] > 0 else -1,
            "save_freq": int(runtime["checkpoint_every"]),
            "default_local_dir": str(paths.checkpoints),
            "experiment_name": paths.checkpoints.parent.name,
        },
    }
    if train["panel_every"] == 0:
        values["trainer"]["val_before_train"] = False
    if train["backend"] == "cpu":
        values["actor_rollout_ref"]["rollout"]["router_config_path"] = str(CONFIGS / "router" / "least_busy.yaml")
    if train["backend"] == "gpu":
        values["trainer"]["n_gpus_per_node"] = int(runtime["gpus_per_cell"])
    return values
