"""Which layers tell correct from incorrect rollouts, and how correct a rollout looks in them.

RECONSTRUCTION of GeoMin's representation separation (arXiv 2606.04516): per layer, hidden states are
centred on the bank, scaled to length 1 and modelled by one von Mises-Fisher distribution per class; a layer is
as good as the AUROC of the log-likelihood ratio on questions that it was not fitted on.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.feature_bank import BankRows
from methods.von_mises_fisher import Ratio, fit_ratio


@dataclass(frozen=True, slots=True)
class LayerFit:
    """One layer, fitted on the bank."""

    layer: int
    auroc: float  # on held-out questions; NaN where a half of them lacks a class
    centre: NDArray[np.float32]  # [d]
    ratio: Ratio
    mean: float  # of the ratio on the bank
    spread: float  # its standard deviation

    def score(self, states: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the standardised log-likelihood ratio of hidden states [N, d]."""
        return (self.ratio(unit_vectors(states, self.centre)) - self.mean) / self.spread


def fit_layers(bank: BankRows, centred: bool = True, shared_kappa: bool = True) -> list[LayerFit]:
    """Fit every layer on a bank that has both classes."""
    questions = np.unique(bank.index)
    first_half = np.searchsorted(questions, bank.index) % 2 == 0
    return [
        _fit_layer(layer, bank.features[:, layer], bank.correct, first_half, centred, shared_kappa)
        for layer in range(bank.features.shape[1])
    ]


def _fit_layer(
    layer: int,
    states: NDArray[np.float32],
    correct: NDArray[np.bool_],
    first_half: NDArray[np.bool_],
    centred: bool,
    shared_kappa: bool,
) -> LayerFit:
    def fit(rows: NDArray[np.bool_]) -> tuple[NDArray[np.float32], Ratio]:
        mean = states[rows].mean(axis=0, dtype=np.float64) if centred else np.zeros(states.shape[1])
        centre = mean.astype(np.float32)
        return centre, fit_ratio(unit_vectors(states[rows], centre), correct[rows], shared_kappa)

    def held_out_auroc(rows: NDArray[np.bool_]) -> float:
        centre, ratio = fit(rows)
        return auroc(ratio(unit_vectors(states[~rows], centre)), correct[~rows])

    halves = (first_half, ~first_half)
    scored = all(_has_both(correct[half]) for half in halves)
    centre, ratio = fit(np.ones(len(states), dtype=np.bool_))
    on_bank = ratio(unit_vectors(states, centre))
    return LayerFit(
        layer=layer,
        auroc=float(np.mean([held_out_auroc(half) for half in halves])) if scored else float("nan"),
        centre=centre,
        ratio=ratio,
        mean=float(on_bank.mean()),
        spread=float(on_bank.std()) or 1.0,
    )


def _has_both(correct: NDArray[np.bool_]) -> bool:
    return bool(correct.any() and not correct.all())


def best_layers(fits: list[LayerFit], most: int, least_auroc: float) -> list[LayerFit]:
    """Return at most `most` layers with an AUROC above `least_auroc`, the best first."""
    good = [fit for fit in fits if fit.auroc > least_auroc]
    return sorted(good, key=lambda fit: (-fit.auroc, fit.layer))[:most]


def unit_vectors(states: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.float32]:
    """Centre states [n, d] and scale them to length 1; a state at the centre stays 0."""
    moved = states - centre
    lengths = np.sqrt(np.einsum("nd,nd->n", moved, moved))
    moved /= np.where(lengths > 0, lengths, 1)[:, None]
    return moved


def auroc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: how often a positive outscores a negative, ties counted half.

    Mann-Whitney U over the number of pairs. Both classes must be present.
    """
    ordered = np.sort(scores[~positive])
    below, up_to = (
        np.searchsorted(ordered, scores[positive], "left"),
        np.searchsorted(ordered, scores[positive], "right"),
    )
    return float((below + up_to).mean() / (2 * len(ordered)))
