"""Which question goes where: training pool, validation panel, benchmarks, all disjoint by the hash of the text.

The part of a question depends on its text alone, so pools, panels and benchmarks of any size never
meet. A selection is one fixed sequence per (part, families), and a smaller one is a prefix of a larger one:
results on a pool of 192 and of 1,536 differ by the added questions only.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from enum import StrEnum

from benchmark.data.micro.questions import ID_FAMILIES, LEVELS, Question, draw
from benchmark.errors import DataError


class Part(StrEnum):
    """The part of the world that a question text belongs to."""

    TRAIN = "train"
    """70%: the training pool; pre-training draws from here too."""
    PANEL = "panel"
    """10%: the validation panel."""
    BENCHMARK = "benchmark"
    """20%: the benchmarks."""


_SEEDS = {Part.TRAIN: 11, Part.PANEL: 12, Part.BENCHMARK: 13}
_MISSES = 3000  # draws without a new text after which a (family, level) counts as exhausted


def part(text: str) -> Part:
    """Return the part of a question text, by sha256 modulo 100."""
    bucket = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 100
    if bucket < 20:
        return Part.BENCHMARK
    return Part.PANEL if bucket < 30 else Part.TRAIN


def select(which: Part, families: Sequence[str], size: int) -> list[Question]:
    """Return the first `size` questions of a part, balanced over families and levels.

    Raises DataError where the part does not hold that many.
    """
    if size < 1:
        raise DataError(
            f"micro {which.value} size must be a positive number: found {size}; fix: ask for 1 or more rows"
        )
    chosen: list[Question] = []
    for question in _sequence(which, families):
        chosen.append(question)
        if len(chosen) == size:
            return chosen
    raise DataError(
        f"the micro world holds too few {which.value} questions of {', '.join(families)}: "
        f"found {len(chosen)}, wanted {size}; fix: ask for at most {len(chosen)}"
    )


def training_pool(size: int) -> list[Question]:
    """Return the training pool: `size` questions of the ID families."""
    return select(Part.TRAIN, ID_FAMILIES, size)


def validation_panel(size: int) -> list[Question]:
    """Return the validation panel: `size` questions of the ID families."""
    return select(Part.PANEL, ID_FAMILIES, size)


def benchmark_items(family: str, size: int) -> list[Question]:
    """Return the benchmark of one family: `size` questions."""
    return select(Part.BENCHMARK, (family,), size)


def _sequence(which: Part, families: Sequence[str]) -> Iterator[Question]:
    """Yield questions in rounds of three laps: a lap visits every family once, a round every (family, level)."""
    order = random.Random(5)
    seen: set[str] = set()
    streams = {
        (family, level): random.Random(f"{_SEEDS[which]}/{family}/{level}") for family in families for level in LEVELS
    }
    exhausted: set[tuple[str, int]] = set()
    while len(exhausted) < len(streams):
        for family, level in _round(families, order):
            # A small cell (one-digit tables) runs dry: then the next level of its family takes its turn.
            for cell in ((family, (level + shift) % len(LEVELS)) for shift in range(len(LEVELS))):
                question = None if cell in exhausted else _fresh(which, *cell, streams[cell], seen)
                if question is not None:
                    yield question
                    break
                exhausted.add(cell)


def _round(families: Sequence[str], order: random.Random) -> Iterator[tuple[str, int]]:
    levels = {family: order.sample(LEVELS, len(LEVELS)) for family in families}
    for lap in range(len(LEVELS)):
        for family in order.sample(families, len(families)):
            yield family, levels[family][lap]


def _fresh(which: Part, family: str, level: int, rng: random.Random, seen: set[str]) -> Question | None:
    for _ in range(_MISSES):
        question = draw(family, level, rng)
        if question.text not in seen and part(question.text) is which:
            seen.add(question.text)
            return question
    return None
