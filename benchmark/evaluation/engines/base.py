"""What an engine is: rendered prompts in, sampled completions out.

One call may mix settings, one set per prompt, so that an engine gets all benchmarks of a checkpoint at once and
orders them as it likes.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmark.errors import DataError

Message = dict[str, str]
"""One turn of a chat: `role` and `content`."""

Progress = Callable[[int, int], None]
"""Called with the prompts done so far and the prompts in all."""


@dataclass(frozen=True, slots=True)
class SamplingParameters:
    """How a prompt is sampled; recorded as it was sent."""

    temperature: float  # 0 means greedy
    top_p: float
    max_tokens: int
    samples: int  # per prompt
    seed: int
    stop: tuple[str, ...] = ()  # strings that end a response; the response does not contain them


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled response."""

    text: str  # without special tokens
    token_ids: tuple[int, ...]  # the end-of-sequence token included
    finish_reason: str  # stop | length
    prompt_tokens: int
    response_tokens: int


class Engine(Protocol):
    """Samples from one model."""

    name: str
    version: str
    context: int  # tokens of prompt and response together; 0 where the model states no limit

    def render(self, messages: Sequence[Message]) -> str:
        """Apply the chat template of the model, up to where its answer starts."""
        ...

    def encode(self, rendered: str) -> list[int]:
        """Return the token ids of a rendered prompt."""
        ...

    def generate(
        self,
        prompts: Sequence[list[int]],
        params: SamplingParameters | Sequence[SamplingParameters],
        progress: Progress | None = None,
    ) -> list[list[Completion]]:
        """Sample `samples` completions of each prompt, in prompt order; `params` are shared, or one per prompt.

        Raises DataError where a prompt leaves no room for its `max_tokens` within the context.
        """
        ...


def per_prompt(
    prompts: Sequence[list[int]], params: SamplingParameters | Sequence[SamplingParameters]
) -> list[SamplingParameters]:
    """Return the settings of each prompt.

    Raises ValueError where there are more or fewer settings than prompts.
    """
    if isinstance(params, SamplingParameters):
        return [params] * len(prompts)
    if len(params) != len(prompts):
        raise ValueError(f"settings per prompt: found {len(params)}, allowed {len(prompts)}, one for each prompt")
    return list(params)


def check_room(prompts: Sequence[list[int]], params: Sequence[SamplingParameters], context: int) -> None:
    """Raise DataError where a prompt and its `max_tokens` exceed the context of the model."""
    if not context:
        return
    for prompt, own in zip(prompts, params, strict=True):
        if len(prompt) + own.max_tokens > context:
            raise DataError(
                f"a prompt does not fit: found {len(prompt)} tokens + max_tokens {own.max_tokens}, "
                f"allowed {context} in all; fix: lower eval.max_tokens"
            )


def prompt_seed(prompt: Sequence[int], seed: int) -> int:
    """Derive the seed of a prompt, below 2**63, from the seed of the run and the tokens of the prompt alone.

    The samples of a prompt then do not depend on which others are asked, or in what order.
    """
    content = hashlib.sha256(f"{seed}:{','.join(map(str, prompt))}".encode()).digest()
    return int.from_bytes(content[:8], "big") >> 1
