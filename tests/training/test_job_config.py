"""Every setting that venus emits must exist in the configuration tree of the installed verl."""

from pathlib import Path

import pytest
import yaml
from omegaconf.errors import ConfigKeyError

from benchmark.training.job_config import (
    JobPaths,
    cell_values,
    compose,
    job_config,
    last_step,
    trusts_rollout_log_probs,
)

pytest.importorskip("verl")
CONFIGS = Path(__file__).parents[2] / "configs"
PATHS = JobPaths(
    *(Path("/artifacts") / name for name in ("model", "train", "panel", "truth", "job/c", "job/d", "job/p"))
)
RUNTIME = {"checkpoint_every": 10, "threads": 1, "gpus_per_cell": 8}


def train(name: str) -> dict:
    return yaml.safe_load((CONFIGS / "train" / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["micro", "paper"])
def config(request):
    spec = train(request.param)
    params = {"method": {"name": "ttrl", "version": 1, "options": {}}, "train": spec, "seed": 5}
    return job_config(compose(spec["backend"]), params, PATHS, RUNTIME)


def test_one_seed_reaches_every_seed_of_verl(config):
    actor, rollout = config.actor_rollout_ref.actor, config.actor_rollout_ref.rollout
    seeds = [config.data.seed, rollout.seed, actor.data_loader_seed, actor.fsdp_config.seed]
    assert [*seeds, config.actor_rollout_ref.ref.fsdp_config.seed] == [5] * 5


def test_a_cell_never_shares_a_checkpoint_folder_or_an_experiment_name(config):
    assert config.trainer.default_local_dir == "/artifacts/job/c"
    assert config.trainer.save_freq == 10
    assert config.trainer.resume_mode == "auto"


def test_the_v1_trainer_is_ours_and_nothing_is_sent_to_a_service(config):
    assert config.trainer.use_v1
    assert config.trainer.v1.trainer_mode == "supervision"
    assert list(config.trainer.logger) == ["file"]


def test_the_hyper_parameters_are_those_of_the_profile(config):
    spec = train({"cpu": "micro", "cuda": "paper"}[config.trainer.device])
    assert config.data.train_batch_size == config.actor_rollout_ref.actor.ppo_mini_batch_size == spec["prompts"]
    assert config.actor_rollout_ref.rollout.n == spec["rollouts"]
    assert config.actor_rollout_ref.actor.optim.lr == spec["learning_rate"]
    assert config.actor_rollout_ref.actor.use_kl_loss
    assert config.trainer.total_training_steps == spec["steps"]


def test_a_setting_that_verl_does_not_have_is_refused():
    base = compose("cpu")
    spec = train("micro")
    values = cell_values(spec, 0, PATHS, RUNTIME)
    values["actor_rollout_ref"]["actor"]["no_such_setting"] = 1
    from omegaconf import OmegaConf

    OmegaConf.set_struct(base, True)
    with pytest.raises(ConfigKeyError, match="no_such_setting"):
        OmegaConf.merge(base, values)


def test_rollout_log_probs_are_trusted_only_where_sampler_and_trainer_agree():
    assert trusts_rollout_log_probs(train("micro"), "ttrl")
    assert not trusts_rollout_log_probs({**train("micro"), "top_p": 0.9}, "ttrl")
    assert not trusts_rollout_log_probs(train("paper"), "ttrl")


def with_estimator(name: str):
    params = {"method": {"name": "ttrl", "version": 1, "options": {}}, "train": train("micro"), "seed": 0}
    params["train"]["estimator"] = name
    return job_config(compose("cpu"), params, PATHS, RUNTIME)


@pytest.mark.parametrize("name", ["grpo", "rloo", "reinforce_plus_plus"])
def test_an_estimator_is_one_of_verls_own(name):
    from verl.trainer.ppo.core_algos import get_adv_estimator_fn

    config = with_estimator(name)
    assert config.algorithm.adv_estimator == name
    assert get_adv_estimator_fn(name)
    assert config.actor_rollout_ref.actor.loss_agg_mode == "token-mean"


def test_dr_grpo_is_grpo_without_its_two_normalisations():
    config = with_estimator("dr_grpo")
    assert config.algorithm.adv_estimator == "grpo"
    assert not config.algorithm.norm_adv_by_std_in_grpo
    assert config.actor_rollout_ref.actor.loss_agg_mode == "seq-mean-token-sum-norm"


def test_the_rounds_of_a_cell_divide_its_steps_without_a_rest():
    def ends(steps, rounds):
        return [last_step({"train": {"steps": steps}, "round": i, "rounds": rounds}) for i in range(rounds)]

    assert ends(60, 6) == [10, 20, 30, 40, 50, 60]
    assert ends(10, 4) == [2, 5, 7, 10]
    assert last_step({"train": {"steps": 60}}) == 60
