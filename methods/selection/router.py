"""From uncertainties to routes: annotate, keep unlabelled, discard (DE-Venus, sections 2.2 and 4.3).

Rank 0 is the least certain question. Routing by budget cuts the ranking at fixed shares; routing by calibration
finds the cuts from a few labelled questions, and falls back on a random order, with a warning, where the scores say
nothing about correctness: cutting a ranking that means nothing would be a biased sample with an unknown bias.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchmark.errors import SuiteError
from methods.selection.calibration import CalibrationRule, correctness_by_rank, probe_ranks, spearman, thresholds
from methods.selection.random_order import seeded_uniform


class Route(StrEnum):
    """What happens to a question."""

    ANNOTATE = "annotate"
    """Its label is bought."""
    UNLABELLED = "unlabelled"
    """It is trained on without a label."""
    DISCARD = "discard"
    """It is left out: the policy has mastered it."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Shares of the pool in [0, 1] that are annotated and discarded; the rest stays unlabelled."""

    annotate: float
    discard: float

    def __post_init__(self) -> None:
        if not (self.annotate >= 0 and self.discard >= 0 and self.annotate + self.discard <= 1 + 1e-9):
            raise SuiteError(
                f"selection shares: found annotate {self.annotate} and discard {self.discard}, allowed 0 or more "
                "and together at most 1; fix: correct the selection of the suite"
            )


@dataclass(frozen=True, slots=True)
class Routing:
    """The decision about a pool; mappings are keyed by index, in rank order."""

    routes: Mapping[int, Route]
    scores: Mapping[int, float]
    ranks: Mapping[int, int]  # 0 = least certain
    probed: frozenset[int]  # labels bought for the calibration
    annotate_below: int  # rank from which questions are not annotated
    discard_from: int  # rank from which questions are discarded
    spearman: float | None = None  # of score and correctness over the probed; None where it was not measured
    warnings: tuple[str, ...] = ()

    def count(self, route: Route) -> int:
        """Count the questions on a route."""
        return Counter(self.routes.values())[route]


def route_by_budget(scores: Mapping[int, float], budget: Budget, seed: int) -> Routing:
    """Annotate the round(annotate * Q) least certain of Q questions, discard the round(discard * Q) most certain.

    Equal scores are ordered by a seeded hash of the index.
    """
    order = _least_certain_first(scores, seed)
    return _cut(order, order, scores, *_budget_ranks(len(order), budget))


def route_by_calibration(
    scores: Mapping[int, float],
    correctness: Callable[[int], float],
    fallback: Budget,
    seed: int,
    rule: CalibrationRule | None = None,
) -> Routing:
    """Label a few questions spread over the ranking, and cut where the correctness of the policy says.

    `correctness` returns the share of an index's probe responses that are right, in [0, 1], and buys its label.
    Where score and correctness do not anticorrelate (Spearman above the rule's), questions are routed at random in
    the shares of the fallback.
    """
    rule = CalibrationRule() if rule is None else rule
    order = _least_certain_first(scores, seed)
    ranks = probe_ranks(len(order), rule)
    probed = [order[rank] for rank in ranks]
    correct = np.array([correctness(index) for index in probed], dtype=np.float64)
    agreement = spearman(np.array([scores[index] for index in probed], dtype=np.float64), correct)
    if agreement is None or agreement > rule.agreement:
        found = "is undefined" if agreement is None else f"is {agreement:.3f}"
        warning = (
            f"calibration failed: the rank correlation of score and correctness over {len(probed)} labelled questions "
            f"{found}, wanted {rule.agreement} or less; questions are routed at random"
        )
        drawn = sorted(order, key=lambda index: (seeded_uniform("route", seed, index), index))
        return _cut(order, drawn, scores, *_budget_ranks(len(order), fallback), probed, agreement, (warning,))
    calibrated = correctness_by_rank(ranks, correct, len(order), rule)
    return _cut(order, order, scores, *thresholds(calibrated, rule), probed, agreement)


def _least_certain_first(scores: Mapping[int, float], seed: int) -> list[int]:
    return sorted(scores, key=lambda index: (-scores[index], seeded_uniform("tie", seed, index), index))


def _budget_ranks(pool: int, budget: Budget) -> tuple[int, int]:
    annotate = round(budget.annotate * pool)
    return annotate, max(annotate, pool - round(budget.discard * pool))  # two shares of a half may both round up


def _cut(
    order: list[int],
    routed: list[int],
    scores: Mapping[int, float],
    annotate_below: int,
    discard_from: int,
    probed: list[int] | None = None,
    agreement: float | None = None,
    warnings: tuple[str, ...] = (),
) -> Routing:
    """Give routes along `routed`, and ranks along `order`; they differ for a random routing only."""

    def route(position: int) -> Route:
        if position < annotate_below:
            return Route.ANNOTATE
        return Route.DISCARD if position >= discard_from else Route.UNLABELLED

    routes = {index: route(position) for position, index in enumerate(routed)}
    return Routing(
        routes={index: routes[index] for index in order},
        scores={index: float(scores[index]) for index in order},
        ranks={index: rank for rank, index in enumerate(order)},
        probed=frozenset(probed or ()),
        annotate_below=annotate_below,
        discard_from=discard_from,
        spearman=agreement,
        warnings=warnings,
    )
