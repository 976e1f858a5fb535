"""How long a method takes to decide about a step of 512 prompts x 64 rollouts: at most 50 ms, of a step of minutes.

Measured in processor time, which others on the machine disturb little, and which is the time by the clock for work
in one thread. A bound in milliseconds still means nothing on a slower machine. So a fixed workload is timed
between the rounds: counting strings and sorting numbers, which is what methods do. A method that takes longer than the
bound fails only if that workload takes no longer than on the machine for which the bound was set (two cores of a
cloud server); elsewhere the test is skipped, with both numbers. A ratio to the workload could be asserted
everywhere, but the promise is in milliseconds. Memos of canonical answers are warm and histories filled, as in the
middle of a run.
"""

import time
from collections import Counter
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from rollouts import make_groups
from training_steps import PARAPHRASE, frozen, with_declared_fields

from benchmark.training.supervision import decide
from methods.base import TrainingRows
from methods.registry import method_class, method_names

PROMPTS, ROLLOUTS = 512, 64
BOUND = 0.050  # seconds of processor time for targets and admit
USUAL = 0.0060  # seconds of `calibration` on the machine of the bound
SLOWER = 1.3  # times the usual: noise between runs on one machine
ANSWERS = ("12", "12.0", "13", r"\frac{1}{2}", "0.5", None, "x+1", r"\text{none}")
LATE = 20  # passes over the data: beyond the warm-ups
ROUNDS, WARM_UP = 7, 3


def large_step(cls):
    """Draw a step, a quarter of it labelled."""
    rng = np.random.default_rng(0)
    skewed = rng.dirichlet(np.ones(len(ANSWERS)), PROMPTS)
    drawn = [rng.choice(len(ANSWERS), ROLLOUTS, p=shares) for shares in skewed]
    index = np.arange(PROMPTS)
    if cls.rows is TrainingRows.PAIRED:
        index = np.concatenate([index[: PROMPTS // 2], index[: PROMPTS // 2] + PARAPHRASE])
    groups = make_groups(
        [[ANSWERS[int(choice)] for choice in row] for row in drawn],
        labels=["12" if number % 4 == 0 else None for number in range(PROMPTS)],
        index=index,
        lengths=rng.integers(15, 25, (PROMPTS, ROLLOUTS)),
        epoch=LATE,
    )
    return frozen(with_declared_fields(cls, groups))


COUNTED = [[f"{number % 7}" for number in range(row, row + ROLLOUTS)] for row in range(PROMPTS)]
SORTED = np.random.default_rng(0).random((PROMPTS, 4 * ROLLOUTS))


def calibration():
    """Count strings and sort numbers, as methods do; return the seconds it took."""
    begun = time.process_time()
    for _ in range(4):
        assert sum(len(Counter(row)) for row in COUNTED) == 7 * PROMPTS
        np.argsort(SORTED, axis=1)
    return time.process_time() - begun


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("name", method_names())
def test_speed_of_deciding_about_512_prompts_x_64(benchmark, name):
    cls = method_class(name)
    method, groups, steps = cls(), large_step(cls), count(1)
    decide(method, groups)
    times = []

    def surfaces(step):
        return method.admit(step, method.targets(step))

    def next_step():
        times.append(calibration())
        return (replace(groups, step=next(steps), epoch=LATE),), {}

    mask = benchmark.pedantic(surfaces, setup=next_step, rounds=ROUNDS, warmup_rounds=WARM_UP)
    assert len(mask) == PROMPTS
    if benchmark.disabled:
        pytest.skip("benchmarks are disabled: nothing was measured")
    measured, slowness = benchmark.stats.stats.median, float(np.median(times)) / USUAL
    benchmark.extra_info["slowness"] = slowness
    if measured > BOUND and slowness > SLOWER:
        pytest.skip(f"the machine is {slowness:.1f} times slower than usual; measured {1000 * measured:.1f} ms")
    assert measured <= BOUND, f"{name} takes {1000 * measured:.1f} ms"
