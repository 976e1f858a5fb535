"""The diagnostics of supervision: which steps count, which columns are there, and what stands where nothing was."""

from pathlib import Path

import numpy as np
import pytest

from benchmark.report.diagnostics_table import diagnostics_table, late_mean
from benchmark.report.results import ArmResult, CellState, Curve, MissingSeed, SeedResult

ACCURACY, AUROC = "supervision/pseudo_label_accuracy", "supervision/reward_auroc_unlabelled"
REFINED, SHARE = "supervision/refined_accuracy", "supervision/refined_share"


def seed(**curves) -> SeedResult:
    """Build a seed with its metrics by step: name=({step: value})."""
    names = {"accuracy": ACCURACY, "auroc": AUROC, "refined": REFINED, "share": SHARE, "reward": "critic/score/mean"}
    found = {names[name]: Curve(np.array(list(v)), np.array(list(v.values()), float)) for name, v in curves.items()}
    return SeedResult({}, None, None, Path(), found)


def arm(*seeds, name="ttrl", trained=True) -> ArmResult:
    return ArmResult(name, "ttrl", 0.1, "none", dict(enumerate(seeds)), trained)


def cells(*arms, row=0):
    return diagnostics_table("Diagnostics", arms, "").rows[row].cells


def test_only_the_steps_after_two_thirds_count():
    # steps 9 to 12 of 12: (.6 + .7 + .8 + .9) / 4
    values = dict.fromkeys(range(1, 9), 0.1) | {9: 0.6, 10: 0.7, 11: 0.8, 12: 0.9}
    assert late_mean(seed(accuracy=values), ACCURACY) == pytest.approx(0.75)


def test_the_last_third_is_that_of_training_also_where_a_metric_ends_early():
    found = seed(accuracy={1: 0.2, 4: 0.5, 5: 0.7}, reward=dict.fromkeys(range(1, 7), 0.0))
    assert late_mean(found, ACCURACY) == pytest.approx(0.7)  # step 5 of 6; step 4 is not after two thirds


def test_a_step_without_the_metric_does_not_count_as_zero():
    assert late_mean(seed(accuracy={9: 0.5, 12: 0.7}), ACCURACY) == pytest.approx(0.6)


def test_seeds_weigh_the_same_however_many_steps_they_have():
    found = cells(arm(seed(accuracy={3: 0.2}), seed(accuracy={2: 0.0, 8: 0.6, 9: 0.6})))
    assert found["pseudo_label_accuracy"].value == pytest.approx(0.4)


def test_only_columns_that_some_arm_recorded_are_there():
    table = diagnostics_table("", [arm(seed(accuracy={1: 0.5})), arm(seed(auroc={1: 0.5}), name="seq_prob")], "")
    assert [column.key for column in table.columns] == ["pseudo_label_accuracy", "reward_auroc_unlabelled"]
    assert table.rows[1].cells["pseudo_label_accuracy"].state is CellState.NOT_APPLICABLE


def test_the_accuracy_of_labels_is_that_of_promoted_ones_too_and_says_so():
    given = SeedResult({}, None, None, Path(), {"supervision/given_label_accuracy": Curve(np.array([1]), np.ones(1))})
    table = diagnostics_table("", [arm(given)], "")
    assert [column.title for column in table.columns] == ["Label acc."]
    assert "those that an earlier round promoted or changed" in table.notes[-1]


def test_a_share_of_refined_labels_is_shown_only_where_something_was_refined():
    assert diagnostics_table("", [arm(seed(share={1: 0.0}))], "").columns == ()
    assert [c.key for c in diagnostics_table("", [arm(seed(share={1: 0.2}, refined={1: 1.0}))], "").columns] == [
        "refined_share",
        "refined_accuracy",
    ]


def test_a_seed_that_has_no_value_is_counted_and_named():
    lacking = seed(accuracy={1: 0.4}, reward={9: 0.0})
    found = cells(arm(seed(accuracy={9: 0.6}), lacking, MissingSeed(CellState.FAILED, "node lost")))
    cell = found["pseudo_label_accuracy"]
    assert (cell.value, cell.state, cell.seeds_text) == (0.6, CellState.PARTIAL, "1/3")
    assert cell.note == "seed 2: node lost; seed 1: undefined in the last third"


def test_a_metric_that_only_early_steps_have_is_a_state():
    cell = cells(arm(seed(accuracy={1: 0.4}, reward={9: 0.0})))["pseudo_label_accuracy"]
    assert (cell.value, cell.state) == (None, CellState.NOT_APPLICABLE)


def test_arms_without_training_or_without_results_are_states():
    arms = [
        arm(seed(), name="base model", trained=False),
        arm(MissingSeed(CellState.RUNNING, "step 3"), name="x"),
        arm(seed(auroc={1: 1})),
    ]
    states = [row.cells["reward_auroc_unlabelled"].state for row in diagnostics_table("", arms, "").rows]
    assert states == [CellState.NOT_APPLICABLE, CellState.RUNNING, CellState.DONE]
