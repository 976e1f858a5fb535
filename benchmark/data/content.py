"""What makes two questions the same, and the persistent id that follows from it.

Ids are derived from the content, so they survive reordering, filtering and another pool size; histories of
methods, label masks and the truth sidecar are joined on them.
"""

import hashlib
import unicodedata


def normalise_question(text: str) -> str:
    """Return the text by which duplicates are found: composed Unicode, runs of blanks as one.

    Case and compatibility characters stay: in mathematics x and X, or x2 and x squared, differ.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def content_index(question: str) -> int:
    """Return the persistent index of a question: 63 bits of the sha256 of its normalised text."""
    return int.from_bytes(hashlib.sha256(normalise_question(question).encode()).digest()[:8], "big") >> 1


def seeded_rank(purpose: str, seed: int, index: int) -> bytes:
    """Return a sort key of a row that depends on its index and the seed only.

    Taking the lowest k rows under it gives nested random subsets, whatever the order of the rows.
    """
    return hashlib.sha256(f"{purpose}/{seed}/{index}".encode()).digest()
