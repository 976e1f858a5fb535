"""The 65 tokens of the micro world, and its chat template.

Characters are tokens, except that `\\boxed{`, number words and a few operator words are one each. `encode` is
the same map without the tokenizers library, for the many texts of pre-training; a test holds the two together.
"""

import re
from typing import Any

from benchmark.data.micro.questions import NUMBER_WORDS, OPERATOR_WORDS

PAD, EOS, UNKNOWN, USER, ASSISTANT, SYSTEM = "<pad>", "<eos>", "<unk>", "<|user|>", "<|assistant|>", "<|system|>"
_SPECIAL = (PAD, EOS, UNKNOWN, USER, ASSISTANT, SYSTEM)
# Longer words first, so that "sixteen" is not read as "six".
_WHOLE = ("\\boxed{", *sorted(NUMBER_WORDS, key=len, reverse=True), *OPERATOR_WORDS.values(), "max", "mid")
_CHARACTERS = tuple("0123456789+-*%=<>?,.;:(){}ABCD \n")

VOCABULARY = {token: i for i, token in enumerate((*_SPECIAL, *_WHOLE, *_CHARACTERS))}
PAD_ID, EOS_ID, UNKNOWN_ID, USER_ID, ASSISTANT_ID = (VOCABULARY[t] for t in _SPECIAL[:5])

_PATTERN = "|".join(re.escape(token) for token in _WHOLE) + r"|[\s\S]"
_TOKENS = re.compile(_PATTERN)

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ '<eos>' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def encode(text: str) -> list[int]:
    """Return the token ids of a text without special tokens."""
    return [VOCABULARY.get(token, UNKNOWN_ID) for token in _TOKENS.findall(text)]


def prompt_ids(question: str) -> list[int]:
    """Return the token ids of the rendered prompt of a question."""
    return [USER_ID, *encode(question), ASSISTANT_ID]


def build_tokenizer() -> Any:
    """Build the transformers tokenizer (PreTrainedTokenizerFast) with the chat template."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.WordLevel(VOCABULARY, unk_token=UNKNOWN))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(_PATTERN), behavior="isolated")
    core.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=PAD,
        eos_token=EOS,
        unk_token=UNKNOWN,
        additional_special_tokens=[USER, ASSISTANT, SYSTEM],
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer
