"""A tiny random Llama with a character tokenizer, as a Hugging Face folder, for tests of engines."""

from pathlib import Path

LETTERS = "0123456789+-*%=<>?,.;:(){}ABCDabcdefghijklmnopqrstuvwxyz \n"
SPECIAL = ("<pad>", "<eos>", "<unk>", "<|user|>", "<|assistant|>")
EOS = 1
VOCABULARY = {token: number for number, token in enumerate([*SPECIAL, *LETTERS])}


def write_tokenizer(folder: Path) -> None:
    """Write a character tokenizer with a chat template; its vocabulary is that of both models of the tests."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.WordLevel(VOCABULARY, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    core.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        additional_special_tokens=list(SPECIAL[3:]),
    )
    tokenizer.chat_template = (
        "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
    )
    tokenizer.save_pretrained(folder)


def write_model(folder: Path, context: int = 128) -> Path:
    """Write the folder and return it. The width of its heads is 32, the least that vLLM has CPU kernels for."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=context,
        pad_token_id=0,
        eos_token_id=EOS,
        bos_token_id=None,
        initializer_range=0.2,  # peaked enough that greedy has no near-ties
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    write_tokenizer(folder)
    return folder
