"""Long-range attention inside a response, the signal of PivotTrace.

Source: RECONSTRUCTION of PivotTrace, whose layers, heads and signal are not published: long-range heads are
the 30% with the largest mean attention distance (head split of arXiv 2510.13554), and the signal of a token
is the attention mass that these heads put on far response tokens. Trade-offs taken: heads are chosen per
response, not once per pool, so that no value depends on what else is in the batch; the statistics are taken
inside the attention function, over chunks of query rows, so that no [layers, heads, T, T] ever exists
and the model runs on sdpa. Not covered: models with attention sinks or soft-capped scores.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

_IMPLEMENTATION: Final = "venus_observed"
_CHUNK_ELEMENTS: Final = 2**24
"""Attention weights held at a time: 64 MB in float32."""

Rows = Iterable[tuple[int, Tensor]]
"""Attention weights by chunks of query rows: (first query, weights [B, H, R, S]), S keys from position 0."""


@dataclass(frozen=True, slots=True)
class LongRange:
    """What counts as far, and which heads count."""

    window: int = 32  # W: token t looks far at keys s <= t - W
    sink: int = 4  # first tokens of the sequence that never count: every head parks mass on them
    head_share: float = 0.3  # share of the observed heads, by mean attention distance


def attention_layers(n_layers: int, count: int = 4) -> tuple[int, ...]:
    """Name the `count` layers around 2/3 of the depth, 1-based as in hidden_states; fewer where the model is small."""
    first = max(1, round(2 * n_layers / 3) - count // 2 + 1)
    return tuple(range(min(first, max(1, n_layers - count + 1)), min(first + count, n_layers + 1)))


class FarAttention:
    """Collects, layer by layer, the far mass [B, H, T] and the mean distance [B, H] of every head.

    `response_mask` [B, T] marks the response tokens of right-padded sequences. Keys of the prompt, the first
    `sink` tokens and padding count neither as mass nor as distance.
    """

    def __init__(self, response_mask: Tensor, settings: LongRange) -> None:
        self._settings = settings
        self._response = response_mask.bool()
        positions = torch.arange(response_mask.shape[1], device=response_mask.device)
        self._keys = (self._response & (positions >= settings.sink)).float()
        self._mass: list[Tensor] = []
        self._distance: list[Tensor] = []

    def add_layer(self, rows: Rows) -> None:
        """Take in the attention weights of one layer."""
        mass: list[Tensor] = []
        distance = torch.zeros((), device=self._response.device)
        for first, weights in rows:
            count, keys = weights.shape[2:]
            queries = torch.arange(first, first + count, device=weights.device)
            offset = queries[:, None] - torch.arange(keys, device=weights.device)
            counted = weights.float() * self._keys[:, None, None, :keys]
            mass.append(torch.einsum("bhrs,rs->bhr", counted, (offset >= self._settings.window).float()))
            asked = self._response[:, first : first + count].float()
            distance = distance + torch.einsum("bhrs,rs,br->bh", counted, offset.clamp(min=0).float(), asked)
        self._mass.append(torch.cat(mass, dim=2))
        self._distance.append(distance / self._response.sum(1, keepdim=True).clamp(min=1))

    def signal(self) -> Tensor:
        """Return the far mass averaged over the long-range heads, [B, T]; 0 outside the response."""
        mass, distance = torch.cat(self._mass, dim=1), torch.cat(self._distance, dim=1)
        count = max(1, round(self._settings.head_share * distance.shape[1]))
        heads = distance.argsort(dim=1, descending=True, stable=True)[:, :count]
        chosen = mass.gather(1, heads[:, :, None].expand(-1, -1, mass.shape[2]))
        return chosen.mean(1) * self._response


def long_range_attention(
    attentions: Sequence[Tensor], response_mask: Tensor, window: int, sink: int, head_share: float
) -> Tensor:
    """Compute the signal [B, T] from whole attention matrices, one [B, H, T, T] per layer.

    A token within the first `window` response tokens has no far key and gets 0. Source: RECONSTRUCTION of
    PivotTrace (far response mass over the heads of largest mean distance).
    """
    collected = FarAttention(response_mask, LongRange(window, sink, head_share))
    for weights in attentions:
        collected.add_layer([(0, weights)])
    return collected.signal()


@contextmanager
def observed_attention(model: Any, layers: Collection[int], observe: Callable[[Rows], None]) -> Iterator[None]:
    """Run the forward passes inside on sdpa, and hand the weights of `layers` (1-based) to `observe`, in order.

    `model` is a Hugging Face causal language model that takes its attention from transformers' interface.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def attention(
        module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
    ) -> Any:
        if module.layer_idx + 1 in layers:
            scaling = options.get("scaling")
            scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
            with torch.autocast(query.device.type, enabled=False):  # it would round the sums to bfloat16
                observe(_weights(query, key, attention_mask, scale))
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)

    AttentionInterface.register(_IMPLEMENTATION, attention)
    AttentionMaskInterface.register(_IMPLEMENTATION, sdpa_mask)
    config = model.get_decoder().config
    usual = config._attn_implementation
    config._attn_implementation = _IMPLEMENTATION
    try:
        yield
    finally:
        config._attn_implementation = usual


def _weights(query: Tensor, key: Tensor, mask: Tensor | None, scale: float) -> Iterator[tuple[int, Tensor]]:
    """Yield the causal attention weights in float32 by chunks of rows; `mask` is boolean [B, 1, T, T] or None."""
    batch, heads, length, _ = query.shape
    key = key.repeat_interleave(heads // key.shape[1], dim=1).float()
    rows = max(1, _CHUNK_ELEMENTS // (batch * heads * length))
    for first in range(0, length, rows):
        last = min(first + rows, length)
        scores = query[:, :, first:last].float() @ key[:, :, :last].transpose(2, 3) * scale
        positions = torch.arange(last, device=query.device)
        allowed = (positions <= positions[first:, None])[None, None]
        if mask is not None:
            allowed = allowed & mask[:, :, first:last, :last]
        yield first, scores.masked_fill(~allowed, float("-inf")).softmax(-1)
