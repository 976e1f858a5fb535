"""The EMA teacher as the trainer sees it: sampled once per step, moved after each update, kept in checkpoints.

The answers of the teacher take verl's validation path (same prompts, partition "val"), so that they never meet
the replay buffer of the training rollouts. They cost as many rollouts again, and two more sendings of weights.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import torch
import transfer_queue as tq
from tensordict import TensorDict
from verl.utils import tensordict_utils as tu

from benchmark.errors import MethodError
from benchmark.training import groups as queue
from methods.groups import RolloutGroups
from methods.teacher import TeacherPlan


class Teacher:
    """Drives the teacher through the trainer's worker group."""

    def __init__(self, plan: TeacherPlan, trainer: Any) -> None:
        self.plan, self.trainer = plan, trainer

    @property
    def _workers(self) -> Any:
        return self.trainer.actor_rollout_wg

    def answers(
        self, prompts: TensorDict, groups: RolloutGroups, extract: Callable[[Sequence[torch.Tensor]], list[str | None]]
    ) -> tuple[tuple[tuple[str | None, ...], ...], int]:
        """Sample the teacher on the prompts of a step.

        Returns its answers in the order of the groups ([B][rollouts]) and the number of generated tokens.
        Raises MethodError where a prompt got none.
        """
        manager, step = self.trainer.checkpoint_manager, self.trainer.global_steps
        self._workers.send_teacher(True)
        manager.update_weights(step)
        try:
            by_index, tokens = self._sample(prompts, extract)
        finally:
            self._workers.send_teacher(False)
            manager.sleep_replicas()
        missing = [int(index) for index in groups.index if not by_index[int(index)]]
        if missing:
            raise MethodError(f"the teacher gave no answer to item {missing[0]} in step {step}; fix: see the job's log")
        return tuple(tuple(by_index[int(index)]) for index in groups.index), tokens

    def move(self) -> None:
        """Move the teacher after an update."""
        rate = self.plan.rate(self.trainer.global_steps, self.trainer.total_training_steps)
        self._workers.move_teacher(rate, self._anchors)

    def save(self, folder: str) -> None:
        """Write the teacher into a checkpoint."""
        self._workers.save_teacher(folder)

    def load(self, folder: str) -> None:
        """Read the teacher from a checkpoint."""
        self._workers.load_teacher(folder, self._anchors)

    @property
    def _anchors(self) -> bool:
        return self.plan.anchors and bool(self.trainer.use_reference_policy)

    def _sample(
        self, prompts: TensorDict, extract: Callable[[Sequence[torch.Tensor]], list[str | None]]
    ) -> tuple[dict[int, list[str | None]], int]:
        trainer = self.trainer
        size, step = len(prompts), trainer.global_steps
        batch = prompts.clone()
        names = {str(uuid4()): int(index) for index in queue.plain(prompts["index"])}
        tu.assign_non_tensor_stack(batch, "uid", list(names))
        tu.assign_non_tensor_stack(batch, "__rollout_n__", [self.plan.rollouts] * size)
        tu.assign_non_tensor_data(batch, "validate", True)
        tu.assign_non_tensor_data(batch, "sampled_policy", "teacher")
        pending = [{"is_prompt": True, "status": "pending", "global_steps": step} for _ in range(size)]
        tq.kv_batch_put(keys=list(names), partition_id="val", tags=pending)
        trainer.agent_loop_manager.generate_sequences(batch)
        found, _ = trainer.replay_buffer.sample(global_steps=step, partition_id="val", batch_size=size)
        data = tq.kv_batch_get(keys=found.keys, partition_id="val", select_fields=["responses"])
        responses = list(data["responses"].unbind())
        by_index: dict[int, list[str | None]] = defaultdict(list)
        for key, answer in sorted(zip(found.keys, extract(responses), strict=True), key=lambda pair: _session(pair[0])):
            by_index[names[_session(key)[0]]].append(answer)
        tq.kv_clear(keys=found.keys, partition_id="val")
        return by_index, sum(len(ids) for ids in responses)


def _session(key: str) -> tuple[str, int]:
    """Split a key of TransferQueue into the uid of its prompt and the number of the rollout."""
    uid, session, _ = key.rsplit("_", 2)
    return uid, int(session)
