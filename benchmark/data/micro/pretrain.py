"""Pre-training of the base policy: a small Llama on demonstrations, part of them wrong.

Muon trains the matrices of the layers and AdamW the rest: with AdamW alone the policy knew next to nothing after
the same time. A batch is always cut into two shards whose gradients are added in a fixed order, each on one
thread of its own, rather than leaving the second core to torch: matrix products that torch splits over
threads sum in another order, so the weights would depend on the thread count, and its threads wait by spinning,
which costs an order of magnitude as soon as anything else runs on the machine.
"""

import math
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmark.data.micro.demonstrations import draw_demonstrations
from benchmark.data.micro.optimiser import Muon
from benchmark.data.micro.tokenizer import EOS_ID, PAD_ID, VOCABULARY, encode, prompt_ids

_WARMUP = 50  # steps
_WINDOW = 32  # batches that are sorted by length together, so that a batch pads little
_WEIGHT_DECAY = 0.01
_PROGRESS_EVERY = 250  # steps
_SHARDS = 2  # of a batch; part of the recipe, because it fixes the order of summation

Example = tuple[list[int], int]
"""Token ids of a prompt with its answer, and the length of the prompt."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Size of the base policy and its pre-training (configs/model/micro.yaml)."""

    hidden: int = 64
    layers: int = 2
    heads: int = 4
    mlp: int = 192
    steps: int = 2500
    batch: int = 64
    learning_rate: float = 0.004  # of AdamW
    muon_learning_rate: float = 0.02
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A pre-trained policy and what its training took."""

    model: Any  # transformers.LlamaForCausalLM
    loss: float  # mean over the last 50 steps, nats per response token
    seconds: float


def build_model(recipe: Recipe) -> Any:
    """Build the untrained Llama (transformers.LlamaForCausalLM) of a recipe."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(recipe.seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=recipe.hidden,
            intermediate_size=recipe.mlp,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            num_key_value_heads=recipe.heads,
            max_position_embeddings=128,
            tie_word_embeddings=False,
            pad_token_id=PAD_ID,
            eos_token_id=EOS_ID,
            bos_token_id=None,
            attn_implementation="sdpa",
        )
    )


def pretrain(recipe: Recipe, threads: int = 1) -> Pretrained:
    """Pre-train the base policy; prints a line of progress every 250 steps.

    `threads` changes the time, not the weights; more than two are not used.
    """
    started = time.monotonic()
    model = build_model(recipe)
    parameters = list(model.parameters())
    optimisers = _optimisers(model, recipe)
    losses: list[float] = []
    torch_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(max_workers=max(1, min(threads, _SHARDS))) as workers:
            for step, batch in enumerate(training_batches(recipe), start=1):
                losses.append(accumulate_gradients(model, parameters, batch, workers))
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                scale = _schedule(step, recipe.steps)
                for optimiser, learning_rate in optimisers:
                    optimiser.param_groups[0]["lr"] = learning_rate * scale
                    optimiser.step()
                if step % _PROGRESS_EVERY == 0 or step == recipe.steps:
                    print(f"step {step}/{recipe.steps} loss {losses[-1]:.3f}", flush=True)
    finally:
        torch.set_num_threads(torch_threads)
    return Pretrained(model.eval(), float(np.mean(losses[-50:])), time.monotonic() - started)


def training_batches(recipe: Recipe) -> list[list[Example]]:
    """Draw the demonstrations of a whole pre-training, batched with others of about their length."""
    examples: list[Example] = []
    for question, answer in draw_demonstrations(recipe.steps * recipe.batch, seed=recipe.seed + 100):
        prompt = prompt_ids(question)
        examples.append(([*prompt, *encode(answer), EOS_ID], len(prompt)))
    rng = random.Random(recipe.seed)
    batches: list[list[Example]] = []
    for start in range(0, len(examples), recipe.batch * _WINDOW):
        window = sorted(examples[start : start + recipe.batch * _WINDOW], key=lambda example: len(example[0]))
        chunk = [window[i : i + recipe.batch] for i in range(0, len(window), recipe.batch)]
        rng.shuffle(chunk)
        batches += chunk
    return batches


def accumulate_gradients(
    model: Any, parameters: Sequence[Tensor], batch: Sequence[Example], workers: ThreadPoolExecutor
) -> float:
    """Set the gradient of the mean loss of a batch on the parameters; return that loss, in nats per response token."""
    tokens = sum(len(ids) - prompt for ids, prompt in batch)
    size = -(-len(batch) // _SHARDS)
    shards = [batch[i : i + size] for i in range(0, len(batch), size)]

    def differentiate(shard: Sequence[Example]) -> tuple[float, tuple[Tensor, ...]]:
        loss = response_loss(model, shard) / tokens
        return loss.item(), torch.autograd.grad(loss, parameters)

    results = list(workers.map(differentiate, shards))
    for i, parameter in enumerate(parameters):
        parameter.grad = torch.stack([gradients[i] for _, gradients in results]).sum(0)
    return sum(loss for loss, _ in results)


def response_loss(model: Any, examples: Sequence[Example]) -> Tensor:
    """Return the summed cross-entropy of the response tokens, in nats.

    Rows are padded on the right; under a causal mask no real token sees the padding.
    """
    width = max(len(ids) for ids, _ in examples)
    ids = torch.tensor([ids + [PAD_ID] * (width - len(ids)) for ids, _ in examples])  # [B, T]
    predicting = torch.tensor(  # [B, T-1] positions whose next token belongs to the response
        [[prompt - 1 <= t < len(row) - 1 for t in range(width - 1)] for row, prompt in examples]
    )
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]  # [B, T-1, H]
    return functional.cross_entropy(model.lm_head(hidden[predicting]), ids[:, 1:][predicting], reduction="sum")


def _schedule(step: int, steps: int) -> float:
    """Return the factor on both learning rates: linear warm-up, cosine to almost zero."""
    return min(1.0, step / _WARMUP) * (0.5 + 0.5 * math.cos(math.pi * (step - 1) / steps)) + 1e-4


def _optimisers(model: Any, recipe: Recipe) -> list[tuple[Any, float]]:
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and ".layers." in name]
    taken = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in taken]
    adamw = torch.optim.AdamW(rest, lr=recipe.learning_rate, betas=(0.9, 0.98), weight_decay=_WEIGHT_DECAY, fused=True)
    muon = Muon(matrices, lr=recipe.muon_learning_rate, weight_decay=_WEIGHT_DECAY)
    return [(adamw, recipe.learning_rate), (muon, recipe.muon_learning_rate)]
