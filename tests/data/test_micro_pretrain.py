"""Pre-training: the same weights for any thread count, the loss of the response only, Muon's update."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from benchmark.data.micro import pretrain
from benchmark.data.micro.optimiser import Muon, orthogonalise
from benchmark.data.micro.pretrain import Recipe
from benchmark.data.micro.tokenizer import EOS_ID, encode, prompt_ids

TINY = Recipe(hidden=16, layers=1, heads=2, mlp=32, steps=6, batch=16)


def example(question, answer):
    prompt = prompt_ids(question)
    return [*prompt, *encode(answer), EOS_ID], len(prompt)


def test_one_and_two_threads_give_bit_identical_weights():
    recipe = Recipe(steps=4)  # full width: small matrix products would not be split over threads anyway
    one, two = (pretrain.pretrain(recipe, threads).model.state_dict() for threads in (1, 2))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_another_seed_gives_other_weights():
    one, two = (pretrain.pretrain(replace(TINY, seed=seed)).model.state_dict() for seed in (0, 1))
    assert not torch.equal(one["lm_head.weight"], two["lm_head.weight"])


def test_pretraining_restores_the_thread_count_of_torch():
    before = torch.get_num_threads()
    pretrain.pretrain(TINY, threads=2)
    assert torch.get_num_threads() == before


def test_the_loss_counts_response_tokens_only_and_ignores_padding():
    model = pretrain.build_model(TINY)
    short, long = example("1+2?", "1+2=3;\\boxed{3}"), example("max(11,23,45)?", "45>23>11;\\boxed{45}")
    ids, prompt = short
    logits = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    by_hand = -sum(logits[t - 1, ids[t]] for t in range(prompt, len(ids)))
    alone = pretrain.response_loss(model, [short])
    padded = pretrain.response_loss(model, [short, long]) - pretrain.response_loss(model, [long])
    assert alone.item() == pytest.approx(by_hand.item(), rel=1e-5)
    assert padded.item() == pytest.approx(by_hand.item(), rel=1e-4)


def test_shards_give_the_gradient_of_the_whole_batch():
    model = pretrain.build_model(TINY)
    batch = pretrain.training_batches(replace(TINY, steps=1, batch=7))[0]  # odd: shards of 4 and 3
    parameters = list(model.parameters())
    tokens = sum(len(ids) - prompt for ids, prompt in batch)
    whole = pretrain.response_loss(model, batch) / tokens
    expected = torch.autograd.grad(whole, parameters)
    with ThreadPoolExecutor(2) as workers:
        loss = pretrain.accumulate_gradients(model, parameters, batch, workers)
    assert loss == pytest.approx(whole.item(), rel=1e-5)
    for parameter, gradient in zip(parameters, expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, atol=1e-6, rtol=1e-4)


def test_every_demonstration_of_a_recipe_is_trained_on_once_and_reproducibly():
    recipe = replace(TINY, steps=70)  # more than one window of batches
    batches = pretrain.training_batches(recipe)
    assert [len(batch) for batch in batches] == [16] * 70
    assert batches == pretrain.training_batches(recipe)


def test_pretraining_learns():
    first = pretrain.pretrain(replace(TINY, steps=1)).loss
    assert pretrain.pretrain(replace(TINY, steps=120)).loss < 0.75 * first


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 12, 4), (2, 4, 12)])
def test_orthogonalised_matrices_have_singular_values_near_one(shape):
    values = torch.linalg.svdvals(orthogonalise(torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 50))
    assert values.min() > 0.3
    assert values.max() < 1.3


def test_muon_steps_like_that_of_torch():
    def train(build):
        weights = [torch.nn.Parameter(torch.eye(12, 6) + i) for i in range(2)]
        optimiser = build(weights)
        for step in range(5):
            for i, weight in enumerate(weights):
                weight.grad = torch.randn(12, 6, generator=torch.Generator().manual_seed(10 * step + i))
            optimiser.step()
        return torch.stack([weight.detach() for weight in weights])

    mine = train(lambda weights: Muon(weights, lr=0.02, weight_decay=0.1))
    theirs = train(lambda weights: torch.optim.Muon(weights, lr=0.02, weight_decay=0.1))
    torch.testing.assert_close(mine, theirs, atol=2e-3, rtol=0)  # theirs rounds to bfloat16


def test_progress_is_printed_at_intervals_and_at_the_end(capsys, monkeypatch):
    monkeypatch.setattr(pretrain, "_PROGRESS_EVERY", 4)
    pretrain.pretrain(TINY)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" loss ")[0] for line in lines] == ["step 4/6", "step 6/6"]
