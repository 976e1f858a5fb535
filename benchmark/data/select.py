"""The select stage: score the probed pool and route every question, before any training.

Labels are read from the pool through one counter, so that the cost of a selection is what it looked at: labels for
training, for the calibration of the thresholds and for the score itself. A label that was bought twice counts once.
"""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from benchmark import artifacts
from benchmark.data.probed import read_probe
from benchmark.data.schema import read_rows, write_json, write_rows
from benchmark.errors import DataError
from benchmark.stage import StageJob
from methods.selection import build_scorer
from methods.selection.answers import pass_rate
from methods.selection.base import ProbedQuestion, uncertainties
from methods.selection.calibration import spearman
from methods.selection.router import Budget, Route, Routing, route_by_budget, route_by_calibration

MODES = ("budget", "calibrated")


class LabelCounter:
    """Sells the labels of the pool, and remembers which were bought."""

    def __init__(self, labels: Mapping[int, str]) -> None:
        self._labels = labels
        self._bought: set[int] = set()

    def reveal(self, index: int) -> str:
        """Return the label of an index, which counts as bought from then on."""
        self._bought.add(index)
        return self._labels[index]

    @property
    def bought(self) -> frozenset[int]:
        """The indices whose label was revealed so far."""
        return frozenset(self._bought)


def run(job: StageJob) -> None:
    """Write selection.parquet, by rank, and selection.json.

    Inputs: probe, pool. Parameters: scorer, options (of the scorer), mode (budget or calibrated), annotate and discard
    (shares of the pool; for a calibrated selection they serve where the calibration fails) and seed. Raises DataError
    where the probe does not fit the pool or lacks what the scorer needs, SuiteError for unusable parameters.
    """
    params = job.params
    scorer = build_scorer(params["scorer"], params.get("options", {}), params["seed"])
    pool = read_rows(job.inputs["pool"] / artifacts.POOL, artifacts.POOL_SCHEMA)
    questions = read_probe(job.inputs["probe"], scorer.evidence)
    _require_same_questions({row["index"] for row in pool}, {asked.index for asked in questions})
    labels = LabelCounter({row["index"]: row["answer"] for row in pool})
    scores = uncertainties(scorer, questions, labels.reveal)
    scoring = labels.bought
    routing = _routing(
        params, dict(zip((asked.index for asked in questions), scores.tolist(), strict=True)), questions, labels
    )
    write_rows(
        job.out / artifacts.SELECTION,
        [
            {
                "index": index,
                "score": routing.scores[index],
                "rank": routing.ranks[index],
                "route": route.value,
                "probed": index in routing.probed,
            }
            for index, route in routing.routes.items()
        ],
        artifacts.SELECTION_SCHEMA,
    )
    lengths = np.array([asked.lengths.mean() for asked in questions])
    write_json(
        job.out / artifacts.SELECTION_INFO,
        {
            "scorer": params["scorer"],
            "mode": params["mode"],
            "seed": params["seed"],
            "questions": len(questions),
            "routes": {route.value: routing.count(route) for route in Route},
            "thresholds": _thresholds(routing),
            "label_cost": label_cost(routing, scoring),
            "spearman": routing.spearman,
            "length_correlation": spearman(scores, lengths),
            "warnings": list(routing.warnings),
        },
    )


def label_cost(routing: Routing, scoring: Set[int]) -> dict[str, int]:
    """Count the labels that were bought to annotate, then those for probes, then for scores; each label once."""
    annotated = {index for index, route in routing.routes.items() if route is Route.ANNOTATE}
    probes = routing.probed - annotated
    return {"annotate": len(annotated), "probes": len(probes), "scoring": len(scoring - annotated - probes)}


def _routing(
    params: Mapping[str, Any], scores: Mapping[int, float], questions: list[ProbedQuestion], labels: LabelCounter
) -> Routing:
    mode, budget = params["mode"], Budget(params["annotate"], params["discard"])
    if mode not in MODES:
        raise DataError(f"mode of selection: found {mode!r}, allowed {' or '.join(MODES)}; fix: correct the suite")
    if mode == "budget":
        return route_by_budget(scores, budget, params["seed"])
    answers = {asked.index: asked.answers for asked in questions}

    def correctness(index: int) -> float:
        return pass_rate(answers[index], labels.reveal(index))

    return route_by_calibration(scores, correctness, budget, params["seed"])


def _thresholds(routing: Routing) -> dict[str, float | None] | None:
    """Say where the ranking was cut; None where questions were routed at random."""
    if routing.warnings:
        return None
    on_route = {
        route: [routing.scores[index] for index, taken in routing.routes.items() if taken is route] for route in Route
    }
    return {
        "annotate_below_rank": routing.annotate_below,
        "discard_from_rank": routing.discard_from,
        "annotate_from_score": min(on_route[Route.ANNOTATE], default=None),
        "discard_to_score": max(on_route[Route.DISCARD], default=None),
    }


def _require_same_questions(pool: Set[int], probed: Set[int]) -> None:
    if pool != probed:
        raise DataError(
            f"the probe is not of this pool: found {len(probed - pool)} questions that the pool lacks and "
            f"{len(pool - probed)} of the pool unprobed; fix: probe the pool again"
        )
