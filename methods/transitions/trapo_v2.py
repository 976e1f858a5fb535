"""TraPO v2: promote unlabelled items whose majority answer is frequent, growing and stable (DE-Venus, section 2.3).

Published: after a warm-up on labels only, probe passes over the pool promote an unlabelled item if its current
majority answer has a high enough pass rate, a positive trend and a stable history. RECONSTRUCTION: every number. An
answer that all responses give from the first probe on has no growth and is never promoted at the default slope.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from methods.transitions.base import Change, ChangeKind, ProbeVisit, StoredLabel
from methods.transitions.probe_history import ProbeHistory, ols_slope, probe_histories, reaches


@dataclass(frozen=True, slots=True)
class PromotionOptions:
    """Options of TraPO v2; the thresholds are reached at equality."""

    rounds: int = 6  # of training, with a probe and a transition between two
    pass_rate: float = 0.6  # least share of the newest probe's responses that give the majority answer
    slope: float = 0.02  # least growth of that share per probe
    last: int = 4  # probes over which slope and stability are taken
    same_majority: int = 3  # of these probes in which the answer must have been the majority
    min_probes: int = 3  # before anything is promoted
    cap: float = 0.1  # of the pool, promoted per round at most

    def __post_init__(self) -> None:
        if min(self.rounds, self.last, self.same_majority, self.min_probes) < 1:
            raise ValueError("rounds, last, same_majority and min_probes: found one below 1, allowed 1 or more")
        if self.same_majority > self.last:
            raise ValueError(f"same_majority: found {self.same_majority}, allowed up to last = {self.last}")
        if not 0 < self.cap <= 1:
            raise ValueError(f"cap: found {self.cap}, allowed above 0, up to 1")


class Promotion:
    """The decision between two rounds: which unlabelled items get their majority answer as a label, for good."""

    def __init__(self, options: PromotionOptions) -> None:
        self.options = options

    @property
    def rounds(self) -> int:
        """How many rounds of training there are."""
        return self.options.rounds

    def decide(self, stored: Sequence[StoredLabel], probes: Sequence[Sequence[ProbeVisit]]) -> tuple[Change, ...]:
        """Promote at most `cap` of the probed items, the highest pass rate first, then slope, then lowest index.

        A probed item that is not stored counts as unlabelled; one that is stored with a label stays as it is.
        """
        if len(probes) < self.options.min_probes:
            return ()
        labelled = {item.index for item in stored if item.label is not None}
        histories = probe_histories(probes)
        found = [self._promoted(index, history) for index, history in histories.items() if index not in labelled]
        ranked = sorted(
            (change for change in found if change is not None),
            key=lambda change: (-change.pass_rate, -change.slope, change.index),
        )
        limit = max(1, int(self.options.cap * len(histories) + 1e-9))
        return tuple(sorted(ranked[:limit], key=lambda change: change.index))

    def _promoted(self, index: int, history: ProbeHistory) -> Change | None:
        chosen, answer = self.options, history.candidate
        if answer is None or history.times_majority(answer, chosen.last) < chosen.same_majority:
            return None
        rates = history.pass_rates(answer)
        slope = ols_slope(rates[-chosen.last :])
        if not (reaches(rates[-1], chosen.pass_rate) and reaches(slope, chosen.slope)):
            return None
        return Change(index, ChangeKind.PROMOTED, answer, None, rates[-1], slope, float("nan"))
