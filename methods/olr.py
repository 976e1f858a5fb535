"""OLR: a given label is replaced while its item's majority answer is rising and stable (arXiv 2604.03993).

Each visit of a labelled item adds the share p of its majority answer, and that answer, to its history. After
`start_epoch`, an item whose p rises by at least `delta` per visit, and whose majority answer is also the
most frequent one of its history, is trained on that answer at this visit. The decision is taken anew at each
visit and never stored; no item is dropped. Unlabelled items have no label to refine: they get no target.

Follows the authors' code (ShenzhiYang2000/OLR), which reaches the threshold with >= where the paper's text
has >. A tied vote enters the history as the same "no answer" each time and may thus outnumber every
answer, but, unlike there, it is never taken for a match.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.evaluation.equivalence import same
from benchmark.evaluation.voting import cluster
from methods.base import LabelNeed, Method, Module, given_targets
from methods.groups import RolloutGroups, Targets, TargetSource
from methods.history import Histories, visits
from methods.trajectories import SHORTEST, slope


@dataclass(frozen=True, slots=True)
class OLROptions:
    """Options of OLR; the defaults are those of the authors' code."""

    start_epoch: int = 4  # 0-based pass after which labels are refined: 4 starts in the sixth pass
    delta: float = 0.05  # least rise of the majority's share per visit
    min_history: int = 2  # visits below which no label is replaced

    def __post_init__(self) -> None:
        if not math.isfinite(self.delta):
            raise ValueError(f"delta: found {self.delta}, allowed a number")
        if self.min_history < SHORTEST:
            raise ValueError(
                f"min_history: found {self.min_history}, allowed {SHORTEST} or more: one visit has no slope"
            )


class OLR(Method):
    """Online refinement of labels that may be wrong."""

    name = "olr"
    summary = "replaces a given label while the majority answer is rising and stable"
    module = Module.REFINEMENT
    paper = "2604.03993"
    label_need = LabelNeed.REQUIRED
    refines_labels = True
    stateful = True
    Options = OLROptions
    options: OLROptions

    def __init__(self, options: OLROptions | None = None) -> None:
        super().__init__(options)
        self._shares: Histories[float] = Histories()
        self._majorities: Histories[str | None] = Histories()

    def targets(self, groups: RolloutGroups) -> Targets:
        """Majority answer where the history speaks for it, else the given label; adds a visit to the histories."""
        refined = self._visit(groups)
        given = given_targets(groups)
        values, sources = list(given.values), list(given.sources)
        confidence = given.confidence.copy()
        for i, index in enumerate(groups.index.tolist()):
            if groups.labelled[i] and index in refined:
                answer, share = refined[index]
                if not same(answer, groups.labels[i]):
                    values[i], sources[i], confidence[i] = answer, TargetSource.REFINED, share
        return Targets(tuple(values), tuple(sources), confidence)

    def _visit(self, groups: RolloutGroups) -> dict[int, tuple[str, float]]:
        """Enter the visits into the histories; return the answers to train on, with their shares."""
        refined: dict[int, tuple[str, float]] = {}
        for index, visit in visits(groups).items():
            if not visit.labelled:
                continue
            outcome = visit.vote()
            self._shares.append(index, groups.step, 0.0 if outcome.winner is None else outcome.share)
            self._majorities.append(index, groups.step, outcome.winner)
            if outcome.winner is not None and groups.epoch > self.options.start_epoch and self._trusts(index):
                refined[index] = (outcome.winner, outcome.share)
        return refined

    def _trusts(self, index: int) -> bool:
        shares, majorities = self._shares[index], self._majorities[index]
        return (
            len(shares) >= self.options.min_history
            and slope(shares) >= self.options.delta
            and same(most_frequent(majorities), majorities[-1])
        )

    def state_dict(self) -> Mapping[str, Any]:
        """Return the shares and the majority answers of every labelled item."""
        return {"shares": self._shares.as_state(), "majorities": self._majorities.as_state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the histories."""
        self._shares = Histories.from_state(state["shares"])
        self._majorities = Histories.from_state(state["majorities"])


def most_frequent(majorities: tuple[str | None, ...]) -> str | None:
    """Return the answer that was the majority in more visits than any other, visits without a majority included.

    Answers that are the same count together; None where there is no such answer.
    """
    clusters = cluster(majorities)
    rivals = [item.votes for item in clusters[1:2]] + [majorities.count(None)]
    return clusters[0].answer if clusters and clusters[0].votes > max(rivals) else None
