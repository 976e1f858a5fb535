import numpy as np
import pytest
from rollouts import make_groups

from benchmark.training.diagnostics import decision_rows, step_metrics
from benchmark.training.supervision import decide
from methods.ttrl import TTRL

# Three prompts x four rollouts. 100: labelled 7. 101: majority 3, which is right. 102: majority 5, truth 6.
GROUPS = make_groups(
    (("7", "8", None, "7"), ("3", "3", "3", "4"), ("5", "5", "6", None)),
    ["7", None, None],
    lengths=np.array([[3, 4, 5, 6], [3, 3, 3, 3], [2, 2, 2, 40]]),
    step=4,
)
TRUTH = {100: "7", 101: "3", 102: "6"}


def test_metrics_of_a_step_by_hand():
    metrics = step_metrics(GROUPS, decide(TTRL(), GROUPS), TRUTH, np.ones(3))
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
    metrics = step_metrics(labelled, decide(TTRL(), labelled), TRUTH, np.ones(1))
    assert "supervision/pseudo_label_accuracy" not in metrics
    assert metrics["supervision/given_label_accuracy"] == 1


def test_the_decision_log_has_one_row_per_prompt_with_its_target_and_truth():
    rows = decision_rows(GROUPS, decide(TTRL(), GROUPS), TRUTH, np.ones(3)).to_pylist()
    assert [(row["index"], row["target"], row["target_source"], row["target_is_true"]) for row in rows] == [
        (100, "7", "given", True),
        (101, "3", "pseudo", True),
        (102, "5", "pseudo", False),
    ]
    assert [row["true_pass_rate"] for row in rows] == [0.5, 0.75, 0.25]
