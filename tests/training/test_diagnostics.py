from dataclasses import replace

import numpy as np
import pytest
from rollouts import make_groups

from benchmark.training.diagnostics import decision_rows, step_metrics, within_group_auroc
from benchmark.training.supervision import StepOutcome, decide
from methods.groups import TargetSource
from methods.ttrl import TTRL

# Three prompts x four rollouts. 100: labelled 7. 101: majority 3, which is right. 102: majority 5, truth 6.
GROUPS = make_groups(
    (("7", "8", None, "7"), ("3", "3", "3", "4"), ("5", "5", "6", None)),
    ["7", None, None],
    lengths=np.array([[3, 4, 5, 6], [3, 3, 3, 3], [2, 2, 2, 40]]),
    step=4,
)

TRUTH = {100: "7", 101: "3", 102: "6"}


def outcome(method, groups, weights=None):
    decision = decide(method, groups)
    weights = np.ones(len(groups)) if weights is None else weights
    return StepOutcome(decision, decision.admitted, decision.verified, weights)


def test_metrics_of_a_step_by_hand():
    metrics = step_metrics(GROUPS, outcome(TTRL(), GROUPS), TRUTH)
    assert metrics["supervision/labelled_share"] == pytest.approx(1 / 3)
    assert metrics["supervision/pseudo_label_accuracy"] == 0.5
    assert metrics["supervision/pass_rate"] == pytest.approx((2 + 3 + 2) / 12)
    assert metrics["supervision/true_pass_rate"] == pytest.approx((2 + 3 + 1) / 12)
    assert metrics["supervision/true_pass_rate_unlabelled"] == pytest.approx(4 / 8)
    # A wrong majority still judges the other wrong answers rightly: of item 102 only the None does.
    assert metrics["supervision/reward_accuracy"] == pytest.approx((4 + 4 + 1) / 12)
    assert metrics["supervision/confidence"] == pytest.approx((0.75 + 0.5) / 2)
    assert metrics["supervision/no_answer"] == pytest.approx(2 / 12)
    assert metrics["supervision/generated_tokens"] == 76


def test_a_metric_without_a_case_is_left_out():
    labelled = make_groups(GROUPS.answers[:1], ["7"])
    metrics = step_metrics(labelled, outcome(TTRL(), labelled), TRUTH)
    assert "supervision/pseudo_label_accuracy" not in metrics
    assert metrics["supervision/given_label_accuracy"] == 1


def test_the_decision_log_has_one_row_per_prompt_with_its_target_and_truth():
    rows = decision_rows(GROUPS, outcome(TTRL(), GROUPS), TRUTH).to_pylist()
    assert [(row["index"], row["target"], row["target_source"], row["target_is_true"]) for row in rows] == [
        (100, "7", "given", True),
        (101, "3", "pseudo", True),
        (102, "5", "pseudo", False),
    ]
    assert [row["true_pass_rate"] for row in rows] == [0.5, 0.75, 0.25]


def test_the_auroc_compares_rollouts_of_one_group_only():
    # Group 1: right .9, wrong .1 and .9: one pair won, one tied. Group 2 has no wrong rollout, so no pair.
    scores = np.array([[0.9, 0.1, 0.9], [0.0, 0.0, 0.0]])
    true = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    assert within_group_auroc(scores, true) == 0.75
    assert np.isnan(within_group_auroc(scores[1:], true[1:]))


def test_a_prompt_of_weight_zero_does_not_count_as_admitted():
    metrics = step_metrics(GROUPS, outcome(TTRL(), GROUPS, np.array([1.0, 1.0, 0.0])), TRUTH)
    assert metrics["supervision/admitted_groups"] == 2
    assert metrics["supervision/admitted_pseudo_label_accuracy"] == 1.0  # the wrong majority of 102 is out
    assert metrics["supervision/pseudo_label_accuracy"] == 0.5


class ReplacesLabels(TTRL):
    """Refines every label by the majority."""

    refines_labels = True

    def targets(self, groups):
        majority = TTRL().targets(replace(groups, labelled=np.zeros(len(groups), dtype=bool)))
        return replace(majority, sources=tuple(TargetSource.REFINED for _ in majority.sources))


def test_refined_labels_are_counted_against_the_labels_that_were_wrong():
    # Labels: 7 true, 9 wrong (majority 3 is right), 5 wrong (majority 5 keeps it wrong).
    groups = make_groups(GROUPS.answers, ["7", "9", "5"], lengths=GROUPS.lengths)
    metrics = step_metrics(groups, outcome(ReplacesLabels(), groups), TRUTH)
    assert metrics["supervision/given_label_accuracy"] == pytest.approx(1 / 3)
    assert metrics["supervision/labelled_target_accuracy"] == pytest.approx(2 / 3)
    assert metrics["supervision/refined_accuracy"] == pytest.approx(2 / 3)
    assert metrics["supervision/wrong_labels_corrected"] == 0.5
    rows = decision_rows(groups, outcome(ReplacesLabels(), groups), TRUTH).to_pylist()
    assert [row["label_is_true"] for row in rows] == [True, False, False]
