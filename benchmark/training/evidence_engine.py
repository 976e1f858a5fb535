"""Evidence from the old-log-prob pass: a mixin over verl's FSDP engine, the same for CPU and GPU workers.

When a batch carries `EVIDENCE_REQUEST`, a forward-only pass adds to its outputs, per rollout,
    self_certainty [T], attention [T]   of the response tokens only (verl's own log_probs cover the prompt too)
    hidden_states  [layers, width]      mean over the valid response tokens
for both of verl's layouts: padded rows (use_remove_padding false) and one packed row (true). Without the
request nothing happens at all. Trade-offs taken: hidden states are pooled by hooks while the pass runs,
self-certainty is computed chunk by chunk on the logits that verl has anyway, and attention costs a second,
padded pass through the module, because flash attention has no weights to look at.
Source of the quantities: benchmark/evaluation/engines/{evidence,hidden_states,attention}.py.
"""

from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.distributed.tensor import DTensor
from verl.utils import tensordict_utils as tu
from verl.utils.device import get_device_id, get_device_name
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead
from verl.workers.utils.padding import build_attention_mask_from_nested

from benchmark.errors import SuiteError
from benchmark.evaluation.engines.attention import FarAttention, LongRange, attention_layers, observed_attention
from benchmark.evaluation.engines.evidence import self_certainty_at
from benchmark.evaluation.engines.hidden_states import candidate_layers, pool_tokens, pooled_layers
from benchmark.training.groups import EVIDENCE_REQUEST
from methods.groups import EvidenceKind


@dataclass(frozen=True, slots=True)
class ResponseTokens:
    """Where the N response tokens of a micro-batch of B sequences are, in both layouts."""

    row: Tensor  # [N] sequence of a token
    column: Tensor  # [N] its position in the sequence
    packed: Tensor  # [N] its position in the packed row of all sequences
    valid: Tensor  # [N] whether the policy wrote it (a tool may have)
    offsets: Tensor  # [B + 1] of the responses, for jagged tensors

    @classmethod
    def of(cls, micro_batch: TensorDict) -> "ResponseTokens":
        """Read them from the jagged input_ids and loss_mask (one entry per response token)."""
        sequences, mask = micro_batch["input_ids"].offsets(), micro_batch["loss_mask"]
        responses = mask.offsets()
        lengths, sizes = sequences.diff(), responses.diff()
        row = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
        within = torch.arange(len(row), device=row.device) - responses[:-1][row]
        column = (lengths - sizes)[row] + within
        return cls(row, column, sequences[:-1][row] + column, mask.values().bool(), responses)

    def jagged(self, values: Tensor) -> Tensor:
        """Give per-token values [N] the shape of the responses."""
        return torch.nested.nested_tensor_from_jagged(values, self.offsets)


class EvidenceEngine(FSDPEngineWithLMHead):
    """verl's engine with the evidence that a method declares."""

    def forward_step(self, micro_batch: TensorDict, loss_function: Any, forward_only: bool) -> Any:
        """Run verl's step, and around it what the request asks for."""
        kinds = requested(micro_batch)
        if not kinds or not forward_only:
            return super().forward_step(micro_batch, loss_function, forward_only)
        micro_batch = micro_batch.to(get_device_id())
        tokens = ResponseTokens.of(micro_batch)
        layers = candidate_layers(self._depth) if EvidenceKind.HIDDEN_STATES in kinds else ()
        with pooled_layers(self.module, layers, lambda states: self._pool(states, micro_batch, tokens)) as pooled:
            loss, output = super().forward_step(micro_batch, loss_function, forward_only)
        if layers:
            states = torch.stack([pooled[layer] for layer in layers], dim=1)
            output["model_output"]["hidden_states"] = torch.nested.as_nested_tensor(
                list(states.unbind()), layout=torch.jagged
            )
        if EvidenceKind.ATTENTION in kinds:
            output["model_output"]["attention"] = tokens.jagged(self._attention(micro_batch, tokens))
        return loss, output

    def prepare_model_outputs(
        self, output: Any, output_args: dict[str, Any], micro_batch: TensorDict, logits_processor_func: Any
    ) -> dict[str, Any]:
        """Add self-certainty to verl's outputs, from the logits before verl lets them go."""
        model_output: dict[str, Any] = super().prepare_model_outputs(
            output, output_args, micro_batch, logits_processor_func
        )
        if EvidenceKind.SELF_CERTAINTY in requested(micro_batch):
            tokens = ResponseTokens.of(micro_batch)
            values = self._self_certainty(output.logits, output_args, micro_batch, tokens)
            model_output["self_certainty"] = tokens.jagged(values)
        return model_output

    @property
    def _depth(self) -> int:
        return len(self.module.get_decoder().layers)

    def _self_certainty(
        self, logits: Tensor, output_args: dict[str, Any], micro_batch: TensorDict, tokens: ResponseTokens
    ) -> Tensor:
        """Compute it per response token ([N]) from the logits of either layout, at the sampling temperature."""
        if logits is None:
            raise SuiteError(
                "evidence self_certainty needs the logits of the whole vocabulary: found use_fused_kernels=True, "
                "allowed False; fix: set actor_rollout_ref.model.use_fused_kernels=False"
            )
        logits = logits.full_tensor() if isinstance(logits, DTensor) else logits
        flat = logits.flatten(0, 1)
        if not packed_layout(micro_batch):
            positions = tokens.row * logits.shape[1] + tokens.column - 1
            return self_certainty_at(flat, positions, output_args["temperature"][tokens.row])
        temperature = output_args["temperature_rmpad"]
        if not self.use_ulysses_sp:
            return self_certainty_at(flat, tokens.packed - 1, temperature[tokens.packed - 1])
        own = torch.arange(len(flat), device=flat.device)
        return self._whole(self_certainty_at(flat, own, temperature), micro_batch)[tokens.packed - 1]

    def _pool(self, states: Tensor, micro_batch: TensorDict, tokens: ResponseTokens) -> Tensor:
        """Average states of either layout, [B, T, width] or [1, total, width], over the valid tokens: [B, width]."""
        if packed_layout(micro_batch):
            chosen = self._whole(states.squeeze(0), micro_batch)[tokens.packed]
        else:
            chosen = states[tokens.row, tokens.column]
        return pool_tokens(chosen[tokens.valid], tokens.row[tokens.valid], len(tokens.offsets) - 1)

    def _whole(self, packed: Tensor, micro_batch: TensorDict) -> Tensor:
        """Undo what verl does to the packed row: sequence parallel shards are gathered and padding is cut off."""
        total = int(micro_batch["input_ids"].offsets()[-1])
        padding = len(packed) * (self.ulysses_sequence_parallel_size if self.use_ulysses_sp else 1) - total
        whole: Tensor = self._gather_and_unpad_packed(packed, padding)
        return whole

    def _attention(self, micro_batch: TensorDict, tokens: ResponseTokens) -> Tensor:
        """Run a second pass over padded rows with observed attention; [N] far mass per response token.

        One pass per micro-batch: ranks that share parameters must run equally many.
        """
        ids = micro_batch["input_ids"]
        mask = build_attention_mask_from_nested(ids)
        response = torch.zeros_like(mask, dtype=torch.bool)
        response[tokens.row, tokens.column] = tokens.valid
        far = FarAttention(response, LongRange())
        plain = self._autocast_dtype == torch.float32
        with ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            stack.enter_context(
                nullcontext() if plain else torch.autocast(device_type=get_device_name(), dtype=self._autocast_dtype)
            )
            stack.enter_context(observed_attention(self.module, attention_layers(self._depth), far.add_layer))
            self.module(
                input_ids=torch.nested.to_padded_tensor(ids, padding=0, output_size=tuple(mask.shape)),
                attention_mask=mask,
                position_ids=torch.nested.to_padded_tensor(
                    micro_batch["position_ids"], padding=0, output_size=tuple(mask.shape)
                ),
                use_cache=False,
                logits_to_keep=1,
            )
        return far.signal()[tokens.row, tokens.column]


def requested(micro_batch: TensorDict) -> frozenset[str]:
    """Read which kinds of evidence a batch asks for; none where it carries no request."""
    return frozenset(filter(None, tu.get_non_tensor_data(micro_batch, EVIDENCE_REQUEST, "").split(",")))


def packed_layout(micro_batch: TensorDict) -> bool:
    """Say whether verl lays the sequences out as one packed row."""
    return bool(tu.get_non_tensor_data(micro_batch, "use_remove_padding", True))
