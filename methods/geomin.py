"""GeoMin: a majority answer is trusted as far as its rollouts look correct in the hidden states (arXiv 2606.04516).

RECONSTRUCTION. Published are the outline and the results, not the formulas: labelled rollouts of the current
policy show how correct and incorrect ones lie in each layer (von Mises-Fisher distributions); the layers that
separate them best are chosen; an unlabelled group whose majority looks correct and whose minority looks incorrect
is reliable; a mixture of two Gaussians splits reliable from unreliable groups. Everything else is this
project's choice, and an option wherever it is a number.

Acts on advantages alone: the weight of an unlabelled group is 0 (filtered), its reliability (ambiguous) or
1. Without enough labelled rollouts, recent groups or a layer that separates, only labelled items are trained on.
The bank that decides includes this step's labelled rollouts, since it should describe the policy that
produced the unlabelled ones. Pooling and candidate layers are the engine's: the mean over the response of
every second layer from a quarter of the depth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import MethodError
from benchmark.evaluation.equivalence import same
from methods.affinity import RecentAffinities, group_affinity
from methods.base import LabelNeed, Method, Module, SourceConfidence
from methods.feature_bank import BankRows, FeatureBank, StepFeatures, step_features
from methods.groups import Evidence, EvidenceKind, NoTarget, RolloutGroups, Targets, TargetSource
from methods.hidden_geometry import LayerFit, best_layers, fit_layers
from methods.mixture import percentile_ranks, reliability
from methods.pseudo_labels import majority_targets


@dataclass(frozen=True, slots=True)
class GeoMinOptions:
    """Options of GeoMin; every default is this project's choice."""

    centred: bool = True  # subtract the bank's mean: hidden states lie in a narrow cone
    bank_steps: int = 8  # steps whose labelled rollouts are kept
    bank_rows: int = 4096  # labelled rollouts that are kept at most
    boundary_focus: bool = True  # fit on groups with both outcomes, which removes the question as a confounder
    shared_kappa: bool = True  # one concentration for both classes
    max_layers: int = 4  # layers that are used at most
    min_auroc: float = 0.55  # a layer is used above this AUROC on held-out questions
    affinity_steps: int = 4  # steps whose unlabelled groups the mixture is fitted to
    mixture: bool = True  # False: percentile rank instead of the mixture
    variance_floor: float = 1e-3  # added to the variances of the mixture
    separation: float = 1.0  # distance of its means, in sqrt(v1 + v2), from which there are two modes
    admit_from: float = 0.5  # reliability from which a group is trained on
    full_from: float = 0.8  # reliability from which its weight is 1 instead of the reliability
    min_class: int = 32  # correct, and incorrect, rollouts that the bank needs
    min_affinities: int = 64  # recent unlabelled groups that the mixture needs
    seed: int = 0  # of the mixture's start

    def __post_init__(self) -> None:
        counts = ("bank_steps", "bank_rows", "max_layers", "affinity_steps", "min_class", "min_affinities")
        for name in counts:
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: found {getattr(self, name)}, allowed 1 or more")
        for name in ("min_auroc", "admit_from", "full_from"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}: found {getattr(self, name)}, allowed [0, 1]")
        for name in ("variance_floor", "separation"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name}: found {getattr(self, name)}, allowed above 0")


class GeoMin(Method):
    """Advantage weights from the hidden geometry of correctness."""

    name = "geomin"
    summary = "weighs majority labels by how correct their rollouts look in the hidden states"
    module = Module.REFINEMENT
    paper = "2606.04516"
    confidence = SourceConfidence.RECONSTRUCTION
    label_need = LabelNeed.REQUIRED
    evidence = frozenset({EvidenceKind.HIDDEN_STATES})
    stateful = True
    Options = GeoMinOptions
    options: GeoMinOptions

    def __init__(self, options: GeoMinOptions | None = None) -> None:
        super().__init__(options)
        self._bank = FeatureBank(self.options.bank_steps, self.options.bank_rows)
        self._recent = RecentAffinities(self.options.affinity_steps)

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the majority answer, else no target."""
        self.report = {}
        return majority_targets(groups)

    def advantages(
        self, groups: RolloutGroups, advantages: NDArray[np.float64], evidence: Evidence
    ) -> NDArray[np.float64]:
        """Weigh labelled groups 1, unlabelled ones by their reliability ([B])."""
        if evidence.hidden_states is None:
            raise MethodError("method 'geomin' needs hidden states: found none; fix: have the engine compute them")
        targets = majority_targets(groups)
        hits = _hits(groups, targets)
        found = step_features(groups, evidence.hidden_states)
        self._bank.add(groups, found, hits)
        weights = groups.labelled.astype(np.float64)
        layers = self._layers()
        if layers and len(found.row):
            scores = np.mean([fit.score(found.values[:, fit.layer]) for fit in layers], axis=0)
            voted = np.array([source is TargetSource.PSEUDO for source in targets.sources], dtype=np.bool_)
            self._weigh(groups, found, np.where(voted, group_affinity(scores, found, hits), np.nan), weights)
        self._summarise(groups, weights)
        return weights

    def _layers(self) -> list[LayerFit]:
        """Return the layers that separate the bank's classes; none where the bank is too small."""
        bank = self._fitting_rows()
        if bank.smaller_class() < self.options.min_class:
            return []
        fits = fit_layers(bank, self.options.centred, self.options.shared_kappa)
        usable = best_layers(fits, self.options.max_layers, self.options.min_auroc)
        self.report |= {f"auroc_of_layer_{fit.layer}": fit.auroc for fit in fits if np.isfinite(fit.auroc)}
        self.report["chosen_layers"] = float(len(usable))
        return usable

    def _fitting_rows(self) -> BankRows:
        """Return the rollouts of groups with both outcomes, or all where those are too few."""
        rows = self._bank.rows
        boundary = rows[rows.mixed]
        focused = self.options.boundary_focus and boundary.smaller_class() >= self.options.min_class
        return boundary if focused else rows

    def _weigh(
        self,
        groups: RolloutGroups,
        found: StepFeatures,
        affinity: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> None:
        """Remember the affinities ([B], NaN where there is none) and set the weights of their groups."""
        known = np.isfinite(affinity)
        new = known & found.first
        self._recent.add(groups.step, groups.index[new], affinity[new])
        if not known.any() or len(self._recent.values) < self.options.min_affinities:
            return
        trust = self._reliability(affinity[known])
        weight = np.where(trust >= self.options.full_from, 1.0, trust)
        weights[known] = np.where(trust >= self.options.admit_from, weight, 0.0)

    def _reliability(self, affinity: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.options.mixture:
            return percentile_ranks(self._recent.values, affinity)
        options = self.options
        trust, bimodal = reliability(
            self._recent.values, affinity, options.variance_floor, options.separation, options.seed
        )
        self.report["two_modes"] = float(bimodal)
        return trust

    def _summarise(self, groups: RolloutGroups, weights: NDArray[np.float64]) -> None:
        rows, unlabelled = self._bank.rows, ~groups.labelled
        self.report |= {
            "bank_rollouts": float(len(rows)),
            "bank_correct": float(rows.correct.sum()),
            "bank_boundary_rollouts": float(rows.mixed.sum()),
            "recent_groups": float(len(self._recent.values)),
        }
        if unlabelled.any():
            self.report["admitted_unlabelled_share"] = float((weights[unlabelled] > 0).mean())

    def state_dict(self) -> Mapping[str, Any]:
        """Return the bank and the recent affinities, as arrays."""
        return {**self._bank.as_state(), **self._recent.as_state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the bank and the recent affinities."""
        self._bank.restore(state)
        self._recent.restore(state)


def _hits(groups: RolloutGroups, targets: Targets) -> NDArray[np.bool_]:
    """Say which answers equal the target of their prompt, [B, G]; each distinct answer is compared once."""
    hits = np.zeros(groups.lengths.shape, dtype=np.bool_)
    for i, (target, answers) in enumerate(zip(targets.values, groups.answers, strict=True)):
        if not isinstance(target, NoTarget):
            equal = {answer: same(answer, target) for answer in set(answers)}
            hits[i] = [equal[answer] for answer in answers]
    return hits
