"""Hidden states of a language model, averaged over the response while the forward pass runs.

The pass hands over one layer at a time and keeps only its average, because the states of all layers
of a long batch are larger than the model. Source of the pooled layers: RECONSTRUCTION of GeoMin (arXiv
2606.04516 names neither layers nor pooling).
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from benchmark.errors import DataError


def candidate_layers(n_layers: int) -> tuple[int, ...]:
    """Name the layers whose states are worth pooling, 1-based: l is hidden_states[l], the output of layer l.

    Every second one from L/4 to L-1; where that leaves a single layer, the last layer joins it, so the
    2-layer micro model gives (1, 2). Source: RECONSTRUCTION of GeoMin.
    """
    layers = tuple(range(max(1, n_layers // 4), n_layers, 2))
    return layers if len(layers) > 1 else (*layers, n_layers)


def pool_hidden(hidden_states: Tensor, mask: Tensor) -> Tensor:
    """Average hidden states [B, T, width] over the tokens that mask [B, T] marks, [B, width] in float32."""
    chosen = mask.bool()
    return pool_tokens(hidden_states[chosen], chosen.nonzero()[:, 0], len(mask))


def pool_tokens(tokens: Tensor, rows: Tensor, count: int) -> Tensor:
    """Average token states [N, width] by the row ([N]) that each belongs to, [count, width]; zeros for an empty row."""
    total = torch.zeros(count, tokens.shape[1], device=tokens.device).index_add_(0, rows, tokens.float())
    return total / rows.bincount(minlength=count).clamp(min=1)[:, None]


@contextmanager
def pooled_layers(model: Any, layers: Collection[int], pool: Callable[[Tensor], Tensor]) -> Iterator[dict[int, Tensor]]:
    """Pool the states of `layers` in the forward pass inside, so that no layer's states outlive it.

    `model` is a Hugging Face causal language model. Yields a dictionary that the pass fills: layer (0 =
    embeddings, L = after the final norm, as in hidden_states) to pool(states [B, T, width]). Raises DataError
    for a layer that the model does not have.
    """
    decoder = model.get_decoder()
    blocks, found = decoder.layers, dict[int, Tensor]()
    wrong = sorted(layer for layer in layers if not 0 <= layer <= len(blocks))
    if wrong:
        raise DataError(f"hidden states: found layer {wrong[0]}, allowed 0 .. {len(blocks)}; fix: name other layers")

    def embeddings(module: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        found[0] = pool(args[0] if args else options["hidden_states"])

    def output(layer: int) -> Callable[[Any, Any, Any], None]:
        def keep(module: Any, args: Any, states: Any) -> None:
            found[layer] = pool(states[0] if isinstance(states, tuple) else states)

        return keep

    handles = [
        blocks[0].register_forward_pre_hook(embeddings, with_kwargs=True)
        if layer == 0
        else (decoder.norm if layer == len(blocks) else blocks[layer - 1]).register_forward_hook(output(layer))
        for layer in layers
    ]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()
