"""Sampling with transformers on the CPU.

Reproducibility: the random numbers of a prompt depend on the seed and on its own tokens only, so the
samples of a prompt do not depend on which other prompts are asked, nor on their order. Two models, or two
checkpoints, that are asked the same question share them (common random numbers). Not guaranteed: equal
samples where rounding differs (another batch composition, thread count, CPU or version of torch can round a
probability differently, and a draw that falls between the two roundings changes from there on).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from benchmark.evaluation.engines.base import (
    Completion,
    Message,
    Progress,
    SamplingParameters,
    check_room,
    per_prompt,
    prompt_seed,
)
from benchmark.evaluation.engines.chat_format import ChatFormat
from benchmark.evaluation.engines.decoding import sample_at
from benchmark.evaluation.engines.stop import StopWatch, cut_at_stop
from benchmark.imports import scikit_learn_hidden

ROWS_PER_BATCH: Final = 512


class TransformersEngine:
    """Holds one model and its tokenizer."""

    name = "transformers"

    def __init__(self, model_dir: Path, threads: int = 1) -> None:
        with scikit_learn_hidden():
            import transformers
            from transformers import GenerationMixin  # noqa: F401  comes with every model, and asks for scikit-learn

        torch.set_num_threads(threads)
        self.version = f"transformers {transformers.__version__}, torch {torch.__version__}"
        self.chat = ChatFormat(model_dir)
        self.tokenizer, self.context, self.eos_ids = self.chat.tokenizer, self.chat.context, self.chat.end_ids
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            model_dir, dtype=torch.float32, attn_implementation="sdpa"
        ).eval()
        self.pad_id = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.eos_ids[0]

    def render(self, messages: Sequence[Message]) -> str:
        """Apply the chat template of the model; raises DataError for a model without one."""
        return self.chat.render(messages)

    def encode(self, rendered: str) -> list[int]:
        """Return the token ids of a rendered prompt; its special tokens are in the text already."""
        return self.chat.encode(rendered)

    def generate(
        self,
        prompts: Sequence[list[int]],
        params: SamplingParameters | Sequence[SamplingParameters],
        progress: Progress | None = None,
    ) -> list[list[Completion]]:
        """Sample the completions of each prompt, in prompt order.

        Prompts with the same settings and of similar length share a batch. Raises DataError where a prompt leaves no
        room for `max_tokens` within the context of the model.
        """
        asked = per_prompt(prompts, params)
        check_room(prompts, asked, self.context)
        results: dict[int, list[Completion]] = {}
        for batch in _batches(prompts, asked):
            completions = iter(self._sample([prompts[i] for i in batch], [asked[i] for i in batch]))
            results |= {i: [next(completions) for _ in range(asked[i].samples)] for i in batch}
            if progress:
                progress(len(results), len(prompts))
        return [results[i] for i in range(len(prompts))]

    def _sample(self, prompts: Sequence[list[int]], params: Sequence[SamplingParameters]) -> list[Completion]:
        """Sample one batch, whose settings differ in the number of samples at most; returns prompt by prompt."""
        shared = params[0]
        uniforms = torch.cat([_uniforms(prompt, own) for prompt, own in zip(prompts, params, strict=True)])
        rows = [prompt for prompt, own in zip(prompts, params, strict=True) for _ in range(own.samples)]
        watch = (
            StopWatch(shared.stop, self.chat.decode, self.tokenizer.all_special_ids, len(rows)) if shared.stop else None
        )
        rollouts = sample_at(
            self.model,
            rows,
            uniforms,
            shared.temperature,
            -1,
            shared.top_p,
            self.eos_ids,
            self.pad_id,
            watch=watch,
        )
        return [
            self._completion(len(prompt), ids, shared.stop) for prompt, (ids, _) in zip(rows, rollouts, strict=True)
        ]

    def _completion(self, prompt_tokens: int, ids: list[int], stop: Sequence[str]) -> Completion:
        text, stopped = cut_at_stop(self.chat.decode(ids), stop)
        return Completion(
            text=text,
            token_ids=tuple(ids),
            finish_reason="stop" if stopped or ids[-1] in self.eos_ids else "length",
            prompt_tokens=prompt_tokens,
            response_tokens=len(ids),
        )


def _batches(prompts: Sequence[list[int]], params: Sequence[SamplingParameters]) -> Iterator[list[int]]:
    """Yield positions of prompts that share a batch: equal settings, similar lengths, a bounded number of rows."""
    groups: dict[SamplingParameters, list[int]] = {}
    for i, own in enumerate(params):
        groups.setdefault(replace(own, samples=0), []).append(i)
    for members in groups.values():
        batch: list[int] = []
        rows = 0
        for i in sorted(members, key=lambda i: len(prompts[i])):
            if batch and rows + params[i].samples > ROWS_PER_BATCH:
                yield batch
                batch, rows = [], 0
            batch.append(i)
            rows += params[i].samples
        yield batch


def _uniforms(prompt: Sequence[int], params: SamplingParameters) -> Tensor:
    """Return the random numbers [samples, max_tokens] of one prompt, each in [0, 1)."""
    generator = torch.Generator().manual_seed(prompt_seed(prompt, params.seed))
    return torch.rand(params.samples, params.max_tokens, generator=generator)
