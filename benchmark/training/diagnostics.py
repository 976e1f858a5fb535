"""The runner's own view of a step, with the hidden truth: metrics and the decision log.

Only this module reads the truth sidecar, and nothing of it flows back into targets, rewards or
advantages. Metrics appear under `supervision/` beside verl's own; a metric that is undefined in a step
(no unlabelled prompt, say) is left out, never written as 0.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmark.artifacts import DECISIONS_SCHEMA
from benchmark.evaluation.equivalence import same
from benchmark.training.supervision import Decision
from methods.groups import NoTarget, RolloutGroups, TargetSource


def read_truth(path: Path) -> dict[int, str]:
    """Read the truth sidecar: persistent index to answer."""
    table = pq.read_table(path)
    return dict(zip(table["index"].to_pylist(), table["answer"].to_pylist(), strict=True))


def true_rewards(groups: RolloutGroups, truth: Mapping[int, str]) -> NDArray[np.float64]:
    """Return what the rollouts would score against the truth, [B, G]."""
    rows = [
        [same(answer, truth[int(i)]) for answer in row] for i, row in zip(groups.index, groups.answers, strict=True)
    ]
    return np.array(rows, dtype=np.float64)


def step_metrics(
    groups: RolloutGroups, decision: Decision, truth: Mapping[int, str], weights: NDArray[np.float64]
) -> dict[str, float]:
    """Summarise a step: agreement of targets with the truth, pass rates, admission, weights."""
    true = true_rewards(groups, truth)
    sources = np.array([source.value for source in decision.targets.sources])
    right = np.array(
        [
            not isinstance(target, NoTarget) and same(target, truth[int(i)])
            for i, target in zip(groups.index, decision.targets.values, strict=True)
        ]
    )
    unlabelled = ~groups.labelled
    pseudo = sources == TargetSource.PSEUDO.value
    groups_in = decision.admitted.any(axis=1)
    distinct = [len({answer for answer in row if answer is not None}) / len(row) for row in groups.answers]
    values = {
        "labelled_share": groups.labelled.mean(),
        "admitted_groups": groups_in.sum(),
        "admitted_share": groups_in.mean(),
        "admitted_unlabelled_share": _mean(groups_in, unlabelled),
        "pass_rate": decision.verified.mean(),
        "true_pass_rate": true.mean(),
        "pass_rate_unlabelled": _mean(decision.verified, unlabelled),
        "true_pass_rate_unlabelled": _mean(true, unlabelled),
        "reward_accuracy": (decision.verified == true).mean(),
        "reward_accuracy_unlabelled": _mean(decision.verified == true, unlabelled),
        "pseudo_label_share": _mean(pseudo, unlabelled),
        "pseudo_label_accuracy": _mean(right, pseudo),
        "admitted_pseudo_label_accuracy": _mean(right, pseudo & groups_in),
        "given_label_accuracy": _mean(right, sources == TargetSource.GIVEN.value),
        "confidence": _mean(decision.targets.confidence, np.isfinite(decision.targets.confidence)),
        "mixed_groups": (decision.verified.min(axis=1) < decision.verified.max(axis=1)).mean(),
        "distinct_answers": float(np.mean(distinct)),
        "no_answer": float(np.mean([[answer is None for answer in row] for row in groups.answers])),
        "weight": weights.mean(),
        "generated_tokens": groups.lengths.sum(),
    }
    return {f"supervision/{name}": float(value) for name, value in values.items() if np.isfinite(value)}


def decision_rows(
    groups: RolloutGroups, decision: Decision, truth: Mapping[int, str], weights: NDArray[np.float64]
) -> pa.Table:
    """Describe what was decided about each prompt of a step, one row each."""
    true = true_rewards(groups, truth)
    rows: list[dict[str, Any]] = []
    for i, target in enumerate(decision.targets.values):
        value = None if isinstance(target, NoTarget) else target
        rows.append(
            {
                "step": groups.step,
                "index": int(groups.index[i]),
                "labelled": bool(groups.labelled[i]),
                "target": value,
                "target_source": decision.targets.sources[i].value,
                "confidence": float(decision.targets.confidence[i]),
                "target_is_true": None if value is None else same(value, truth[int(groups.index[i])]),
                "admitted": float(decision.admitted[i].mean()),
                "pass_rate": float(decision.verified[i].mean()),
                "true_pass_rate": float(true[i].mean()),
                "weight": float(weights[i]),
            }
        )
    return pa.Table.from_pylist(rows, schema=DECISIONS_SCHEMA)


def _mean(values: NDArray[Any], where: NDArray[np.bool_]) -> float:
    """Return the mean over the prompts selected by `where`, NaN where there is none."""
    return float(values[where].mean()) if where.any() else float("nan")
