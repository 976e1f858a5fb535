"""The majority answer of all responses, judged one question at a time: what the vectorised maj@n is held against."""

from collections.abc import Sequence

from benchmark.evaluation.equivalence import same
from benchmark.evaluation.voting import cluster


def majority_correctness(answers: Sequence[str | None], gold: str) -> float:
    """Return the expected correctness of the majority answer, ties split evenly, in [0, 1].

    With two clusters tied at the top and one of them correct it is 0.5; without answers it is 0.
    """
    clusters = cluster(answers)
    if not clusters:
        return 0.0
    leaders = [item for item in clusters if item.votes == clusters[0].votes]
    return sum(same(item.answer, gold) for item in leaders) / len(leaders)
