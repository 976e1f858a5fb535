"""Sampling with transformers on the CPU.

Reproducibility: the random numbers of a prompt depend on the seed and on its own tokens only, so the
samples of a prompt do not depend on which other prompts are asked, nor on their order. Two models, or two
checkpoints, that are asked the same question share them (common random numbers). Not guaranteed: equal
samples where rounding differs (another batch composition, thread count, CPU or version of torch can round a
probability differently, and a draw that falls between the two roundings changes from there on).
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from benchmark.errors import DataError
from benchmark.evaluation.engines.base import Completion, Message, Progress, SamplingParameters
from benchmark.evaluation.engines.decoding import Rollout, sample_at
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
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model_dir)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            model_dir, dtype=torch.float32, attn_implementation="sdpa"
        ).eval()
        self.eos_ids = _end_tokens(self.model, self.tokenizer)
        self.pad_id = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.eos_ids[0]
        self.context = int(getattr(self.model.config, "max_position_embeddings", 0) or 0)

    def render(self, messages: Sequence[Message]) -> str:
        """Apply the chat template of the model.

        Raises DataError for a model without one: guessing a format would measure the guess.
        """
        if not self.tokenizer.chat_template:
            raise DataError(
                "the tokenizer has no chat template: found none, allowed a template in the model folder; "
                "fix: add chat_template.jinja to it"
            )
        return str(self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True))

    def encode(self, rendered: str) -> list[int]:
        """Return the token ids of a rendered prompt; its special tokens are in the text already."""
        return list(self.tokenizer(rendered, add_special_tokens=False)["input_ids"])

    def generate(
        self, prompts: Sequence[list[int]], params: SamplingParameters, progress: Progress | None = None
    ) -> list[list[Completion]]:
        """Sample `params.samples` completions of each prompt, in prompt order.

        Prompts of similar length share a batch. Raises DataError where a prompt leaves no room for
        `max_tokens` within the context of the model.
        """
        self._check_lengths(prompts, params)
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        per_batch = max(1, ROWS_PER_BATCH // params.samples)
        results: dict[int, list[Completion]] = {}
        for start in range(0, len(order), per_batch):
            batch = order[start : start + per_batch]
            rollouts = self._sample([prompts[i] for i in batch], params)
            for position, i in enumerate(batch):
                own = rollouts[position * params.samples : (position + 1) * params.samples]
                results[i] = [self._completion(len(prompts[i]), ids) for ids, _ in own]
            if progress:
                progress(len(results), len(prompts))
        return [results[i] for i in range(len(prompts))]

    def _sample(self, prompts: Sequence[list[int]], params: SamplingParameters) -> list[Rollout]:
        uniforms = torch.cat([_uniforms(prompt, params) for prompt in prompts])
        repeated = [prompt for prompt in prompts for _ in range(params.samples)]
        return sample_at(
            self.model, repeated, uniforms, params.temperature, -1, params.top_p, self.eos_ids, self.pad_id
        )

    def _completion(self, prompt_tokens: int, ids: list[int]) -> Completion:
        return Completion(
            text=str(self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)),
            token_ids=tuple(ids),
            finish_reason="stop" if ids[-1] in self.eos_ids else "length",
            prompt_tokens=prompt_tokens,
            response_tokens=len(ids),
        )

    def _check_lengths(self, prompts: Sequence[list[int]], params: SamplingParameters) -> None:
        longest = max(map(len, prompts), default=0)
        if self.context and longest + params.max_tokens > self.context:
            raise DataError(
                f"a prompt does not fit: found {longest} tokens + max_tokens {params.max_tokens}, "
                f"allowed {self.context} in all; fix: lower eval.max_tokens"
            )


def _uniforms(prompt: Sequence[int], params: SamplingParameters) -> Tensor:
    """Return the random numbers [samples, max_tokens] of one prompt, each in [0, 1)."""
    content = hashlib.sha256(f"{params.seed}:{','.join(map(str, prompt))}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(content[:8], "big") >> 1)
    return torch.rand(params.samples, params.max_tokens, generator=generator)


def _end_tokens(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Collect the tokens that end a response: those of the generation config, and the tokenizer's."""
    configured = getattr(model.generation_config, "eos_token_id", None)
    listed = configured if isinstance(configured, list) else [configured]
    found = dict.fromkeys(token for token in (*listed, tokenizer.eos_token_id) if token is not None)
    if not found:
        raise DataError(
            "the model has no end-of-sequence token: found none in generation_config.json or the tokenizer, "
            "allowed at least one; fix: set eos_token"
        )
    return tuple(found)
