"""Evidence from a language model about responses that exist already: one teacher-forced pass, no gradient.

Pure torch on Hugging Face causal language models. Conventions: every value of token t comes from the
distribution that token t was drawn from, so from the logits one position earlier; long-range attention is
that of token t itself, as a query. Logits are divided by the sampling temperature. Trade-off taken: logits
exist for response tokens only, some rows at a time, because a whole vocabulary per token is what fills the
memory; a model that post-processes the logits of its output layer (soft-capping) is not covered.
Sources: Intuitor (arXiv 2505.19590) for self-certainty; RECONSTRUCTION of GeoMin for the pooled layers and of
PivotTrace for attention.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmark.errors import DataError
from benchmark.evaluation.engines.attention import (
    FarAttention,
    LongRange,
    attention_layers,
    long_range_attention,
    observed_attention,
)
from benchmark.evaluation.engines.hidden_states import candidate_layers, pool_hidden, pooled_layers

__all__ = [
    "LongRange",
    "ResponseEvidence",
    "candidate_layers",
    "entropy",
    "long_range_attention",
    "pool_hidden",
    "response_evidence",
    "self_certainty",
]

_CHUNK_ELEMENTS: Final = 2**24
"""Logits in float32 at a time: 64 MB."""
_LOGIT_KINDS: Final = ("entropy", "log_probs", "self_certainty")
KINDS: Final = frozenset({*_LOGIT_KINDS, "hidden_states", "attention"})

Sequences = Sequence[tuple[Sequence[int], Sequence[int]]]
"""(prompt token ids, response token ids), one pair per response."""


@dataclass(frozen=True, slots=True)
class ResponseEvidence:
    """The evidence about one response of T tokens; a kind that was not asked is None."""

    entropy: NDArray[np.float32] | None = None  # [T] nats
    log_probs: NDArray[np.float32] | None = None  # [T] nats
    self_certainty: NDArray[np.float32] | None = None  # [T] nats
    hidden_states: NDArray[np.float32] | None = None  # [layers, width], zeros for an empty response
    attention: NDArray[np.float32] | None = None  # [T] attention mass in [0, 1]


def entropy(logits: Tensor) -> Tensor:
    """Compute the entropy in nats of softmax(logits [..., V]), [...] in float32."""
    return by_rows(_entropy, logits.flatten(0, -2)).view(logits.shape[:-1])


def self_certainty(logits: Tensor) -> Tensor:
    """Compute KL(uniform || softmax(logits [..., V])) in nats, [...] in float32.

    Equal to logsumexp(z) - mean(z) - log V (Intuitor, arXiv 2505.19590, equation 2).
    """
    return by_rows(_self_certainty, logits.flatten(0, -2)).view(logits.shape[:-1])


def _entropy(z: Tensor) -> Tensor:
    log_p = z.log_softmax(-1)
    return -(log_p.exp() * log_p).sum(-1)


def _self_certainty(z: Tensor) -> Tensor:
    return z.logsumexp(-1) - z.mean(-1) - float(np.log(z.shape[-1]))


def by_rows(statistic: Callable[[Tensor], Tensor], logits: Tensor) -> Tensor:
    """Apply a statistic to logits [N, V], some rows at a time in float32; returns [N]."""
    return torch.cat([statistic(rows.float()) for rows in torch.split(logits, rows_per_chunk(logits.shape[1]))])


def self_certainty_at(logits: Tensor, positions: Tensor, temperature: Tensor) -> Tensor:
    """Compute self-certainty at some rows ([N]) of logits [M, V], divided by one temperature per such row ([N]).

    The rows are picked chunk by chunk, so that no second copy of the logits is made.
    """
    size = rows_per_chunk(logits.shape[1])
    chunks = zip(torch.split(positions, size), torch.split(temperature.float(), size), strict=True)
    return torch.cat([_self_certainty(logits[rows].float() / warmth[:, None]) for rows, warmth in chunks])


def rows_per_chunk(vocabulary: int) -> int:
    """Say how many rows of logits are held in float32 at a time."""
    return max(1, _CHUNK_ELEMENTS // vocabulary)


def response_evidence(
    model: Any,
    sequences: Sequences,
    kinds: Collection[str],
    layers: tuple[int, ...] | Literal["all"],
    temperature: float,
    pad_id: int,
    rows_per_batch: int = 64,
    long_range: LongRange | None = None,
) -> list[ResponseEvidence]:
    """Compute the evidence of each (prompt, response) under a Hugging Face causal language model, in their order.

    `kinds` are values of methods.groups.EvidenceKind; `layers` are those of hidden_states, "all" = 0 .. L. Each
    result depends on its own sequence only, up to rounding. Raises DataError for an unknown kind, a layer that the
    model does not have, and an empty prompt (nothing predicts the first token).
    """
    unknown = sorted(set(kinds) - KINDS)
    if unknown:
        raise DataError(f"evidence: found kind {unknown[0]!r}, allowed {sorted(KINDS)}; fix: ask for one of these")
    for position, (prompt, _) in enumerate(sequences):
        if not prompt:
            raise DataError(f"sequence {position}: found an empty prompt, allowed at least 1 token; fix: render it")
    if layers == "all":
        layers = tuple(range(len(model.get_decoder().layers) + 1))
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i][0]) + len(sequences[i][1]))
    results: dict[int, ResponseEvidence] = {}
    for start in range(0, len(order) if kinds else 0, rows_per_batch):
        batch = order[start : start + rows_per_batch]
        with torch.no_grad():
            rows = _batch(model, [sequences[i] for i in batch], kinds, layers, temperature, pad_id, long_range)
        results |= dict(zip(batch, rows, strict=True))
    return [results.get(i, ResponseEvidence()) for i in range(len(sequences))]


def _batch(
    model: Any,
    sequences: Sequences,
    kinds: Collection[str],
    layers: tuple[int, ...],
    temperature: float,
    pad_id: int,
    long_range: LongRange | None,
) -> list[ResponseEvidence]:
    device = next(model.parameters()).device
    width = max(len(prompt) + len(response) for prompt, response in sequences)
    padded = [[*prompt, *response] for prompt, response in sequences]
    ids = torch.tensor([row + [pad_id] * (width - len(row)) for row in padded], device=device)
    positions = torch.arange(width, device=device)
    prompts = torch.tensor([len(prompt) for prompt, _ in sequences], device=device)[:, None]
    ends = torch.tensor([len(row) for row in padded], device=device)[:, None]
    response = (positions >= prompts) & (positions < ends)

    decoder = model.get_decoder()
    far = FarAttention(response, long_range or LongRange())
    pooling = layers if "hidden_states" in kinds else ()
    with ExitStack() as stack:
        pooled = stack.enter_context(pooled_layers(model, pooling, lambda states: pool_hidden(states, response)))
        if "attention" in kinds:
            stack.enter_context(observed_attention(model, attention_layers(len(decoder.layers)), far.add_layer))
        mask = (positions < ends).long()
        last = decoder(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state

    rows, columns = response.nonzero(as_tuple=True)
    found: dict[str, Tensor] = {}
    if set(kinds) & set(_LOGIT_KINDS):
        found |= _from_logits(model, last[rows, columns - 1], ids[rows, columns], kinds, temperature)
    if "attention" in kinds:
        found["attention"] = far.signal()[rows, columns]
    lengths = [len(answer) for _, answer in sequences]
    columns_of = {kind: [part.cpu().numpy() for part in torch.split(values, lengths)] for kind, values in found.items()}
    if "hidden_states" in kinds:
        columns_of["hidden_states"] = list(torch.stack([pooled[layer] for layer in layers], 1).cpu().numpy())
    return [ResponseEvidence(**{kind: column[i] for kind, column in columns_of.items()}) for i in range(len(sequences))]


def _from_logits(
    model: Any, states: Tensor, drawn: Tensor, kinds: Collection[str], temperature: float
) -> dict[str, Tensor]:
    """Compute the asked kinds ([N] each) from the final states [N, width] that predict the drawn tokens [N]."""
    head = model.get_output_embeddings()
    size = rows_per_chunk(head.weight.shape[0])
    statistics: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "entropy": lambda z, _: _entropy(z),
        "self_certainty": lambda z, _: _self_certainty(z),
        "log_probs": lambda z, tokens: z.gather(1, tokens[:, None])[:, 0] - z.logsumexp(-1),
    }
    found: dict[str, list[Tensor]] = {kind: [] for kind in statistics if kind in kinds}
    for state, tokens in zip(torch.split(states, size), torch.split(drawn, size), strict=True):
        z = head(state).float() / temperature
        for kind, parts in found.items():
            parts.append(statistics[kind](z, tokens))
    return {kind: torch.cat(parts) for kind, parts in found.items()}
