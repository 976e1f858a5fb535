"""The runner's own view of a step, with the hidden truth: metrics and the decision log.

Only this module reads the truth sidecar for its own ends, and nothing of it flows back into targets, rewards or
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
from benchmark.training.supervision import StepOutcome
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
    return np.array(rows, dtype=np.float64).reshape(groups.lengths.shape)


def step_metrics(groups: RolloutGroups, outcome: StepOutcome, truth: Mapping[int, str]) -> dict[str, float]:
    """Summarise a step: agreement of targets with the truth, pass rates, admission, weights, rewards."""
    true, decision, used = true_rewards(groups, truth), outcome.decision, outcome.used
    sources = np.array([source.value for source in decision.targets.sources], dtype=np.str_)
    right, label_right = _targets_right(groups, outcome, truth), _labels_right(groups, truth)
    unlabelled, labelled = ~groups.labelled, groups.labelled
    pseudo, refined = sources == TargetSource.PSEUDO.value, sources == TargetSource.REFINED.value
    wrong_label = labelled & ~label_right
    distinct = [len({answer for answer in row if answer is not None}) / len(row) for row in groups.answers]
    values = {
        "labelled_share": groups.labelled.mean(),
        "admitted_groups": used.sum(),
        "admitted_share": used.mean(),
        "admitted_unlabelled_share": _mean(used, unlabelled),
        "pass_rate": decision.verified.mean(),
        "true_pass_rate": true.mean(),
        "pass_rate_unlabelled": _mean(decision.verified, unlabelled),
        "true_pass_rate_unlabelled": _mean(true, unlabelled),
        "reward_accuracy": (decision.verified == true).mean(),
        "reward_accuracy_unlabelled": _mean(decision.verified == true, unlabelled),
        "reward_auroc": within_group_auroc(outcome.scores, true),
        "reward_auroc_unlabelled": within_group_auroc(outcome.scores[unlabelled], true[unlabelled]),
        "pseudo_label_share": _mean(pseudo, unlabelled),
        "pseudo_label_accuracy": _mean(right, pseudo),
        "admitted_pseudo_label_accuracy": _mean(right, pseudo & used),
        "given_label_accuracy": _mean(label_right, labelled),
        "labelled_target_accuracy": _mean(right, labelled),
        "refined_share": _mean(refined, labelled),
        "refined_accuracy": _mean(right, refined),
        "wrong_labels_refined": _mean(refined, wrong_label),
        "wrong_labels_corrected": _mean(right, wrong_label),
        "confidence": _mean(decision.targets.confidence, np.isfinite(decision.targets.confidence)),
        "mixed_groups": (outcome.scores.min(axis=1) < outcome.scores.max(axis=1)).mean(),
        "distinct_answers": float(np.mean(distinct)),
        "no_answer": float(np.mean([[answer is None for answer in row] for row in groups.answers])),
        "weight": outcome.weights.mean(),
        "generated_tokens": groups.lengths.sum(),
    }
    return {f"supervision/{name}": float(value) for name, value in values.items() if np.isfinite(value)}


def within_group_auroc(scores: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    """Return how often a right rollout scores above a wrong one of its own group, ties counted half.

    Over all such pairs of the step ([B, G] both); NaN where there is none. At .5 a reward knows nothing.
    """
    right, wrong = true > 0, true <= 0
    pairs = right[:, :, None] & wrong[:, None, :]
    gap = scores[:, :, None] - scores[:, None, :]
    return float(((gap > 0) + 0.5 * (gap == 0))[pairs].mean()) if pairs.any() else float("nan")


def decision_rows(groups: RolloutGroups, outcome: StepOutcome, truth: Mapping[int, str]) -> pa.Table:
    """Describe what was decided about each prompt of a step, one row each."""
    true, decision = true_rewards(groups, truth), outcome.decision
    right, label_right = _targets_right(groups, outcome, truth), _labels_right(groups, truth)
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
                "target_is_true": None if value is None else bool(right[i]),
                "label_is_true": bool(label_right[i]) if groups.labelled[i] else None,
                "admitted": float(outcome.admitted[i].mean()),
                "pass_rate": float(decision.verified[i].mean()),
                "true_pass_rate": float(true[i].mean()),
                "weight": float(outcome.weights[i]),
            }
        )
    return pa.Table.from_pylist(rows, schema=DECISIONS_SCHEMA)


def _targets_right(groups: RolloutGroups, outcome: StepOutcome, truth: Mapping[int, str]) -> NDArray[np.bool_]:
    targets = outcome.decision.targets.values
    return np.array(
        [
            not isinstance(target, NoTarget) and same(target, truth[int(i)])
            for i, target in zip(groups.index, targets, strict=True)
        ],
        dtype=np.bool_,
    )


def _labels_right(groups: RolloutGroups, truth: Mapping[int, str]) -> NDArray[np.bool_]:
    """Return which given labels are true, [B]; False for unlabelled items."""
    return np.array(
        [
            bool(groups.labelled[i]) and same(groups.labels[i], truth[int(index)])
            for i, index in enumerate(groups.index)
        ],
        dtype=np.bool_,
    )


def _mean(values: NDArray[Any], where: NDArray[np.bool_]) -> float:
    """Return the mean over the prompts selected by `where`, NaN where there is none."""
    return float(values[where].mean()) if where.any() else float("nan")
