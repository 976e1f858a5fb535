"""TraPO: unlabelled items are trained on once their pass rates develop like those of labelled items (arXiv 2512.13106).

Every item has a trajectory: its pass rate at each visit, against the given label or, without one, against
the majority answer of that visit. During the warm-up only labelled items are trained on. Afterwards an
unlabelled item is admitted where its trajectory correlates with the labelled ones: among the best `top_p` of
the batch, or with a score of at least `gamma`. Its target is this visit's majority; nothing is kept as a label.

Follows the authors' verl code (ShenzhiYang2000/TRAPO). Deliberate differences, all where that code
raises or is undefined: without labelled trajectories, with fewer than two common visits or with a history
shorter than they, nothing unlabelled is admitted. It cannot select anything without labelled items, so a
label ratio of 0 is refused before it runs rather than ending in an untrained model.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from methods.base import LabelNeed, Method, Module
from methods.groups import RolloutGroups, Targets, TargetSource
from methods.history import Histories, visits
from methods.pseudo_labels import majority_targets
from methods.trajectories import consistency

_FORMS: Final = ("centred", "uncentred")


@dataclass(frozen=True, slots=True)
class TraPOOptions:
    """Options of TraPO; the defaults are those of the authors' verl code."""

    warm_up: int = 8  # passes over the training rows with labelled items only
    top_p: float = 0.1  # share of a batch's unlabelled items that is admitted whatever its score, at least one item
    gamma: float = 0.4  # score from which an item is admitted in any case
    tcs: str = "centred"  # form of the trajectory consistency score: "centred" or "uncentred"
    update_db: bool = False  # whether admitted items count as reliable for the rest of the pass

    def __post_init__(self) -> None:
        if self.warm_up < 0:
            raise ValueError(f"warm_up: found {self.warm_up}, allowed 0 or more")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p: found {self.top_p}, allowed (0, 1]")
        if not math.isfinite(self.gamma):
            raise ValueError(f"gamma: found {self.gamma}, allowed a number; above 1 it admits nothing by score")
        if self.tcs not in _FORMS:
            raise ValueError(f"tcs: found {self.tcs!r}, allowed {', '.join(_FORMS)}")


class TraPO(Method):
    """Admission by the likeness of pass-rate trajectories."""

    name = "trapo"
    summary = "admits unlabelled items whose pass rates develop like those of labelled items"
    module = Module.REFINEMENT
    paper = "2512.13106"
    label_need = LabelNeed.REQUIRED
    stateful = True
    Options = TraPOOptions
    options: TraPOOptions

    def __init__(self, options: TraPOOptions | None = None) -> None:
        super().__init__(options)
        self._labelled: Histories[float] = Histories()
        self._unlabelled: Histories[float] = Histories()
        self._trusted: set[int] = set()  # unlabelled items that count as reliable in this pass

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the majority of this visit; adds a pass rate to every trajectory."""
        seen = visits(groups)
        targets = majority_targets(groups, [seen[index].answers for index in groups.index.tolist()])
        for i, index in enumerate(groups.index.tolist()):
            if groups.labelled[i]:
                self._labelled.append(index, groups.step, seen[index].pass_rate(groups.labels[i]))
            else:
                agreed = targets.sources[i] is TargetSource.PSEUDO  # a tie is matched by nothing: pass rate 0
                self._unlabelled.append(index, groups.step, float(targets.confidence[i]) if agreed else 0.0)
        if not self._trusted.isdisjoint(groups.index.tolist()):  # an item returns: a new pass has begun
            self._trusted.clear()
        return targets

    def admit(self, groups: RolloutGroups, targets: Targets) -> NDArray[np.bool_]:
        """Labelled items always; after the warm-up also the unlabelled items with a reliable trajectory."""
        if groups.epoch < self.options.warm_up:
            return groups.labelled.copy()
        chosen = self._reliable(sorted({int(index) for index in groups.index[~groups.labelled]}))
        if self.options.update_db:
            self._trusted.update(chosen)
        return groups.labelled | np.isin(groups.index, np.array(chosen, dtype=np.int64))

    def _reliable(self, candidates: Sequence[int]) -> list[int]:
        """Select the items with the highest scores, and those that reach gamma."""
        database = [self._labelled[index] for index in self._labelled]
        database += [self._unlabelled[index] for index in sorted(self._trusted)]
        queries = [self._unlabelled[index] for index in candidates]
        scores = consistency(queries, database, centred=self.options.tcs == "centred")
        scored = [k for k in range(len(candidates)) if not math.isnan(scores[k])]
        ranked = sorted(scored, key=lambda k: (-scores[k], candidates[k]))
        places = max(1, math.floor(self.options.top_p * len(candidates) + 1e-9))  # .29 * 100 is below 29
        return [candidates[k] for place, k in enumerate(ranked) if place < places or scores[k] >= self.options.gamma]

    def state_dict(self) -> Mapping[str, Any]:
        """Return both sets of trajectories, and the items that are trusted in the current pass."""
        return {
            "labelled": self._labelled.as_state(),
            "unlabelled": self._unlabelled.as_state(),
            "trusted": sorted(self._trusted),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the trajectories."""
        self._labelled = Histories.from_state(state["labelled"])
        self._unlabelled = Histories.from_state(state["unlabelled"])
        self._trusted = set(state["trusted"])
