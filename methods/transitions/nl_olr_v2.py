"""NL-OLR v2: replace a stored label by a majority answer that clearly overtakes it (DE-Venus, section 2.3).

Published: the rules of OLR (arXiv 2604.03993), and the candidate's pass rate must beat the one of the label that is
stored by a margin; decisions persist between rounds. RECONSTRUCTION: every number but the slope, which is OLR's.
A relabelled item may be relabelled again: its stored label is then the one to beat.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.evaluation.equivalence import canonical, same
from methods.transitions.base import Change, ChangeKind, ProbeVisit, StoredLabel
from methods.transitions.probe_history import ProbeHistory, ols_slope, probe_histories, reaches


@dataclass(frozen=True, slots=True)
class RelabellingOptions:
    """Options of NL-OLR v2; the thresholds are reached at equality."""

    rounds: int = 6  # of training, with a probe and a transition between two
    pass_rate: float = 0.5  # least share of the newest probe's responses that give the candidate
    slope: float = 0.05  # least growth of that share per probe, over all probes
    margin: float = 0.2  # least mean lead of the candidate's share over the stored label's
    last: int = 3  # probes over which the lead is averaged, and before which nothing is relabelled

    def __post_init__(self) -> None:
        if min(self.rounds, self.last) < 1:
            raise ValueError("rounds and last: found one below 1, allowed 1 or more")


class Relabelling:
    """The decision between two rounds: which stored labels are replaced by the majority answer."""

    def __init__(self, options: RelabellingOptions) -> None:
        self.options = options

    @property
    def rounds(self) -> int:
        """How many rounds of training there are."""
        return self.options.rounds

    def decide(self, stored: Sequence[StoredLabel], probes: Sequence[Sequence[ProbeVisit]]) -> tuple[Change, ...]:
        """Relabel every item that meets all rules; items without a label or without a visit stay as they are."""
        if len(probes) < self.options.last:
            return ()
        histories = probe_histories(probes)
        found = [
            self._relabelled(item.index, item.label, histories[item.index])
            for item in sorted(stored, key=lambda item: item.index)
            if item.label is not None and item.index in histories
        ]
        return tuple(change for change in found if change is not None)

    def _relabelled(self, index: int, label: str, history: ProbeHistory) -> Change | None:
        chosen, answer = self.options, history.candidate
        if answer is None or same(answer, label) or history.usual_majority() != canonical(answer):
            return None
        rates = history.pass_rates(answer)
        leads = [rate - given for rate, given in zip(rates, history.pass_rates(label), strict=True)][-chosen.last :]
        slope, margin = ols_slope(rates), sum(leads) / len(leads)
        if not (
            reaches(rates[-1], chosen.pass_rate) and reaches(slope, chosen.slope) and reaches(margin, chosen.margin)
        ):
            return None
        return Change(index, ChangeKind.RELABELLED, answer, label, rates[-1], slope, margin)
