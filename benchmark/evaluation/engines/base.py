"""What an engine is: rendered prompts in, sampled completions out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

Message = dict[str, str]
"""One turn of a chat: `role` and `content`."""

Progress = Callable[[int, int], None]
"""Called with the prompts done so far and the prompts in all."""


@dataclass(frozen=True, slots=True)
class SamplingParameters:
    """How each prompt is sampled; recorded as it was sent."""

    temperature: float  # 0 means greedy
    top_p: float
    max_tokens: int
    samples: int  # per prompt
    seed: int


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

    def render(self, messages: Sequence[Message]) -> str:
        """Apply the chat template of the model, up to where its answer starts."""
        ...

    def encode(self, rendered: str) -> list[int]:
        """Return the token ids of a rendered prompt."""
        ...

    def generate(
        self, prompts: Sequence[list[int]], params: SamplingParameters, progress: Progress | None = None
    ) -> list[list[Completion]]:
        """Sample `params.samples` completions of each prompt, in prompt order."""
        ...
