"""Scorers on the path that a response's mean hidden state takes through the layers.

With h_0 the embeddings and h_l the state after layer l, each averaged over the response:

* CoE (Chain-of-Embedding, arXiv 2410.13640): magnitude and angle of every layer's move, each relative to the whole
  path; a response with large moves and small turns is more often correct, so uncertainty is minus CoE.
* CoT-Kinetics-like: RECONSTRUCTION. The equation of arXiv 2505.13408 was not available; DE-Venus describes it as
  semantic momentum plus curvature energy across layers, and that is what is built here, with the weight 1.

Degenerate paths are legal: a term whose normaliser vanishes (the path ends where it began) counts 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError
from methods.base import SourceConfidence
from methods.groups import EvidenceKind
from methods.selection.base import ProbedQuestion, ResponseScorer

_VANISHING = 1e-6  # below it, a ratio of lengths or of angles (radians) would be one of rounding errors


def magnitudes(states: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return |h_{l+1} - h_l| / |h_L - h_0| ([L]) for states [L+1, D]."""
    path = np.asarray(states, dtype=np.float64)
    return _relative(np.linalg.norm(np.diff(path, axis=0), axis=1), float(np.linalg.norm(path[-1] - path[0])))


def angles(states: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return angle(h_{l+1}, h_l) / angle(h_L, h_0) ([L]) for states [L+1, D]."""
    path = np.asarray(states, dtype=np.float64)
    return _relative(angle_between(path[1:], path[:-1]), float(angle_between(path[-1:], path[:1])[0]))


def angle_between(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angle in radians between the rows of [n, D] and [n, D]; 0 beside a zero vector."""
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosine = np.divide((a * b).sum(axis=1), norms, out=np.ones(len(a)), where=norms > 0)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)), dtype=np.float64)


def coe_r(states: NDArray[np.floating]) -> float:
    """Return CoE in real space: mean magnitude minus mean angle."""
    return float(magnitudes(states).mean() - angles(states).mean())


def coe_c(states: NDArray[np.floating]) -> float:
    """Return CoE in complex space: |mean of magnitude * exp(i * angle)|."""
    return float(np.abs((magnitudes(states) * np.exp(1j * angles(states))).mean()))


def kinetic_energy(states: NDArray[np.floating], curvature: float) -> float:
    """Return mean momentum^2 / |h_L - h_0|^2 - curvature * mean angle between successive moves (RECONSTRUCTION)."""
    moves = np.diff(np.asarray(states, dtype=np.float64), axis=0)
    turns = angle_between(moves[1:], moves[:-1]) if len(moves) > 1 else np.zeros(1)
    return float(np.square(magnitudes(states)).mean() - curvature * turns.mean())


class CoER(ResponseScorer):
    """Minus CoE-R."""

    name = "coe_r"
    summary = "chain of embedding, real space"
    paper = "2410.13640"
    evidence = frozenset({EvidenceKind.HIDDEN_STATES})

    def response(self, question: ProbedQuestion, sample: int) -> float:
        """Return -CoE-R of the response's path."""
        return -coe_r(_path(question, sample))


class CoEC(ResponseScorer):
    """Minus CoE-C."""

    name = "coe_c"
    summary = "chain of embedding, complex space"
    paper = "2410.13640"
    evidence = frozenset({EvidenceKind.HIDDEN_STATES})

    def response(self, question: ProbedQuestion, sample: int) -> float:
        """Return -CoE-C of the response's path."""
        return -coe_c(_path(question, sample))


@dataclass(frozen=True, slots=True)
class CoTKineticsOptions:
    """Options of the CoT-Kinetics-like score."""

    curvature: float = 1.0  # weight of the mean turn, in radians, against the squared momentum


class CoTKinetics(ResponseScorer):
    """Minus a kinetic energy of the path: RECONSTRUCTION, so compare it as CoT-Kinetics-like."""

    name = "cot_kinetics"
    summary = "CoT-Kinetics-like: momentum and curvature across layers"
    paper = "2505.13408"
    confidence = SourceConfidence.RECONSTRUCTION
    evidence = frozenset({EvidenceKind.HIDDEN_STATES})
    Options = CoTKineticsOptions

    def response(self, question: ProbedQuestion, sample: int) -> float:
        """Return minus the energy of the response's path."""
        return -kinetic_energy(_path(question, sample), self.options.curvature)


def _path(question: ProbedQuestion, sample: int) -> NDArray[np.float32]:
    assert question.hidden_states is not None
    states = question.hidden_states[sample]
    if states.ndim != 2 or len(states) < 2:
        raise DataError(
            f"hidden states of item {question.index}: found shape {states.shape}, allowed [layers >= 2, width]; "
            "fix: probe with layers = all"
        )
    return states


def _relative(parts: NDArray[np.float64], whole: float) -> NDArray[np.float64]:
    return parts / whole if whole > _VANISHING else np.zeros_like(parts)
