import pytest


@pytest.fixture(scope="session")
def tiny_llama():
    """A random Llama of the size of the micro base model: vocabulary 65, hidden 64, 2 layers."""
    return build_llama()


@pytest.fixture(scope="session")
def tiny_model_dir(tmp_path_factory, tiny_llama):
    """The same with a character tokenizer and a chat template, saved as a Hugging Face folder."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<eos>", "<unk>", "<|user|>", "<|assistant|>"]
    letters = list("0123456789+-*%=<>?,.;:(){}ABCDabcdefghijklmnopqrstuvwxyz \n")
    vocabulary = {token: number for number, token in enumerate([*special, *letters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        additional_special_tokens=special[3:],
    )
    fast.chat_template = (
        "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
    )
    folder = tmp_path_factory.mktemp("tiny") / "model"
    tiny_llama.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def build_llama(**changes):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    settings = {
        "vocab_size": 65,
        "hidden_size": 64,
        "intermediate_size": 192,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "max_position_embeddings": 128,
        "tie_word_embeddings": False,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "bos_token_id": None,
        "initializer_range": 0.2,  # peaked enough that greedy has no near-ties
    }
    return LlamaForCausalLM(LlamaConfig(**settings | changes)).eval()


@pytest.fixture(scope="session")
def make_llama():
    return build_llama
