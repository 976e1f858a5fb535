"""Options of multiple-choice items: their letters, their order, and how a prompt lists them."""

import hashlib
from collections.abc import Sequence
from string import ascii_uppercase

from benchmark.data.content import normalise_question


def letter(position: int) -> str:
    """Return the letter of the option at a position, 0 for A."""
    return ascii_uppercase[position]


def permutation(item_id: str, choices: Sequence[str]) -> tuple[int, ...]:
    """Return the order in which to show options, as positions in `choices`.

    It follows from the id of the item and the texts alone: no random generator and no order of a file enters, so that
    stored answers can be graded again, and the right option stands everywhere equally often.
    """

    def rank(position: int) -> tuple[str, int]:
        text = f"{item_id}\n{normalise_question(choices[position])}"
        return hashlib.sha256(text.encode()).hexdigest(), position

    return tuple(sorted(range(len(choices)), key=rank))


def list_options(choices: Sequence[str]) -> str:
    """Write options one a line, as `A) first`."""
    return "\n".join(f"{letter(position)}) {choice}" for position, choice in enumerate(choices))
