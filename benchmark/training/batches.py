"""Which rows make a batch, where plain shuffling does not do: paraphrases together, a fixed labelled share.

verl's own sampler shuffles single rows, and is used wherever it suffices. This one deals units (a row, or a row
with its paraphrase) from one deck, or from a labelled and an unlabelled deck, in a fixed proportion. A deck
that cannot fill its part of a batch is shuffled anew and its rest left out, so no batch has a row twice. The
order depends on the seed alone, so that a resumed run only has to skip what it has seen.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmark.errors import DataError


@dataclass(frozen=True, slots=True)
class Row:
    """What a batch needs to know of a training row."""

    index: int
    labelled: bool
    pair: int  # index of its paraphrase, -1 where there is none


class BatchSampler:
    """An endless sequence of row positions; each `prompts` of them make a batch."""

    def __init__(self, rows: Sequence[Row], prompts: int, labelled_share: float, seed: int) -> None:
        units = _units(rows)
        size = max(map(len, units))
        if prompts % size:
            raise DataError(f"a batch of {prompts} prompts cannot hold pairs; fix: set train.prompts to an even number")
        self._seed = seed
        self._decks = _decks(rows, units, prompts // size, labelled_share)

    def __iter__(self) -> Iterator[int]:
        dealt = [_deal(deck, count, f"{self._seed}/{name}") for name, deck, count in self._decks]
        while True:
            for hands in dealt:
                for unit in next(hands):
                    yield from unit


def _units(rows: Sequence[Row]) -> list[tuple[int, ...]]:
    """Group row positions into units; a pair is listed once, at its first row."""
    position = {row.index: i for i, row in enumerate(rows)}
    units: list[tuple[int, ...]] = []
    for i, row in enumerate(rows):
        if row.pair == -1:
            units.append((i,))
        elif i < position[row.pair]:
            units.append((i, position[row.pair]))
    if len({len(unit) for unit in units}) > 1:
        raise DataError("found rows with and without a paraphrase in one training set; fix: pair all or none")
    return units


def _decks(
    rows: Sequence[Row], units: list[tuple[int, ...]], count: int, labelled_share: float
) -> list[tuple[str, list[tuple[int, ...]], int]]:
    """Return (name, units, units per batch) of each deck."""
    if not labelled_share:
        return [("all", units, count)]
    labelled = round(labelled_share * count)
    parts = (
        ("labelled", [unit for unit in units if rows[unit[0]].labelled], labelled),
        ("unlabelled", [unit for unit in units if not rows[unit[0]].labelled], count - labelled),
    )
    for name, deck, wanted in parts:
        if wanted > len(deck):
            raise DataError(
                f"a batch asks for {wanted} {name} units: found {len(deck)}; fix: change train.labelled_share"
            )
    return [part for part in parts if part[2]]


def _deal(deck: list[tuple[int, ...]], count: int, seed: str) -> Iterator[list[tuple[int, ...]]]:
    lap = 0
    while True:
        order = random.Random(f"{seed}/{lap}").sample(deck, len(deck))
        for start in range(0, len(order) - count + 1, count):
            yield order[start : start + count]
        lap += 1
