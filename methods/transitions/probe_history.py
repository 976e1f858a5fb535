"""The past of one item across probes: which answer led, and how often any answer was given.

Answers are compared by equivalence, and shares are of all G responses of a probe: a response without an answer
supports nothing and stays in the denominator.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.errors import MethodError
from benchmark.evaluation.equivalence import Canonical, canonical
from benchmark.evaluation.voting import vote
from methods.transitions.base import ProbeVisit

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ProbeHistory:
    """The visits of one item, oldest first."""

    counts: tuple[Counter[Canonical | None], ...]  # [K] responses per answer
    responses: tuple[int, ...]  # [K] G of each probe
    majorities: tuple[str | None, ...]  # [K] unique majority answers, None on a tie and without answers

    @property
    def candidate(self) -> str | None:
        """The majority answer of the newest probe."""
        return self.majorities[-1]

    def pass_rates(self, answer: str) -> list[float]:
        """Return the share of each probe's responses that give the answer ([K], in [0, 1])."""
        key = canonical(answer)
        return [
            count[key] / size if size and key is not None else 0.0
            for count, size in zip(self.counts, self.responses, strict=True)
        ]

    def times_majority(self, answer: str, last: int) -> int:
        """Count in how many of the `last` newest probes the answer was the majority."""
        return sum(leader is not None and canonical(leader) == canonical(answer) for leader in self.majorities[-last:])

    def usual_majority(self) -> Canonical | None:
        """Return the answer that was the majority most often; None on a tie and where no probe had one."""
        seen = Counter(canonical(leader) for leader in self.majorities if leader is not None)
        top = seen.most_common(2)
        if not top or (len(top) > 1 and top[0][1] == top[1][1]):
            return None
        return top[0][0]


def probe_histories(probes: Sequence[Sequence[ProbeVisit]]) -> dict[int, ProbeHistory]:
    """Collect the histories by index.

    Raises MethodError where a probe visits an item twice, or not all of the items that the first probe visited.
    """
    visits: list[dict[int, ProbeVisit]] = [{visit.index: visit for visit in probe} for probe in probes]
    for number, (probe, seen) in enumerate(zip(probes, visits, strict=True)):
        if len(seen) != len(probe) or seen.keys() != visits[0].keys():
            raise MethodError(
                f"probe {number}: found {len(probe)} visits of {len(seen)} items, allowed one visit of each of the "
                f"{len(visits[0])} items of probe 0; fix: probe the whole pool after every round"
            )
    return {index: _history([seen[index].answers for seen in visits]) for index in (visits[0] if visits else ())}


def ols_slope(values: Sequence[float]) -> float:
    """Return the least-squares slope of values against 0, 1, 2, ...; 0 for fewer than two."""
    mean_at, mean = (len(values) - 1) / 2, sum(values) / max(len(values), 1)
    spread = sum((at - mean_at) ** 2 for at in range(len(values)))
    if spread == 0:
        return 0.0
    return sum((at - mean_at) * (value - mean) for at, value in enumerate(values)) / spread


def reaches(value: float, threshold: float) -> bool:
    """Say whether a value is at or above a threshold, up to the rounding of sums of shares."""
    return value >= threshold - _ROUNDING


def _history(answers: Sequence[Sequence[str | None]]) -> ProbeHistory:
    return ProbeHistory(
        counts=tuple(Counter(map(canonical, given)) for given in answers),
        responses=tuple(map(len, answers)),
        majorities=tuple(vote(given).winner for given in answers),
    )
