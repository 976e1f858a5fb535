"""Batched sampling from any decoder of transformers, with the log-probability of each sampled token.

The loop here decides (which token, who is finished); a decoder computes logits and owns the key/value
cache. `GenericDecoder` drives any causal language model through its public interface;
`benchmark.evaluation.engines.llama_decoding` computes the same for tiny Llamas without the overhead, which
would be most of the time there.

A token is drawn by inverting the cumulative distribution at one uniform number per (row, position).
Rows therefore never share random numbers: dropping finished rows, or the order in which others finish,
cannot change what a row samples, up to the rounding of batched matrix products.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from benchmark.evaluation.engines.llama_decoding import LlamaDecoder, supports
from benchmark.evaluation.engines.padding import left_pad

Rollout = tuple[list[int], list[float]]
"""Token ids of a response (its end-of-sequence token included) and the log-probability of each."""

KEEP_UNTIL = 0.75
"""Finished rows are dropped once fewer than this share is alive: copying the cache costs more than a few idle rows."""


class Decoder(Protocol):
    """Computes next-token logits for a batch of rows and keeps their cache."""

    def prefill(self, prompts: Sequence[Sequence[int]], rows: Tensor, max_new: int) -> Tensor:
        """Read the unique prompts, then repeat them as `rows` [B] says; returns logits [B, V]."""
        ...

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token per row ([B]); returns logits [B, V]."""
        ...

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows ([K] positions) of the cache."""
        ...


class Watch(Protocol):
    """Ends rows for what they say, beside the end-of-sequence token."""

    def ended(self, rows: Sequence[int], tokens: Sequence[int]) -> list[bool]:
        """Append one token to each row, and say for each row whether it is complete."""
        ...


@torch.inference_mode()
def sample(
    model: Any,
    prompts: Sequence[Sequence[int]],
    max_new: int,
    temperature: float,
    top_k: int,
    top_p: float,
    eos_ids: Sequence[int],
    pad_id: int,
    generator: torch.Generator,
) -> list[Rollout]:
    """Sample one response per prompt, in prompt order; equal prompts are read once.

    Temperature 0 is greedy, `top_k` <= 0 and `top_p` >= 1 mean no filter. Log-probabilities are those of the
    processed distribution (greedy: of the model's own). The same model, prompts and generator state give the
    same result. Raises ValueError for an empty batch, an empty prompt or settings out of range.
    """
    uniforms = torch.rand(len(prompts), max_new, generator=generator)
    return sample_at(model, prompts, uniforms, temperature, top_k, top_p, eos_ids, pad_id)


@torch.inference_mode()
def sample_at(
    model: Any,
    prompts: Sequence[Sequence[int]],
    uniforms: Tensor,
    temperature: float,
    top_k: int,
    top_p: float,
    eos_ids: Sequence[int],
    pad_id: int,
    decoder: Decoder | None = None,
    watch: Watch | None = None,
) -> list[Rollout]:
    """Sample as `sample` does, with the random numbers in `uniforms` [B, max_new], each in [0, 1).

    A row also ends with the token at which `watch` says so.
    """
    max_new = uniforms.shape[1]
    _check(prompts, max_new, temperature, top_p, eos_ids)
    decoder = decoder or make_decoder(model, pad_id)
    unique, which = _unique(prompts)
    device = model.device
    eos, uniforms = torch.tensor(list(eos_ids), device=device), uniforms.to(device)
    tokens = torch.full((len(prompts), max_new), pad_id, device=device)  # [B, T]
    log_probs = torch.zeros(len(prompts), max_new, device=device)  # [B, T]
    lengths = torch.full((len(prompts),), max_new, device=device)  # [B]
    rows = torch.arange(len(prompts), device=device)  # rows that the decoder still holds
    alive = torch.ones(len(prompts), dtype=torch.bool, device=device)  # which of those are unfinished
    logits = decoder.prefill(unique, torch.tensor(which, device=device), max_new)
    for t in range(max_new):
        chosen, log_prob = _choose(logits, uniforms[rows, t], temperature, top_k, top_p)
        tokens[rows, t], log_probs[rows, t] = chosen, log_prob
        ended = torch.isin(chosen, eos)
        if watch is not None:
            ended |= torch.tensor(watch.ended(rows.tolist(), chosen.tolist()), device=device)
        ended &= alive
        lengths[rows[ended]] = t + 1
        alive &= ~ended
        living = int(alive.sum())
        if living == 0 or t == max_new - 1:
            break
        if living < KEEP_UNTIL * len(rows):
            kept = alive.nonzero()[:, 0]
            decoder.keep(kept)
            rows, chosen, alive = rows[kept], chosen[kept], alive[kept]
        logits = decoder.step(chosen)
    ends = lengths.tolist()
    return [
        (ids[:end], values[:end]) for ids, values, end in zip(tokens.tolist(), log_probs.tolist(), ends, strict=True)
    ]


def make_decoder(model: Any, pad_id: int) -> Decoder:
    """Choose the decoder for a model: the fast one where it computes exactly the same."""
    return LlamaDecoder(model, pad_id) if supports(model) else GenericDecoder(model, pad_id)


class GenericDecoder:
    """Drives any causal language model of transformers through its public interface."""

    def __init__(self, model: Any, pad_id: int) -> None:
        self.model, self.pad_id = model, pad_id

    def prefill(self, prompts: Sequence[Sequence[int]], rows: Tensor, max_new: int) -> Tensor:
        """Read the unique prompts, then repeat cache and logits; `max_new` is not needed."""
        ids, valid = left_pad(prompts, self.pad_id, self.model.device)
        position = (valid.long().cumsum(1) - 1).clamp(min=0)
        out = self.model(
            input_ids=ids,
            attention_mask=valid.long(),
            position_ids=position,
            use_cache=True,
            logits_to_keep=1,
        )
        self.cache = out.past_key_values
        self.cache.batch_select_indices(rows)
        self.valid, self.position = valid[rows], position[rows, -1]
        logits: Tensor = out.logits[rows, -1]
        return logits.float()

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token per row."""
        self.position = self.position + 1
        self.valid = torch.cat([self.valid, torch.ones_like(self.valid[:, :1])], 1)
        out = self.model(
            input_ids=tokens[:, None],
            attention_mask=self.valid.long(),
            position_ids=self.position[:, None],
            past_key_values=self.cache,
            use_cache=True,
        )
        logits: Tensor = out.logits[:, -1]
        return logits.float()

    def keep(self, rows: Tensor) -> None:
        """Drop all other rows of the cache."""
        self.cache.batch_select_indices(rows)
        self.valid, self.position = self.valid[rows], self.position[rows]


def _choose(logits: Tensor, uniform: Tensor, temperature: float, top_k: int, top_p: float) -> tuple[Tensor, Tensor]:
    """Return one token per row ([B]) of logits [B, V], and its log-probability ([B])."""
    if temperature == 0:
        log_probs = torch.log_softmax(logits, -1)
        tokens = log_probs.argmax(-1)
    else:
        log_probs = torch.log_softmax(_filter(logits / temperature, top_k, top_p), -1)
        cumulative = log_probs.exp().cumsum(-1)
        # In (0, total], so that neither a token of probability 0 nor a position past the end is hit.
        target = (1 - uniform) * cumulative[:, -1]
        tokens = torch.searchsorted(cumulative, target[:, None])[:, 0]
    return tokens, log_probs.gather(-1, tokens[:, None])[:, 0]


def _filter(logits: Tensor, top_k: int, top_p: float) -> Tensor:
    """Mask all but the `top_k` likeliest tokens, and of those all but the smallest set that holds `top_p`."""
    if 0 < top_k < logits.shape[-1]:
        least = logits.topk(top_k, -1).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    if top_p < 1:
        ordered, order = logits.sort(-1, descending=True)
        probs = ordered.softmax(-1)
        outside = probs.cumsum(-1) - probs >= top_p  # the likeliest token always stays
        outside[:, 0] = False
        logits = logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), float("-inf"))
    return logits


def _unique(prompts: Sequence[Sequence[int]]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the unique prompts in order of appearance, and for each prompt which one it is."""
    position: dict[tuple[int, ...], int] = {}
    which = [position.setdefault(tuple(prompt), len(position)) for prompt in prompts]
    return list(position), which


def _check(
    prompts: Sequence[Sequence[int]], max_new: int, temperature: float, top_p: float, eos_ids: Sequence[int]
) -> None:
    if not prompts or not all(len(prompt) for prompt in prompts):
        raise ValueError(
            "nothing to continue: found an empty batch or an empty prompt, allowed at least one token each"
        )
    if max_new < 1:
        raise ValueError(f"max_new out of range: found {max_new}, allowed at least 1")
    if temperature < 0 or top_p <= 0:
        raise ValueError(
            f"sampling out of range: found temperature {temperature} and top_p {top_p}, allowed >= 0 and > 0"
        )
    if not eos_ids:
        raise ValueError("no end-of-sequence token: found none, allowed one or more")
