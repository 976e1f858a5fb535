"""The two sides of a rollout server that verl knows on a CPU, both in verl's own processes.

`CPURolloutReplica` is started by the trainer and starts the server (`benchmark.training.cpu.server`);
`WeightSender` lives inside the training worker and hands over the weights after each update.
"""

import os
from collections.abc import Iterator
from typing import Any

import ray
import torch
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica

from benchmark.training.cpu.server import RolloutServer, server_name


class CPURolloutReplica(RolloutReplica):
    """Starts one server per replica."""

    async def launch_servers(self) -> None:
        """Create the server actor and wait until it has loaded the model."""
        actor = ray.remote(num_cpus=0, max_concurrency=self.max_concurrency)(RolloutServer)
        server = actor.options(name=server_name(self.replica_rank)).remote(
            self.config, self.model_config, self.replica_rank
        )
        await server.ready.remote()
        self.servers = [server]
        self._server_handle = server
        self._server_address = server_name(self.replica_rank)


class WeightSender(BaseRollout):
    """Lives in the training worker and sends the weights of the actor to the server."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        self.replica_rank = int(os.environ["RANK"]) if replica_rank == -1 else replica_rank

    async def resume(self, tags: list[str]) -> None:
        """Accept: nothing was released."""

    async def release(self) -> None:
        """Accept: there is no device memory to release."""

    @torch.no_grad()
    async def update_weights(
        self, weights: Iterator[tuple[str, torch.Tensor]], global_steps: int | None = None, **_: Any
    ) -> None:
        """Send a copy of the weights; every rank walks the iterator, since gathering is collective."""
        state = {name: tensor.detach().to("cpu", torch.float32).clone() for name, tensor in weights}
        await ray.get_actor(server_name(self.replica_rank)).load_weights.remote(state, global_steps)
