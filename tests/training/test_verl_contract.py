"""Pins the source of every verl stage that SupervisionTrainer calls or re-composes.

A verl upgrade that touches one of them fails here, and a person compares the step with
`benchmark/training/trainer.py` before the hash is renewed.
"""

import hashlib
import inspect

import pytest

pytest.importorskip("verl")

PINNED = {
    "PPOTrainer.step": "e22f53aadb7805d2",
    "PPOTrainer._step_once": "efdd4abe161c6dee",
    "PPOTrainer.fit": "7d83a81c2e62979f",
    "PPOTrainer._validate": "f1d58a70e91d7883",
    "PPOTrainer._balance_batch": "f9b6e887d7504a65",
    "PPOTrainer._compute_old_log_prob": "b2630e6178ed99f7",
    "PPOTrainer._compute_ref_log_prob": "f4d69ef51b12c284",
    "PPOTrainer._compute_advantage": "2a4a2aa4a475b228",
    "PPOTrainer._update_actor": "d7009bd8a69d40b9",
    "PPOTrainer._compute_metrics": "9c5c555787889555",
    "PPOTrainer._save_checkpoint": "8c2435b577e54f19",
    "PPOTrainer._load_checkpoint": "bb446d77c48ac6cc",
    "PPOTrainerSync": "beb30ff5187a75b9",
    "ReplayBuffer.sample": "cdcecebeb7f0b44e",
    "TaskRunnerV1.run": "26be986901db888b",
}


def source_of(name: str) -> str:
    from verl.trainer.main_ppo import TaskRunnerV1
    from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer
    from verl.trainer.ppo.v1.trainer_base import PPOTrainer
    from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

    classes = {
        "PPOTrainer": PPOTrainer,
        "PPOTrainerSync": PPOTrainerSync,
        "ReplayBuffer": ReplayBuffer,
        "TaskRunnerV1": TaskRunnerV1.__ray_metadata__.modified_class,
    }
    cls, _, attribute = name.partition(".")
    return inspect.getsource(getattr(classes[cls], attribute) if attribute else classes[cls])


@pytest.mark.parametrize("name", PINNED)
def test_the_stage_is_the_one_that_the_trainer_was_written_for(name):
    assert hashlib.sha256(source_of(name).encode()).hexdigest()[:16] == PINNED[name]
