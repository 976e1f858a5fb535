"""A benchmark item and its identity.

The id says which question it is, whatever the order of rows or options; the content hash of a benchmark also
covers every character that is rendered into a prompt, and the golds, so that a corrected or corrupted one is another
benchmark.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmark.data.content import normalise_question
from benchmark.stage import digest


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a benchmark; the gold of a multiple-choice item is a letter."""

    source_id: str
    question: str
    gold: str
    choices: tuple[str, ...] | None = None
    tolerance: str | None = None  # absolute, as the source writes it
    occurrence: int = 1  # 2 for an item that the published file repeats, ...


def item_id(benchmark: str, question: str, choices: Sequence[str] = (), occurrence: int = 1) -> str:
    """Return the id of an item: 16 hexadecimal characters of the sha256 of its benchmark, text and options."""
    text = "\n".join([benchmark, normalise_question(question), *sorted(map(normalise_question, choices))])
    if occurrence > 1:
        text += f"\n#{occurrence}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def content_hash(benchmark: str, items: Iterable[Item]) -> str:
    """Return the sha256 over the sorted hashes of the items: question, options in order, gold, tolerance.

    Texts are hashed as they stand, blanks and line separators included, because they stand so in the prompt. The
    instruction around them is code, and is covered by the version of the stage.
    """
    return digest(
        sorted(
            digest(
                [
                    benchmark,
                    item.question,
                    None if item.choices is None else list(item.choices),
                    item.gold,
                    item.tolerance,
                    item.occurrence,
                ]
            )
            for item in items
        )
    )
