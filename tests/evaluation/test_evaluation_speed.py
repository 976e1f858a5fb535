"""Timings by pytest-benchmark; nothing here asserts seconds, which depend on the machine."""

import random

import pytest
import torch

from benchmark.evaluation.engines.decoding import GenericDecoder, LlamaDecoder, sample_at
from benchmark.evaluation.grader import is_correct
from benchmark.evaluation.voting import vote

PROMPTS = [[3, *range(6, 6 + size), 4] for size in (6, 8, 10, 12) for _ in range(8)]
ENDS = (1, 7, 8)  # of 65 equally likely tokens: responses of 19 tokens in the mean, cut at 40


def test_speed_of_a_vote_of_64(benchmark):
    random.seed(0)
    answers = random.choices(["12", "12.0", "13", r"\frac{1}{2}", "0.5", None, "x+1", r"\text{none}"], k=64)
    assert benchmark(vote, answers).clusters


def test_speed_of_grading_1000_integers(benchmark):
    responses = [rf"6+5=11;4+7+1=12;\boxed{{{number}}}" for number in range(1000)]
    correct = benchmark(lambda: sum(is_correct(response, "121") for response in responses))
    assert correct == 1


@pytest.mark.parametrize("decoder", [LlamaDecoder, GenericDecoder])
def test_speed_of_sampling_32_prompts_x_8(benchmark, make_llama, decoder):
    model = make_llama(initializer_range=0.02)
    prompts = [prompt for prompt in PROMPTS for _ in range(8)]
    uniforms = torch.rand(256, 40, generator=torch.Generator().manual_seed(0))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        found = benchmark.pedantic(
            lambda: sample_at(model, prompts, uniforms, 1.0, -1, 1.0, ENDS, 0, decoder(model, 0)),
            rounds=5,
            warmup_rounds=1,
        )
    finally:
        torch.set_num_threads(threads)
    assert 15 < sum(len(ids) for ids, _ in found) / 256 < 23
