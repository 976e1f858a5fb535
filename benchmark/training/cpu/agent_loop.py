"""A whole-batch agent loop for verl's V1 trainer: one server call and one queue write per step.

verl's stock manager makes about three Ray calls per rollout, which for a tiny model costs more than
the model. The contract of V1 is small: implement `generate_sequences` and put the outputs into
TransferQueue with the fields that the trainer reads. Single-turn prompts only. The log-probabilities of the
rollout go in as those of the old policy: server and trainer hold the same float32 weights.
"""

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import ray
import torch
import transfer_queue as tq
from tensordict import TensorDict
from tensordict.tensorclass import NonTensorData, NonTensorStack
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.reward_score import default_compute_score

from benchmark.training.cpu.server import Rollout, server_name

_TOKEN_FIELDS = {
    "prompts": torch.int64,
    "responses": torch.int64,
    "response_mask": torch.int64,
    "loss_mask": torch.int64,
    "input_ids": torch.int64,
    "position_ids": torch.int64,
    "old_log_probs": torch.float32,
    "rm_scores": torch.float32,
}
# Columns of Python objects; each costs 20 ms per 256 rows on each side of the queue.
_TRAIN_FIELDS = ("uid",)
_PANEL_FIELDS = ("uid", "reward_model", "data_source", "extra_fields")


def rollout_seed(seed: int, step: int, purpose: str) -> int:
    """Derive the seed of one batch, so that a resumed run draws what an undisturbed one draws."""
    text = f"{seed}/{step}/{purpose}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class BatchAgentLoopManager:
    """`actor_rollout_ref.rollout.agent.agent_loop_manager_class` of the CPU backend."""

    def __init__(self, config: Any, **_: Any) -> None:
        self.config = config
        self.rollout = config.actor_rollout_ref.rollout
        self.tokenizer = omega_conf_to_dataclass(config.actor_rollout_ref.model).tokenizer
        self.compute_score = get_custom_reward_fn(config) or default_compute_score
        self.server = ray.get_actor(server_name(0))
        self.timing: dict[str, float] = {}  # seconds of the last batch

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> "BatchAgentLoopManager":
        """Build the manager (verl's stock one is asynchronous here)."""
        return cls(*args, **kwargs)

    def generate_sequences(self, batch: TensorDict) -> None:
        """Sample all rollouts of a batch, score them one by one as verl does, and queue them."""
        started = time.perf_counter()
        rows = _rows(batch)
        validate, step = bool(rows[0].get("validate", False)), int(rows[0]["global_steps"])
        settings = self.rollout.val_kwargs if validate else self.rollout
        samples = int(rows[0].get("__rollout_n__", settings.n))  # verl's name for a number that differs
        purpose = rows[0].get("sampled_policy", "panel") if validate else "train"
        prompts = [self._encode(row["raw_prompt"]) for row in rows]
        sampling = {key: settings[key] for key in ("temperature", "top_p", "top_k")}
        seed = rollout_seed(int(self.rollout.seed), step, purpose)
        rollouts, version = ray.get(self.server.generate_batch.remote(prompts, samples, sampling, seed))
        generated = time.perf_counter()
        self._put(rows, prompts, rollouts, samples, version, "val" if validate else "train")
        self.timing = {"agent/generate": generated - started, "agent/put": time.perf_counter() - generated}

    def _encode(self, messages: Any) -> list[int]:
        text = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _score(self, row: Mapping[str, Any], text: str) -> dict[str, Any]:
        scored = self.compute_score(
            data_source=row["data_source"],
            solution_str=text,
            ground_truth=row["reward_model"]["ground_truth"],
            extra_info=row["extra_info"],
        )
        return dict(scored) if isinstance(scored, Mapping) else {"score": float(scored)}

    def _put(
        self,
        rows: list[dict[str, Any]],
        prompts: list[list[int]],
        rollouts: list[Rollout],
        samples: int,
        version: int | None,
        partition: str,
    ) -> None:
        texts = self.tokenizer.batch_decode([ids for ids, _ in rollouts], skip_special_tokens=True)
        tokens: dict[str, list[list[Any]]] = {name: [] for name in _TOKEN_FIELDS}
        items: dict[str, list[Any]] = {name: [] for name in (_PANEL_FIELDS if partition == "val" else _TRAIN_FIELDS)}
        keys, tags = [], []
        for position, (ids, log_probs) in enumerate(rollouts):
            number, session = divmod(position, samples)
            row, prompt = rows[number], prompts[number]
            scored = self._score(row, texts[position])
            mask = [1] * len(ids)
            score = [0.0] * (len(ids) - 1) + [float(scored["score"])]
            full = prompt + ids
            values = (prompt, ids, mask, mask, full, list(range(len(full))), log_probs, score)
            for name, value in zip(_TOKEN_FIELDS, values, strict=True):
                tokens[name].append(value)
            row["extra_fields"] = {"reward_extra_info": scored, "global_steps": version}
            for name, column in items.items():
                column.append(row[name])
            keys.append(f"{row['uid']}_{session}_0")
            tags.append(
                {
                    "status": "success",
                    "prompt_len": len(prompt),
                    "response_len": len(ids),
                    "seq_len": len(full),
                    "global_steps": int(row["global_steps"]),
                    "min_global_steps": version,
                    "max_global_steps": version,
                }
            )
        fields: dict[str, Any] = {name: _jagged(tokens[name], dtype) for name, dtype in _TOKEN_FIELDS.items()}
        fields |= {name: NonTensorStack(*values) for name, values in items.items()}
        fields["num_turns"] = torch.full((len(keys),), 2)
        fields["index"] = torch.tensor([int(rows[i // samples]["index"]) for i in range(len(keys))])
        data = TensorDict(fields, batch_size=[len(keys)])
        tq.kv_batch_put(keys=keys, fields=data, tags=tags, partition_id=partition)
        finished = {"is_prompt": True, "status": "finished", "global_steps": int(rows[0]["global_steps"])}
        tq.kv_batch_put(keys=[row["uid"] for row in rows], tags=[dict(finished) for _ in rows], partition_id=partition)


def _rows(batch: TensorDict) -> list[dict[str, Any]]:
    """Turn a batch of prompts into one plain dictionary per prompt."""
    columns: dict[str, list[Any]] = {}
    for name, values in batch.items():
        if isinstance(values, NonTensorStack):
            columns[name] = [value.data if isinstance(value, NonTensorData) else value for value in values]
        elif isinstance(values, NonTensorData):
            columns[name] = [values.data] * len(batch)
        else:
            columns[name] = list(values)
    return [{name: column[i] for name, column in columns.items()} for i in range(len(batch))]


def _jagged(rows: list[list[Any]], dtype: torch.dtype) -> torch.Tensor:
    """Pack ragged rows into one jagged tensor."""
    values = torch.tensor([value for row in rows for value in row], dtype=dtype)
    offsets = torch.tensor([0, *(len(row) for row in rows)]).cumsum(0)
    return torch.nested.nested_tensor_from_jagged(values, offsets)
