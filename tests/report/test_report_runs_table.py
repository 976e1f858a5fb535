"""Interquartile means and probabilities of improvement of arms with several runs."""

from dataclasses import replace

import numpy as np
import pytest
from report_world import REFERENCE

from benchmark.report.iqm import interquartile_mean
from benchmark.report.results import CellState, MissingSeed
from benchmark.report.runs_table import runs_table


def accuracies(arm):
    return np.array([[e["accuracy"] for e in seed.record["benchmarks"].values()] for seed in arm.finished.values()])


def test_a_row_has_both_summaries_of_its_runs(three_seed_report):
    table = runs_table("", three_seed_report.arms, REFERENCE)
    assert [row.label for row in table.rows] == [arm.arm for arm in three_seed_report.arms[1:5]]
    own, full = (accuracies(three_seed_report.arms[i]) for i in (3, 1))
    cells = table.rows[2].cells
    assert cells["iqm"].value == pytest.approx(interquartile_mean(own))
    assert cells["iqm"].low < cells["iqm"].value < cells["iqm"].high
    wins = np.mean([(own[i] > full[j]) + (own[i] == full[j]) / 2 for i in range(3) for j in range(3)])
    assert cells["improvement"].value == pytest.approx(wins)
    assert cells["improvement"].provisional
    assert table.rows[0].cells["improvement"].state is CellState.NOT_APPLICABLE  # the reference itself


def test_an_arm_with_one_finished_seed_is_left_out_and_named(three_seed_report):
    waiting = MissingSeed(CellState.PENDING, "not started")
    arms = list(three_seed_report.arms)
    arms[2] = replace(arms[2], seeds={0: arms[2].seeds[0], 1: waiting, 2: waiting})
    arms[3] = replace(arms[3], seeds={**arms[3].seeds, 2: waiting})
    table = runs_table("", arms, REFERENCE)
    assert [row.label for row in table.rows] == [REFERENCE, arms[3].arm, arms[4].arm]
    assert table.notes[-1] == "Left out, as one seed says nothing of another run: labeled_only, 10% labels."
    assert table.rows[1].cells["iqm"].state is CellState.PARTIAL
    assert table.rows[1].cells["iqm"].seeds_text == "2/3"


def test_a_suite_of_one_seed_has_no_row_but_the_note(quick_report):
    table = runs_table("", quick_report.arms, REFERENCE)
    assert table.rows == ()
    assert table.notes == ("Left out, as one seed says nothing of another run: every arm.",)


def test_without_runs_of_the_reference_only_the_improvement_is_missing(three_seed_report):
    full = replace(three_seed_report.arms[1], seeds={0: three_seed_report.arms[1].seeds[0]})
    row = runs_table("", [full, three_seed_report.arms[3]], REFERENCE).rows[0]
    assert row.cells["iqm"].value is not None
    assert (row.cells["improvement"].value, row.cells["improvement"].state) == (None, CellState.PARTIAL)


def test_a_benchmark_without_an_accuracy_withholds_the_summary(three_seed_report):
    arm = three_seed_report.arms[3]
    seed = arm.seeds[0]
    entries = {**seed.record["benchmarks"], "add": {**seed.record["benchmarks"]["add"], "accuracy": None}}
    broken = replace(arm, seeds={**arm.seeds, 0: replace(seed, record={**seed.record, "benchmarks": entries})})
    cells = runs_table("", [three_seed_report.arms[1], broken], REFERENCE).rows[1].cells
    assert {cell.value for cell in cells.values()} == {None}
