import pytest
from engine_models import write_tokenizer


@pytest.fixture(scope="session")
def tiny_llama():
    """A random Llama of the size of the micro base model: vocabulary 65, hidden 64, 2 layers."""
    return build_llama()


@pytest.fixture(scope="session")
def tiny_model_dir(tmp_path_factory, tiny_llama):
    """The same with a character tokenizer and a chat template, saved as a Hugging Face folder."""
    folder = tmp_path_factory.mktemp("tiny") / "model"
    tiny_llama.save_pretrained(folder)
    write_tokenizer(folder)
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
