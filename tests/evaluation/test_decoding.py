import pytest
import torch

from benchmark.evaluation.engines import decoding
from benchmark.evaluation.engines.decoding import GenericDecoder, make_decoder, sample, sample_at
from benchmark.evaluation.engines.llama_decoding import LlamaDecoder, supports

PAD, EOS = 0, 1
PROMPTS = [[3, 10, 20, 4], [3, 11, 4], [3, 30, 31, 32, 33, 34, 4], [3, 11, 4]]


def draw(model, prompts=PROMPTS, max_new=24, temperature=1.0, top_k=-1, top_p=1.0, eos=(EOS,), seed=0, decoder=None):
    uniforms = torch.rand(len(prompts), max_new, generator=torch.Generator().manual_seed(seed))
    return sample_at(model, prompts, uniforms, temperature, top_k, top_p, eos, PAD, decoder)


def full_forward(model, prompt, response):
    """Logits [T, V] that predict each response token, from one forward pass without cache or padding."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([prompt + response])).logits[0]
    return logits[len(prompt) - 1 : -1]


@pytest.fixture(params=["fast", "generic"])
def decoder(request, tiny_llama):
    return {"fast": LlamaDecoder, "generic": GenericDecoder}[request.param](tiny_llama, PAD)


def test_greedy_equals_generate_of_transformers(tiny_llama, decoder):
    found = draw(tiny_llama, temperature=0, decoder=decoder)
    for prompt, (ids, _) in zip(PROMPTS, found, strict=True):
        expected = tiny_llama.generate(
            torch.tensor([prompt]), max_new_tokens=24, do_sample=False, eos_token_id=EOS, pad_token_id=PAD
        )[0, len(prompt) :]
        assert ids == expected.tolist()


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"), [(1.0, -1, 1.0), (0.6, -1, 1.0), (1.3, 5, 1.0), (0.9, 20, 0.8)]
)
def test_log_probs_are_those_of_the_processed_distribution(tiny_llama, decoder, temperature, top_k, top_p):
    for prompt, (ids, log_probs) in zip(
        PROMPTS, draw(tiny_llama, PROMPTS, 24, temperature, top_k, top_p, decoder=decoder), strict=True
    ):
        for logits, token, found in zip(full_forward(tiny_llama, prompt, ids), ids, log_probs, strict=True):
            probs = (logits / temperature).softmax(-1)
            order = sorted(range(65), key=lambda v: -float(probs[v]))
            kept = order[:top_k] if top_k > 0 else order
            if top_p < 1:
                scaled = probs / probs[kept].sum()
                size = next(n for n in range(1, len(kept) + 1) if n == len(kept) or scaled[kept[:n]].sum() >= top_p)
                kept = kept[:size]
            assert token in kept
            assert found == pytest.approx(float((probs[token] / probs[kept].sum()).log()), abs=1e-4)


def test_both_decoders_give_the_same_tokens_and_log_probs(make_llama):
    prompts = [prompt for prompt in PROMPTS for _ in range(8)]
    for model in (make_llama(), make_llama(num_key_value_heads=2), make_llama(tie_word_embeddings=True)):
        assert supports(model)
        fast = draw(model, prompts, 40, decoder=LlamaDecoder(model, PAD), eos=(EOS, 7, 8))
        generic = draw(model, prompts, 40, decoder=GenericDecoder(model, PAD), eos=(EOS, 7, 8))
        for (ids, log_probs), (other_ids, other_log_probs) in zip(fast, generic, strict=True):
            assert ids == other_ids
            assert log_probs == pytest.approx(other_log_probs, abs=1e-4)


def test_dropping_finished_rows_changes_nothing(tiny_llama, decoder, monkeypatch):
    prompts = [prompt for prompt in PROMPTS for _ in range(8)]
    results = {}
    for share in (0.0, 0.75, 1.0):
        monkeypatch.setattr(decoding, "KEEP_UNTIL", share)
        results[share] = draw(tiny_llama, prompts, 40, eos=(EOS, 7, 8, 9), decoder=decoder)
    lengths = [len(ids) for ids, _ in results[0.0]]
    assert min(lengths) < 10 < max(lengths)
    for share in (0.75, 1.0):
        for (ids, log_probs), (other_ids, other_log_probs) in zip(results[0.0], results[share], strict=True):
            assert ids == other_ids
            assert log_probs == pytest.approx(other_log_probs, abs=1e-4)


def test_a_row_does_not_depend_on_its_neighbours(tiny_llama, decoder):
    uniforms = torch.rand(len(PROMPTS), 24, generator=torch.Generator().manual_seed(3))
    together = sample_at(tiny_llama, PROMPTS, uniforms, 1.0, -1, 1.0, (EOS,), PAD, decoder)
    for i, prompt in enumerate(PROMPTS):
        alone = sample_at(tiny_llama, [prompt], uniforms[i : i + 1], 1.0, -1, 1.0, (EOS,), PAD, decoder)
        assert alone[0][0] == together[i][0]


def test_a_response_ends_with_its_first_end_token_or_at_the_limit(tiny_llama):
    ends = {EOS, 7, 8, 9}
    found = draw(tiny_llama, [PROMPTS[0]] * 64, 12, eos=tuple(ends))
    for ids, log_probs in found:
        assert len(ids) == len(log_probs)
        assert not ends & set(ids[:-1])
        assert ids[-1] in ends or len(ids) == 12
    assert {len(ids) for ids, _ in found} >= {1, 12}


def test_the_seed_decides(tiny_llama):
    def once(seed):
        generator = torch.Generator().manual_seed(seed)
        return sample(tiny_llama, PROMPTS, 24, 1.0, -1, 1.0, (EOS,), PAD, generator)

    assert once(5) == once(5)
    assert once(5) != once(6)


def test_new_weights_are_seen_by_the_next_call(make_llama):
    model = make_llama()
    before = draw(model, temperature=0)
    model.load_state_dict({name: value * 1.5 for name, value in model.state_dict().items()})
    assert draw(model, temperature=0) == draw(model, temperature=0, decoder=LlamaDecoder(model, PAD))
    assert draw(model, temperature=0) != before


def test_samples_follow_the_distribution_of_the_model(tiny_llama):
    prompt, n = PROMPTS[0], 20_000
    first = torch.tensor([ids[0] for ids, _ in draw(tiny_llama, [prompt] * n, 1)])
    frequency = torch.bincount(first, minlength=65) / n
    with torch.inference_mode():
        probs = tiny_llama(input_ids=torch.tensor([prompt])).logits[0, -1].softmax(-1)
    assert (frequency - probs).abs().max() < 5 * (0.25 / n) ** 0.5  # five standard errors at the worst


@pytest.mark.parametrize(
    "change",
    [
        {"attention_bias": True},
        {"mlp_bias": True},
        {"hidden_act": "gelu"},
        {"hidden_size": 4096, "num_hidden_layers": 1},
    ],
)
def test_the_fast_decoder_refuses_what_it_does_not_compute(make_llama, change):
    model = make_llama(**change)
    assert not supports(model)
    assert isinstance(make_decoder(model, PAD), GenericDecoder)


def test_scaled_rotary_embeddings_take_the_generic_decoder(make_llama):
    model = make_llama(rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0})
    assert isinstance(make_decoder(model, PAD), GenericDecoder)


def test_another_architecture_takes_the_generic_decoder():
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=65, n_embd=32, n_layer=2, n_head=2, n_positions=64, initializer_range=0.3)
    model = GPT2LMHeadModel(config).eval()
    found = draw(model, temperature=0)
    for prompt, (ids, log_probs) in zip(PROMPTS, found, strict=True):
        logits = full_forward(model, prompt, ids)
        assert ids == logits.argmax(-1).tolist()
        assert log_probs == pytest.approx(logits.log_softmax(-1).max(-1).values.tolist(), abs=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompts": []}, "empty batch"),
        ({"prompts": [[3], []]}, "empty prompt"),
        ({"temperature": -1.0}, "temperature -1.0"),
        ({"top_p": 0.0}, "top_p 0.0"),
        ({"max_new": 0}, "max_new"),
        ({"eos": ()}, "no end-of-sequence token"),
    ],
)
def test_settings_out_of_range_are_refused(tiny_llama, change, message):
    with pytest.raises(ValueError, match=message):
        draw(tiny_llama, **change)
