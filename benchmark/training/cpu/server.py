"""The rollout server: a Ray actor that holds a copy of the policy and samples from it with transformers.

It answers verl's stock agent loop (`generate`, one request per rollout, batched as they arrive) and the batch agent
loop of this package (`generate_batch`, one call per step, which saves several Ray calls per rollout).

Nothing heavy is imported with this module, because Ray imports it wherever a handle of the server arrives: in the
router, which only passes handles on, torch and verl would be seconds of imports per cell. The server itself never
needs verl but for one dataclass.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from verl.workers.rollout.replica import TokenOutput

Rollout = tuple[list[int], list[float]]
"""Token ids of a response and the log-probability of each, under the sampling distribution."""

ARRIVAL_WINDOW_SECONDS = 0.01


def server_name(replica_rank: int) -> str:
    """Name the actor of a replica; names are unique per job, since each job has a Ray namespace."""
    return f"cpu_rollout_server_{replica_rank}"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample; requests that agree in it can share a batch."""

    temperature: float
    top_k: int
    top_p: float
    max_tokens: int

    @classmethod
    def from_request(cls, request: Mapping[str, Any], default_max_tokens: int) -> Sampling:
        """Read verl's sampling parameters, with vLLM's names and defaults."""
        return cls(
            temperature=float(request.get("temperature", 1.0)),
            top_k=int(request.get("top_k", -1)),
            top_p=float(request.get("top_p", 1.0)),
            max_tokens=int(request.get("max_tokens") or request.get("max_new_tokens") or default_max_tokens),
        )


@dataclass(slots=True)
class _Request:
    prompt: list[int]
    sampling: Sampling
    answer: asyncio.Future[Rollout]


class RolloutServer:
    """Holds a copy of the policy and samples from it, one batch at a time."""

    def __init__(self, config: Any, model_config: Any, replica_rank: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        self.config = config
        tokenizer = AutoTokenizer.from_pretrained(model_config.get("tokenizer_path") or model_config.path)
        self.eos, self.pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        self.model = AutoModelForCausalLM.from_pretrained(
            model_config.path, dtype=torch.float32, attn_implementation="sdpa"
        ).eval()
        self.generator = torch.Generator().manual_seed(int(config.get("seed", 0) or 0) + replica_rank)
        self.global_steps: int | None = None  # version of the weights
        self.waiting: list[_Request] = []

    async def ready(self) -> bool:
        """Start serving; the event loop exists only once the actor runs."""
        self.arrived, self.busy = asyncio.Event(), asyncio.Lock()
        self.loop_task = asyncio.create_task(self._serve())
        return True

    async def generate(
        self, request_id: str | None = None, *, prompt_ids: Sequence[int], sampling_params: Mapping[str, Any], **_: Any
    ) -> TokenOutput:
        """Answer one request of verl's stock agent loop."""
        from verl.workers.rollout.replica import TokenOutput

        sampling = Sampling.from_request(sampling_params, self.config.response_length)
        request = _Request(list(prompt_ids), sampling, asyncio.get_running_loop().create_future())
        self.waiting.append(request)
        self.arrived.set()
        ids, log_probs = await request.answer
        return TokenOutput(
            token_ids=ids,
            log_probs=log_probs if sampling_params.get("logprobs") else None,
            stop_reason="completed" if ids and ids[-1] == self.eos else "length",
            num_preempted=0,
            extra_fields={"global_steps": self.global_steps},
        )

    async def generate_batch(
        self, prompts: Sequence[list[int]], samples: int, sampling_params: Mapping[str, Any], seed: int
    ) -> tuple[list[Rollout], int | None]:
        """Sample every prompt `samples` times, in prompt order, reproducibly from `seed`.

        Returns the rollouts (prompt-major) and the version of the weights that made them.
        """
        import torch

        sampling = Sampling.from_request(sampling_params, self.config.response_length)
        generator = torch.Generator().manual_seed(seed)
        per_call = max(1, int(self.config.max_num_seqs) // samples)
        rollouts: list[Rollout] = []
        async with self.busy:
            for start in range(0, len(prompts), per_call):
                chunk = [list(prompt) for prompt in prompts[start : start + per_call] for _ in range(samples)]
                rollouts += await asyncio.to_thread(self._sample, chunk, sampling, generator)
        return rollouts, self.global_steps

    async def load_weights(self, weights: Mapping[str, torch.Tensor], global_steps: int | None = None) -> None:
        """Replace the policy.

        Raises RuntimeError where the names of the weights do not fit the model.
        """
        async with self.busy:
            _, unexpected = self.model.load_state_dict(weights, strict=False)
        if unexpected:
            raise RuntimeError(f"weights that the rollout model does not have: {sorted(unexpected)}")
        self.global_steps = global_steps

    async def set_global_steps(self, global_steps: int) -> None:
        """Note the version of the weights."""
        self.global_steps = global_steps

    def _sample(self, prompts: list[list[int]], sampling: Sampling, generator: torch.Generator) -> list[Rollout]:
        from benchmark.evaluation.engines.decoding import sample

        return sample(
            self.model,
            prompts,
            sampling.max_tokens,
            sampling.temperature,
            sampling.top_k,
            sampling.top_p,
            (self.eos,),
            self.pad,
            generator,
        )

    async def _serve(self) -> None:
        """Batch the requests of the stock agent loop as they arrive."""
        while True:
            await self.arrived.wait()
            seen = -1
            while len(self.waiting) != seen and len(self.waiting) < self.config.max_num_seqs:
                seen = len(self.waiting)
                await asyncio.sleep(ARRIVAL_WINDOW_SECONDS)
            sampling = self.waiting[0].sampling
            batch = [request for request in self.waiting if request.sampling == sampling][: self.config.max_num_seqs]
            taken = {id(request) for request in batch}
            self.waiting = [request for request in self.waiting if id(request) not in taken]
            if not self.waiting:
                self.arrived.clear()
            try:
                async with self.busy:
                    prompts = [request.prompt for request in batch]
                    rollouts = await asyncio.to_thread(self._sample, prompts, sampling, self.generator)
            except Exception as error:  # noqa: BLE001  each caller must learn of it
                for request in batch:
                    request.answer.set_exception(RuntimeError(f"sampling failed: {error!r}"))
                continue
            for request, rollout in zip(batch, rollouts, strict=True):
                if not request.answer.done():
                    request.answer.set_result(rollout)

    async def _accept(self, *args: Any, **kwargs: Any) -> None:
        """Accept the memory and profiling calls of verl, which mean nothing on a CPU."""

    wake_up = sleep = abort_all_requests = resume_generation = clear_kv_cache = _accept
    release_kv_cache = resume_kv_cache = start_profile = stop_profile = _accept
