"""Which rows are labelled: nested across ratios, and the same for all methods of a seed.

So two cells that differ in the method or in the ratio differ in nothing else (common random numbers).
"""

from collections.abc import Sequence

from benchmark.data.content import seeded_rank
from benchmark.errors import DataError


def labelled_indices(indices: Sequence[int], ratio: float, seed: int) -> frozenset[int]:
    """Choose exactly round(ratio * N) rows of N by their persistent index.

    Raises DataError for a ratio outside [0, 1].
    """
    return lowest_share("label", indices, ratio, seed)


def lowest_share(purpose: str, indices: Sequence[int], ratio: float, seed: int) -> frozenset[int]:
    """Choose the round(ratio * N) rows that rank lowest for a purpose and seed."""
    if not 0 <= ratio <= 1:
        raise DataError(f"{purpose} ratio: found {ratio}, allowed 0 to 1; fix: correct the suite")
    ranked = sorted(indices, key=lambda index: seeded_rank(purpose, seed, index))
    return frozenset(ranked[: round(ratio * len(ranked))])
