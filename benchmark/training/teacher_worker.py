"""verl's actor worker with a teacher: a float32 moving average of the actor's weights.

The average lives beside the shards of the actor, rank by rank, so moving it needs no communication; float32
because a share of 1e-4 vanishes in bfloat16. The teacher is sampled by sending its weights to the rollout
replicas through verl's own path, and it can replace the weights of the reference policy.
"""

from pathlib import Path
from typing import Any

import torch
from torch.distributed.tensor import DTensor
from verl.single_controller.base.decorator import Dispatch, register
from verl.workers.engine_workers import ActorRolloutRefWorker


class TeacherWorker(ActorRolloutRefWorker):
    """An actor, rollout and reference worker that also keeps a teacher."""

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def init_model(self) -> None:
        """Build verl's models; the teacher starts as the actor."""
        super().init_model()
        self.teacher = {name: _local(value).detach().float().clone() for name, value in self._actor_weights()}
        self.sends_teacher = False

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def move_teacher(self, rate: float, anchors: bool) -> None:
        """Move the teacher by `rate` towards the actor; with `anchors` the reference policy follows it."""
        with torch.no_grad():
            for name, value in self._actor_weights():
                self.teacher[name].lerp_(_local(value).detach().float(), rate)
        if anchors:
            self._anchor()

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def send_teacher(self, on: bool) -> None:
        """Choose whose weights the next `update_weights` sends to the rollout replicas."""
        self.sends_teacher = on

    @register(dispatch_mode=Dispatch.ONE_TO_ALL, blocking=False)
    async def update_weights(self, global_steps: int | None = None, mode: str = "auto") -> Any:
        """Send the weights of the actor, or those of the teacher, to the rollout replicas."""
        if not self.sends_teacher:
            return await super().update_weights(global_steps=global_steps, mode=mode)
        actor = {name: _local(value).detach().clone() for name, value in self._actor_weights()}
        self._load_actor(self.teacher)
        try:
            return await super().update_weights(global_steps=global_steps, mode=mode)
        finally:
            self._load_actor(actor)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def save_teacher(self, folder: str) -> None:
        """Write this rank's share of the teacher."""
        torch.save(self.teacher, Path(folder) / _file(self.rank))

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def load_teacher(self, folder: str, anchors: bool) -> None:
        """Read this rank's share of the teacher."""
        self.teacher = torch.load(Path(folder) / _file(self.rank), map_location="cpu", weights_only=True)
        device = _local(next(iter(self._actor_weights()))[1]).device
        self.teacher = {name: value.to(device) for name, value in self.teacher.items()}
        if anchors:
            self._anchor()

    def _actor_weights(self) -> Any:
        return self.actor.engine.module.named_parameters()

    def _load_actor(self, weights: dict[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, value in self._actor_weights():
                _local(value).copy_(weights[name])

    def _anchor(self) -> None:
        """Give the reference policy the weights of the teacher."""
        actor = dict(self._actor_weights())
        with torch.no_grad():
            for name, value in self.ref.engine.module.named_parameters():
                teacher, like = self.teacher[name], actor[name]
                if isinstance(like, DTensor) and not isinstance(value, DTensor):  # a reference that is not sharded
                    whole = DTensor.from_local(teacher, like.device_mesh, like.placements)
                    value.copy_(whole.full_tensor())
                else:
                    _local(value).copy_(teacher)


def _local(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def _file(rank: int) -> str:
    return f"teacher_rank_{rank}.pt"
