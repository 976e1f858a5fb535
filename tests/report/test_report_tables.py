"""Layout of the tables: states instead of zeros, averages that leave nothing out, marks that are earned."""

from dataclasses import replace

import numpy as np
import pytest
from report_world import REFERENCE

from benchmark.errors import DataError, UnknownNameError
from benchmark.report.collect import arm_result
from benchmark.report.results import CellState, MissingSeed
from benchmark.report.stats import paired_difference
from benchmark.report.suite_table import suite_table
from benchmark.report.tables import (
    benchmark_table,
    cost_table,
    missing_table,
    report_tables,
    response_table,
)


def main_row(report, label):
    table = suite_table(report.title, report.arms, report.reference)
    return next(row for row in table.rows if row.label == label).cells


def test_every_arm_has_a_row_and_every_row_every_column(quick_report):
    for table in report_tables(quick_report).values():
        if table.key not in ("missing", "runs", "same_labels"):
            assert [row.label for row in table.rows] == [arm.arm for arm in quick_report.arms]
        for row in table.rows:
            assert row.cells.keys() == {column.key for column in table.columns}


def test_a_finished_arm_shows_its_record(quick_report):
    cells = main_row(quick_report, "labeled_only, 10% labels")
    seed = quick_report.arms[2].finished[0]
    assert cells["id"].value == pytest.approx(seed.record["averages"]["id"])
    assert cells["ood"].value == pytest.approx(seed.record["averages"]["ood"])
    assert cells["ood"].error == pytest.approx(seed.record["benchmarks"]["words"]["standard_error"])
    assert (cells["labels"].value, cells["rollouts"].value, cells["wall_seconds"].value) == (154, 15360, 85.5)
    assert cells["panel"].value == seed.curves["panel/accuracy"].values[-1]
    assert cells["state"].state is CellState.DONE


def test_the_difference_is_that_of_the_averages_and_paired(quick_report):
    cells = main_row(quick_report, "ttrl, 0% labels")
    reference = main_row(quick_report, REFERENCE)
    assert cells["delta_id"].value == pytest.approx(cells["id"].value - reference["id"].value)
    ours, theirs = ({0: arm.finished[0].items.of_group("id")} for arm in (quick_report.arms[3], quick_report.arms[1]))
    paired = paired_difference(ours, theirs)
    assert (cells["delta_id"].low, cells["delta_id"].high) == pytest.approx((paired.low, paired.high), abs=1e-8)
    assert cells["delta_id"].strong is paired.excludes_zero
    assert cells["delta_id"].provisional
    assert reference["delta_id"].state is CellState.NOT_APPLICABLE


def test_missing_arms_are_states_with_reasons_and_never_numbers(quick_report):
    failed, pending = main_row(quick_report, "olr, 50% inactive noise"), main_row(quick_report, "geomin, 10% labels")
    for key in ("labels", "id", "ood", "delta_id", "delta_ood", "panel", "rollouts", "wall_seconds"):
        assert (failed[key].value, failed[key].state) == (None, CellState.FAILED)
        assert (pending[key].value, pending[key].state) == (None, CellState.PENDING)
        assert "out of memory" in failed[key].note


def test_the_base_policy_has_no_training_costs_but_a_difference(quick_report):
    cells = main_row(quick_report, "base model")
    assert cells["labels"].state is CellState.NOT_APPLICABLE
    assert cells["label_ratio"].value is None
    assert cells["delta_id"].value is not None
    assert {cell.state for cell in cost_table("", quick_report.arms, "").rows[0].cells.values()} == {
        CellState.NOT_APPLICABLE
    }


def test_the_base_policy_stands_beside_every_seed_of_the_reference(three_seed_report):
    cells = main_row(three_seed_report, "base model")
    means = [seed.average("id") for seed in three_seed_report.arms[1].finished.values()]
    base = three_seed_report.arms[0].finished[0].average("id")
    assert cells["delta_id"].value == pytest.approx(base - np.mean(means))
    assert cells["delta_id"].state is CellState.DONE
    assert "3 seeds" in cells["delta_id"].note


def test_seeds_are_averaged_and_both_intervals_are_kept(three_seed_report):
    cells = main_row(three_seed_report, "ttrl, 10% labels")
    averages = [seed.average("id") for seed in three_seed_report.arms[4].finished.values()]
    assert cells["id"].value == pytest.approx(np.mean(averages))
    delta = cells["delta_id"]
    assert delta.question_low < delta.value < delta.question_high
    assert delta.low < delta.value < delta.high


def test_an_arm_with_a_failed_seed_says_how_many_seeds_it_rests_on(three_seed_report):
    seeds = dict(three_seed_report.arms[3].seeds) | {1: MissingSeed(CellState.FAILED, "node lost")}
    arms = [*three_seed_report.arms[:3], replace(three_seed_report.arms[3], seeds=seeds)]
    cells = suite_table("", arms, REFERENCE).rows[3].cells
    averages = [seed.average("id") for seed in arms[3].finished.values()]
    assert (cells["id"].state, cells["id"].seeds_text) == (CellState.PARTIAL, "2/3")
    assert cells["id"].value == pytest.approx(np.mean(averages))
    assert (cells["delta_id"].state, cells["delta_id"].seeds_text) == (CellState.PARTIAL, "2/3")
    assert cells["state"].note == "seed 1: node lost"
    assert [row.cells["reason"].value for row in missing_table("", arms).rows] == ["node lost"]


def test_without_the_reference_no_difference_is_shown(quick_report):
    waiting = arm_result(REFERENCE, "grpo", 1.0, "none", {0: MissingSeed(CellState.RUNNING, "step 12 of 60")})
    arms = [waiting, quick_report.arms[3]]
    cells = suite_table("", arms, REFERENCE).rows[1].cells
    assert (cells["delta_id"].value, cells["delta_id"].state) == (None, CellState.RUNNING)
    assert cells["delta_id"].note == f"{REFERENCE}: seed 0: step 12 of 60"
    assert cells["id"].value is not None


def test_an_average_without_one_of_its_benchmarks_is_withheld(quick_report):
    arm = quick_report.arms[3]
    seed = arm.finished[0]
    record = {**seed.record, "averages": {"id": None, "ood": 0.5}}
    broken = replace(arm, seeds={0: replace(seed, record=record)})
    cells = suite_table("", [quick_report.arms[1], broken], REFERENCE).rows[1].cells
    assert (cells["id"].value, cells["id"].state) == (None, CellState.PARTIAL)
    assert (cells["delta_id"].value, cells["delta_id"].state) == (None, CellState.PARTIAL)
    assert cells["ood"].value == 0.5


def test_benchmarks_stand_in_the_order_of_their_groups(quick_report):
    table = benchmark_table("", quick_report.arms, REFERENCE)
    assert [column.key for column in table.columns] == ["add", "mul", "words"]
    assert table.columns[2].description == "OOD, 20 questions, avg@8"
    assert table.rows[0].cells["add"].value == pytest.approx(
        quick_report.arms[0].finished[0].record["benchmarks"]["add"]["accuracy"]
    )


def test_the_response_table_averages_over_benchmarks(quick_report):
    cells = response_table("", quick_report.arms, REFERENCE).rows[1].cells
    entries = quick_report.arms[1].finished[0].record["benchmarks"].values()
    assert cells["pass_at_k"].value == pytest.approx(np.mean([entry["pass_at"]["8"] for entry in entries]))
    titles = [column.title for column in response_table("", quick_report.arms, REFERENCE).columns]
    assert titles[:2] == ["maj@8", "pass@8"]
    assert cells["truncated_rate"].value == pytest.approx(np.mean([entry["truncated_rate"] for entry in entries]))


def test_only_a_difference_whose_intervals_exclude_zero_is_strong(three_seed_report):
    for row in suite_table("", three_seed_report.arms, REFERENCE).rows:
        for key, cell in row.cells.items():
            if cell.strong:
                assert key.startswith("delta_")
                assert max(cell.high, cell.question_high) < 0 or min(cell.low, cell.question_low) > 0


def test_results_of_two_graders_are_not_put_in_one_table(quick_report):
    arm = quick_report.arms[3]
    seed = arm.finished[0]
    other = replace(arm, seeds={0: replace(seed, record={**seed.record, "versions": {"grader": "2"}})})
    with pytest.raises(
        DataError, match=r"of the grader: found .* \('grpo, 100% labels', seed 0\), 2 \('ttrl, 0% labels'"
    ):
        suite_table("", [quick_report.arms[1], other], REFERENCE)


def test_an_unknown_reference_is_refused_with_the_nearest_arm(quick_report):
    with pytest.raises(UnknownNameError, match=r"did you mean 'grpo, 100% labels'"):
        suite_table("", quick_report.arms, "grpo, 10% labels")
