"""A decoder for tiny Llamas: their weights in a bare loop with a static key/value cache.

At 100 thousand parameters a forward pass of transformers is nearly all overhead. This file computes
the same function (a test compares tokens and log-probabilities) for exactly the Llamas that `supports` names,
and nothing else; larger models spend their time in matrix products, where it would gain nothing.
"""

from collections.abc import Sequence
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmark.evaluation.engines.padding import left_pad

MAX_PARAMETERS: Final = 20_000_000


def supports(model: Any) -> bool:
    """Say whether `LlamaDecoder` computes the function of this model."""
    config = model.config
    rope = getattr(config, "rope_parameters", None) or {}
    return (
        config.model_type == "llama"
        and type(model).__name__ == "LlamaForCausalLM"
        and rope.get("rope_type", "default") == "default"
        and not config.attention_bias
        and not config.mlp_bias
        and config.hidden_act == "silu"
        and model.dtype is torch.float32
        and model.num_parameters() <= MAX_PARAMETERS
    )


class LlamaDecoder:
    """Prefills once per unique prompt, then one token per row and step."""

    def __init__(self, model: Any, pad_id: int) -> None:
        config, body = model.config, model.model
        self.pad_id, self.device = pad_id, model.device
        self.heads, self.kv_heads, self.width = config.num_attention_heads, config.num_key_value_heads, config.head_dim
        self.eps, self.rotary = config.rms_norm_eps, body.rotary_emb
        self.embedding, self.final_norm, self.unembedding = (
            body.embed_tokens.weight,
            body.norm.weight,
            model.lm_head.weight,
        )
        self.layers = [
            (
                layer.input_layernorm.weight,
                torch.cat(
                    [layer.self_attn.q_proj.weight, layer.self_attn.k_proj.weight, layer.self_attn.v_proj.weight]
                ),
                layer.self_attn.o_proj.weight,
                layer.post_attention_layernorm.weight,
                torch.cat([layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight]),
                layer.mlp.down_proj.weight,
            )
            for layer in body.layers
        ]

    def prefill(self, prompts: Sequence[Sequence[int]], rows: Tensor, max_new: int) -> Tensor:
        """Read the unique prompts and lay out a cache that holds `max_new` more tokens per row."""
        ids, valid = left_pad(prompts, self.pad_id, self.device)  # [P, L]
        count, length = ids.shape
        self.length, total = length, length + max_new
        self.cos, self.sin = self._rotary_table(total)
        position = (valid.long().cumsum(1) - 1).clamp(min=0)
        causal = torch.ones(length, length, dtype=torch.bool, device=self.device).tril()
        # A padding row attends to itself only: it is never read, but it must not be NaN.
        visible = (causal & valid[:, None]) | torch.eye(length, dtype=torch.bool, device=self.device)
        cos, sin = self.cos[position][:, :, None], self.sin[position][:, :, None]  # [P, L, 1, D]
        # [layers, key/value, B, K, T, D]
        self.cache = torch.zeros(len(self.layers), 2, len(rows), self.kv_heads, total, self.width, device=self.device)
        x = self.embedding[ids]
        for cache, (norm, qkv, out, *mlp) in zip(self.cache, self.layers, strict=True):
            heads = F.linear(self._norm(x, norm), qkv).view(count, length, -1, self.width)
            rotated = _rotate(heads[:, :, : self.heads + self.kv_heads], cos, sin)
            q, k = rotated[:, :, : self.heads].transpose(1, 2), rotated[:, :, self.heads :].transpose(1, 2)
            v = heads[:, :, self.heads + self.kv_heads :].transpose(1, 2)
            cache[0, :, :, :length], cache[1, :, :, :length] = k[rows], v[rows]
            mixed = F.scaled_dot_product_attention(
                q, k, v, attn_mask=visible[:, None], enable_gqa=self.heads != self.kv_heads
            )
            x = x + F.linear(mixed.transpose(1, 2).reshape(count, length, -1), out)
            x = self._feed_forward(x, *mlp)
        self.position = position[rows, -1]
        bias = torch.zeros(len(rows), 1, 1, total, device=self.device)  # -inf where a row has padding
        bias[:, 0, 0, :length].masked_fill_(~valid[rows], float("-inf"))
        self.bias = bias
        return self._logits(x[:, -1])[rows]

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token per row ([B]); returns logits [B, V]."""
        batch, now = len(tokens), self.length
        self.position = self.position + 1
        cos, sin = self.cos[self.position][:, None], self.sin[self.position][:, None]  # [B, 1, D]
        self.length += 1
        groups = self.heads // self.kv_heads
        bias = self.bias[..., : self.length]
        x = self.embedding[tokens]
        for cache, (norm, qkv, out, *mlp) in zip(self.cache, self.layers, strict=True):
            heads = F.linear(self._norm(x, norm), qkv).view(batch, -1, self.width)
            rotated = _rotate(heads[:, : self.heads + self.kv_heads], cos, sin)
            cache[0, :, :, now] = rotated[:, self.heads :]
            cache[1, :, :, now] = heads[:, self.heads + self.kv_heads :]
            # query heads that share a key head become the rows of one small matrix product
            q = rotated[:, : self.heads].reshape(batch, self.kv_heads, groups, self.width) * self.width**-0.5
            scores = q @ cache[0, :, :, : self.length].transpose(-1, -2) + bias
            mixed = scores.softmax(-1) @ cache[1, :, :, : self.length]
            x = x + F.linear(mixed.reshape(batch, -1), out)
            x = self._feed_forward(x, *mlp)
        return self._logits(x)

    def keep(self, rows: Tensor) -> None:
        """Drop all other rows of the cache."""
        self.cache = self.cache[:, :, rows]
        self.bias, self.position = self.bias[rows], self.position[rows]

    def _rotary_table(self, total: int) -> tuple[Tensor, Tensor]:
        like = torch.zeros(1, 1, 1, device=self.device)
        cos, sin = self.rotary(like, torch.arange(total, device=self.device)[None])
        return cos[0], sin[0]  # [T, D]

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.eps)

    def _feed_forward(self, x: Tensor, norm: Tensor, gate_up: Tensor, down: Tensor) -> Tensor:
        gate, up = F.linear(self._norm(x, norm), gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, down)

    def _logits(self, x: Tensor) -> Tensor:
        return F.linear(self._norm(x, self.final_norm), self.unembedding)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Apply rotary position embedding to x [..., heads, D] (arXiv 2104.09864, halves rotated as in transformers)."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin
