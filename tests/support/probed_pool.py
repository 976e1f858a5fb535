"""Probed questions for tests of active selection."""

import numpy as np

from methods.selection import build_scorer
from methods.selection.base import ProbedQuestion, uncertainties

WIDTH, LAYERS, SAMPLES = 6, 3, 8


def ask(index, answers, lengths=None, truncated=None, **evidence):
    """Build one probed question; every response has five tokens where nothing is said."""
    return ProbedQuestion(
        index=index,
        answers=tuple(answers),
        truncated=np.array([False] * len(answers) if truncated is None else truncated, dtype=bool),
        lengths=np.array([5] * len(answers) if lengths is None else lengths, dtype=np.int64),
        **evidence,
    )


def draw_pool(count, samples=SAMPLES):
    """Draw questions with all kinds of evidence; each depends on its own index only."""

    def drawn(index):
        rng = np.random.default_rng(index)
        lengths = rng.integers(20, 60, samples)

        def tokens(high):
            return tuple(rng.uniform(0, high, length).astype(np.float32) for length in lengths)

        return ask(
            index,
            [str(rng.integers(0, 4)) for _ in range(samples)],
            lengths,
            entropy=tokens(2),
            self_certainty=tokens(3),
            attention=tokens(1),
            attention_window=4,
            hidden_states=tuple(rng.normal(size=(LAYERS, WIDTH)).astype(np.float32) for _ in range(samples)),
        )

    return [drawn(1000 + 7 * i) for i in range(count)]


def score(name, questions, **options):
    """Score questions whose labels are all "1"."""
    return uncertainties(build_scorer(name, options), questions, lambda index: "1")
