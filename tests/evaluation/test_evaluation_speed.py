"""Timings by pytest-benchmark; bounds are asserted where they are part of the contract and several times exceeded."""

import json
import os
import random
from pathlib import Path

import pytest
import torch

from benchmark.evaluation.engines.decoding import GenericDecoder, LlamaDecoder, sample_at
from benchmark.evaluation.grader import Verdict, grade, is_correct
from benchmark.evaluation.voting import vote
from benchmark.evaluation.workers import WorkerPool

DATA = Path(os.environ.get("VENUS_DATA", Path(__file__).parents[3] / "shared" / "data"))
PROMPTS = [[3, *range(6, 6 + size), 4] for size in (6, 8, 10, 12) for _ in range(8)]
ENDS = (1, 7, 8)  # of 65 equally likely tokens: responses of 19 tokens in the mean, cut at 40


def best_seconds(benchmark):
    """Return the time of the fastest round, or 0 where timing is switched off."""
    return benchmark.stats.stats.min if benchmark.stats else 0.0


def test_a_vote_of_64_takes_less_than_10_milliseconds_once_its_answers_are_known(benchmark):
    random.seed(0)
    answers = random.choices(["12", "12.0", "13", r"\frac{1}{2}", "0.5", None, "x+1", r"\text{none}"], k=64)
    assert benchmark(vote, answers).clusters
    assert best_seconds(benchmark) < 0.010


def test_speed_of_rewarding_1000_integers(benchmark):
    responses = [rf"6+5=11;4+7+1=12;\boxed{{{number}}}" for number in range(1000)]
    correct = benchmark(lambda: sum(is_correct(response, "121") for response in responses))
    assert correct == 1


def test_more_than_2000_integers_are_graded_per_second_with_all_layers_on_one_core(benchmark):
    responses = [rf"6+5=11;4+7+1=12;\boxed{{{number}}}" for number in range(1000)]
    verdicts = benchmark(lambda: [grade(response, "121").verdict for response in responses])
    assert verdicts.count(Verdict.CORRECT) == 1
    assert best_seconds(benchmark) < 1000 / 2000


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder at {DATA}; set VENUS_DATA")
def test_more_than_150_answers_like_those_of_math_500_are_graded_per_second_by_one_worker(benchmark):
    """Every gold that is no integer, against itself spelt differently and against another gold, nothing remembered."""
    text = (DATA / "math500" / "test.jsonl").read_text(encoding="utf-8")
    golds = [gold for gold in (json.loads(line)["answer"] for line in text.split("\n") if line) if not gold.isdigit()]
    pairs = [(gold, rf"\boxed{{ \left.{gold}\right. }}") for gold in golds]
    pairs += [(gold, rf"\boxed{{{other}}}") for gold, other in zip(golds, golds[1:] + golds[:1], strict=True)]

    def judge(pool):
        return [grade(response, gold, pool=pool).verdict for gold, response in pairs]

    with WorkerPool(remember=False) as pool:
        pool.compare("x", "y")  # starts the worker
        verdicts = benchmark.pedantic(judge, args=(pool,), rounds=3)
    assert len(pairs) == 2 * 207
    assert verdicts.count(Verdict.TIMEOUT) == verdicts.count(Verdict.ERROR) == 0
    assert best_seconds(benchmark) < len(pairs) / 150


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
