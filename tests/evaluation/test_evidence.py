import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.errors import DataError
from benchmark.evaluation.engines import attention as attention_module
from benchmark.evaluation.engines import evidence as evidence_module
from benchmark.evaluation.engines.attention import attention_layers, long_range_attention, observed_attention
from benchmark.evaluation.engines.evidence import (
    KINDS,
    LongRange,
    candidate_layers,
    entropy,
    pool_hidden,
    response_evidence,
    self_certainty,
)
from benchmark.evaluation.engines.hidden_states import pooled_layers

TEMPERATURE, PAD = 0.7, 0
SHORT = LongRange(window=3, sink=2, head_share=0.3)


@pytest.fixture(scope="module")
def sequences():
    """Nine pairs of prompt and response of very different lengths, one response empty, one of a single token."""
    rng = np.random.default_rng(1)
    lengths = [(4, 9), (1, 30), (12, 3), (7, 1), (5, 0), (3, 18), (20, 20), (2, 2), (9, 11)]
    return [(rng.integers(2, 65, p).tolist(), rng.integers(2, 65, r).tolist()) for p, r in lengths]


def evidence_of(model, sequences, kinds=KINDS, layers="all", pad_id=PAD, **options):
    options = {"long_range": SHORT, **options}
    return response_evidence(model, sequences, kinds, layers, TEMPERATURE, pad_id, **options)


def assert_same(found, expected, rel=2e-5):
    for kind in KINDS:
        ours, theirs = getattr(found, kind), getattr(expected, kind)
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, theirs, rtol=rel, atol=2e-5, err_msg=kind)


@pytest.mark.parametrize(("p", "expected"), [((0.7, 0.2, 0.1), 0.3243), ((0.98, 0.01, 0.01), 1.9782)])
def test_self_certainty_is_the_divergence_of_the_uniform_distribution_from_the_model(p, expected):
    # methods.md section 5; the opposite direction KL(p || U) would be .2968 and .9867
    shifted = torch.tensor(p).log() + 5.0  # logits are free up to a constant
    assert self_certainty(shifted[None]).item() == pytest.approx(expected, abs=5e-5)


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_self_certainty_equals_its_definition(logits):
    p = torch.tensor(logits, dtype=torch.float64).softmax(0)
    definition = float((1 / len(p) * (1 / len(p) / p).log()).sum())
    assert self_certainty(torch.tensor([logits])).item() == pytest.approx(definition, abs=2e-5)


def test_the_entropy_of_a_half_and_two_quarters_is_one_and_a_half_bits():
    p = torch.tensor([[[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]]])
    found = entropy(p.log())
    assert found.shape == (1, 2)
    assert found[0].tolist() == pytest.approx([1.5 * np.log(2), np.log(3)], abs=1e-6)


def test_a_chunk_border_changes_nothing(monkeypatch):
    logits = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    whole = self_certainty(logits), entropy(logits)
    monkeypatch.setattr(evidence_module, "_CHUNK_ELEMENTS", 10)  # two rows at a time
    assert torch.equal(self_certainty(logits), whole[0])
    assert torch.equal(entropy(logits), whole[1])


@pytest.mark.parametrize(
    ("depth", "layers"), [(1, (1,)), (2, (1, 2)), (3, (1, 3)), (4, (1, 3)), (36, tuple(range(9, 36, 2)))]
)
def test_candidate_layers_are_every_second_one_from_a_quarter_of_the_depth(depth, layers):
    assert candidate_layers(depth) == layers


@pytest.mark.parametrize(("depth", "layers"), [(1, (1,)), (2, (1, 2)), (6, (3, 4, 5, 6)), (36, (23, 24, 25, 26))])
def test_attention_is_observed_in_four_layers_around_two_thirds_of_the_depth(depth, layers):
    assert attention_layers(depth) == layers


def test_hidden_states_are_averaged_over_the_marked_tokens_in_float32():
    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]], [[5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]])
    mask = torch.tensor([[1, 1, 0], [0, 0, 0]])
    pooled = pool_hidden(states.bfloat16(), mask)
    assert pooled.dtype == torch.float32
    assert pooled.tolist() == [[2.0, 3.0], [0.0, 0.0]]


def uniform_and_local(length):
    """Two heads: one looks at all earlier tokens alike, the other at itself only; [1, 2, T, T]."""
    spread = torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]
    return torch.stack([torch.eye(length), spread])[None]


def test_long_range_attention_is_the_far_mass_of_the_head_that_looks_far():
    # Prompt 0, 1 and response 2 .. 5; window 2. Token 4 spreads over 0 .. 4 and has one far key (2): 1/5.
    # Token 5 spreads over 0 .. 5 and has two (2 and 3): 2/6. Tokens 2 and 3 have none.
    mask = torch.tensor([[0, 0, 1, 1, 1, 1]])
    found = long_range_attention([uniform_and_local(6)], mask, window=2, sink=0, head_share=0.5)
    assert found[0].tolist() == pytest.approx([0, 0, 0, 0, 1 / 5, 2 / 6])
    # With three sink tokens key 2 is gone as well.
    found = long_range_attention([uniform_and_local(6)], mask, window=2, sink=3, head_share=0.5)
    assert found[0].tolist() == pytest.approx([0, 0, 0, 0, 0, 1 / 6])
    # Both heads: the local one has no far mass, so the mean halves.
    found = long_range_attention([uniform_and_local(6)], mask, window=2, sink=0, head_share=1.0)
    assert found[0].tolist() == pytest.approx([0, 0, 0, 0, 1 / 10, 1 / 6])


def test_long_range_heads_are_chosen_across_layers_and_for_each_response():
    local = torch.eye(6).expand(1, 2, 6, 6)
    layers = [torch.cat([uniform_and_local(6), local]), torch.cat([local, uniform_and_local(6)])]
    mask = torch.tensor([[0, 0, 1, 1, 1, 1]] * 2)
    found = long_range_attention(layers, mask, window=2, sink=0, head_share=0.25)
    assert found.tolist() == [pytest.approx([0, 0, 0, 0, 1 / 5, 2 / 6])] * 2


def test_a_response_within_the_window_has_no_long_range_attention():
    mask = torch.tensor([[0, 0, 1, 1, 1, 1]])
    assert long_range_attention([uniform_and_local(6)], mask, 32, 4, 0.3).tolist() == [[0.0] * 6]


@pytest.mark.parametrize("key_value_heads", [4, 2])
def test_evidence_is_what_the_model_says_about_each_sequence_alone(make_llama, sequences, key_value_heads):
    model = make_llama(num_key_value_heads=key_value_heads)
    model.set_attn_implementation("eager")
    found = evidence_of(model, sequences, rows_per_batch=4)
    for own, (prompt, response) in zip(found, sequences, strict=True):
        ids = torch.tensor([prompt + response])
        with torch.no_grad():
            output = model(ids, output_hidden_states=True, output_attentions=True)
        log_p = (output.logits[0].double() / TEMPERATURE).log_softmax(-1)[len(prompt) - 1 : -1]
        mask = torch.tensor([[0] * len(prompt) + [1] * len(response)])
        states = torch.stack([layer[0, len(prompt) :].double().mean(0) for layer in output.hidden_states])
        far = long_range_attention(output.attentions, mask, SHORT.window, SHORT.sink, SHORT.head_share)
        expected = evidence_module.ResponseEvidence(
            entropy=-(log_p.exp() * log_p).sum(-1).numpy(),
            log_probs=log_p[range(len(response)), response].numpy(),
            self_certainty=(-log_p.mean(-1) - np.log(65)).numpy(),
            hidden_states=states.nan_to_num(0).numpy(),
            attention=far[0, len(prompt) :].numpy(),
        )
        assert_same(own, expected)
    assert max(own.attention.max(initial=0) for own in found) > 0.01, "no far attention: the comparison is empty"


def test_neither_the_batch_nor_the_padding_changes_a_result(tiny_llama, sequences):
    alone = [evidence_of(tiny_llama, [pair])[0] for pair in sequences]
    for options in ({"rows_per_batch": 64}, {"rows_per_batch": 2}, {"pad_id": 7}):
        for own, expected in zip(evidence_of(tiny_llama, sequences, **options), alone, strict=True):
            assert_same(own, expected)
    backwards = evidence_of(tiny_llama, sequences[::-1])
    for own, expected in zip(backwards[::-1], alone, strict=True):
        assert_same(own, expected)


def test_neither_do_the_chunks_of_logits_and_of_attention_rows(tiny_llama, sequences, monkeypatch):
    whole = evidence_of(tiny_llama, sequences)
    monkeypatch.setattr(evidence_module, "_CHUNK_ELEMENTS", 65 * 5)
    monkeypatch.setattr(attention_module, "_CHUNK_ELEMENTS", 4 * 40 * 9 * 3)
    for own, expected in zip(evidence_of(tiny_llama, sequences), whole, strict=True):
        assert_same(own, expected)


def test_shapes_follow_the_response_and_the_layers(tiny_llama, sequences):
    for layers, rows in (("all", 3), ((2,), 1), ((1, 2), 2)):
        found = evidence_of(tiny_llama, sequences, layers=layers)
        for own, (_, response) in zip(found, sequences, strict=True):
            assert own.hidden_states.shape == (rows, 64)
            assert own.entropy.shape == own.log_probs.shape == own.self_certainty.shape == (len(response),)
            assert own.attention.shape == (len(response),)


def test_only_what_is_asked_is_computed(tiny_llama, sequences):
    found = evidence_of(tiny_llama, sequences, kinds=frozenset({"entropy"}))
    assert all(own.entropy is not None for own in found)
    assert all(getattr(own, kind) is None for own in found for kind in KINDS - {"entropy"})
    assert evidence_of(tiny_llama, sequences, kinds=frozenset()) == [evidence_module.ResponseEvidence()] * 9
    assert evidence_of(tiny_llama, []) == []


def test_the_model_is_left_as_it_was(tiny_llama, sequences):
    before = tiny_llama.config._attn_implementation
    with pytest.raises(RuntimeError, match="stop"), observed_attention(tiny_llama, (1,), lambda rows: None):
        raise RuntimeError("stop")
    evidence_of(tiny_llama, sequences)
    assert tiny_llama.config._attn_implementation == before
    hooks = [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in tiny_llama.modules()]
    with pytest.raises(RuntimeError, match="stop"), pooled_layers(tiny_llama, (0, 1, 2), lambda states: states):
        raise RuntimeError("stop")
    assert [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in tiny_llama.modules()] == hooks


def test_attention_is_summed_in_float32_where_the_model_runs_in_bfloat16(tiny_llama):
    found = []

    def observe(rows):
        found.extend((weights.dtype, (weights @ weights).dtype, weights.sum(-1)) for _, weights in rows)

    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16), observed_attention(tiny_llama, (1, 2), observe):
        tiny_llama(torch.arange(5, 25)[None])
    assert [kinds for *kinds, _ in found] == [[torch.float32, torch.float32]] * 2
    assert all(torch.allclose(sums, torch.ones(1, 4, 20), atol=1e-6) for *_, sums in found)


def test_what_cannot_be_computed_is_refused(tiny_llama):
    with pytest.raises(DataError, match="sequence 1: found an empty prompt"):
        evidence_of(tiny_llama, [([5], [6]), ([], [6])])
    with pytest.raises(DataError, match=r"found layer 3, allowed 0 \.\. 2"):
        evidence_of(tiny_llama, [([5], [6])], layers=(1, 3))
    with pytest.raises(DataError, match="found kind 'surprise'"):
        evidence_of(tiny_llama, [([5], [6])], kinds=frozenset({"surprise"}))
