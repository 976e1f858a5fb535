"""Stop strings: where a response ends because of what it says.

A stop string may begin inside one token and end inside another, so it is looked for in text. While a batch is
sampled only the last few tokens of a row are decoded, as many as the longest stop string can span.
"""

from collections.abc import Callable, Collection, Sequence

_BYTES_PER_CHARACTER = 4  # of UTF-8 at most; a token that is not special holds at least one byte
_MARGIN = 4  # tokens, since a tail may begin in the middle of a character


def cut_at_stop(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """Return the text before the first stop string, and whether there was one."""
    found = [position for position in map(text.find, stop) if position >= 0]
    return (text[: min(found)], True) if found else (text, False)


class StopWatch:
    """Watches the rows of a batch as they grow, and says which have just completed a stop string."""

    def __init__(
        self, stop: Sequence[str], decode: Callable[[Sequence[int]], str], special_ids: Collection[int], rows: int
    ) -> None:
        self._stop, self._decode, self._special = tuple(stop), decode, frozenset(special_ids)
        self._tail = _BYTES_PER_CHARACTER * max(map(len, stop)) + _MARGIN
        self._ids: list[list[int]] = [[] for _ in range(rows)]

    def ended(self, rows: Sequence[int], tokens: Sequence[int]) -> list[bool]:
        """Append one token to each of `rows` and say for each whether it is complete, in the same order."""
        return [self._append(row, token) for row, token in zip(rows, tokens, strict=True)]

    def _append(self, row: int, token: int) -> bool:
        if token in self._special:
            return False
        ids = self._ids[row]
        ids.append(token)
        del ids[: -self._tail]
        tail = self._decode(ids)
        return any(stop in tail for stop in self._stop)
