"""What both engines read from a model folder beside the weights: tokenizer, chat template, end tokens, context.

They share it so that a question becomes the same tokens, and a response ends at the same ones, whichever engine
samples.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.errors import DataError
from benchmark.evaluation.engines.base import Message
from benchmark.imports import scikit_learn_hidden


class ChatFormat:
    """The tokenizer of a model folder and its chat template."""

    def __init__(self, model_dir: Path) -> None:
        with scikit_learn_hidden():
            from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(model_dir)
        self.config = _read(model_dir / "config.json")
        self.context = int(self.config.get("max_position_embeddings") or 0)
        self.end_ids = _end_tokens(model_dir, self.config, self.tokenizer)

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

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids, without special tokens."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))


def _end_tokens(model_dir: Path, config: dict[str, Any], tokenizer: Any) -> tuple[int, ...]:
    """Collect the tokens that end a response: those of the generation config, else the model's, and the tokenizer's."""
    configured = _read(model_dir / "generation_config.json").get("eos_token_id", config.get("eos_token_id"))
    listed = configured if isinstance(configured, list) else [configured]
    found = dict.fromkeys(token for token in (*listed, tokenizer.eos_token_id) if token is not None)
    if not found:
        raise DataError(
            "the model has no end-of-sequence token: found none in generation_config.json or the tokenizer, "
            "allowed at least one; fix: set eos_token"
        )
    return tuple(found)


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found
