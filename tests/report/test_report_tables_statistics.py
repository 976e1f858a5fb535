"""What the main table adds to differences: Holm's correction, what it can resolve, the gap recovered, one version."""

import re
from dataclasses import replace

import numpy as np
import pytest
from report_world import REFERENCE

from benchmark.errors import DataError
from benchmark.report.collect import arm_result
from benchmark.report.multiplicity import holm
from benchmark.report.results import CellState, MissingSeed
from benchmark.report.suite_table import suite_table
from benchmark.report.tables import benchmark_table, response_table


def rows_of(report, arms=None):
    return {row.label: row.cells for row in suite_table("", arms or report.arms, REFERENCE).rows}


def test_all_differences_of_the_table_are_one_family(three_seed_report):
    cells = [cells[key] for cells in rows_of(three_seed_report).values() for key in ("delta_id", "delta_ood")]
    compared = [cell for cell in cells if cell.value is not None]
    assert len(compared) == 8
    assert [cell.p_adjusted for cell in compared] == pytest.approx(holm([cell.p_value for cell in compared]))
    assert all(cell.p_adjusted >= cell.p_value for cell in compared)
    assert any(cell.significant for cell in compared)
    assert not all(cell.significant for cell in compared)
    assert all(cell.p_value is None for cell in cells if cell.value is None)


def test_the_note_names_the_size_of_the_family_and_what_the_table_can_resolve(three_seed_report):
    notes = " ".join(suite_table("", three_seed_report.arms, REFERENCE).notes)
    assert "Holm's correction for all 8 differences of this table" in notes
    one, corrected = re.search(
        r"80% probability, in points: ID (\d+\.\d), OOD \d+\.\d for one comparison, ID (\d+\.\d), OOD", notes
    ).groups()
    assert 0 < float(one) < float(corrected)


def test_a_table_without_a_comparison_says_nothing_about_power(quick_report):
    notes = " ".join(suite_table("", quick_report.arms[1:2], REFERENCE).notes)
    assert "probability, in points" not in notes
    assert "all 0 differences" not in notes


def test_the_gap_is_measured_from_the_base_policy_to_the_reference(three_seed_report):
    cells = rows_of(three_seed_report)
    base, full, ttrl = (cells[label]["id"].value for label in ("base model", REFERENCE, "ttrl, 10% labels"))
    gap = cells["ttrl, 10% labels"]["gap_id"]
    assert gap.value == pytest.approx((ttrl - base) / (full - base))
    assert gap.low < gap.value < gap.high
    assert gap.provisional
    table = suite_table("", three_seed_report.arms, REFERENCE)
    column = next(column for column in table.columns if column.key == "gap_id")
    assert column.description.startswith(f"share of the gap from base model to {REFERENCE} that is recovered")


def test_both_ends_of_the_gap_are_not_measured_by_themselves(three_seed_report):
    cells = rows_of(three_seed_report)
    assert cells["base model"]["gap_id"].state is cells[REFERENCE]["gap_id"].state is CellState.NOT_APPLICABLE


def test_a_gap_that_is_not_resolved_is_undefined_with_the_reason(quick_report):
    base, full, few = quick_report.arms[:3]
    same = replace(base.finished[0], costs=full.finished[0].costs)
    cells = rows_of(quick_report, [base, replace(full, seeds={0: same}), few])
    gap = cells[few.arm]["gap_id"]
    assert (gap.value, gap.state) == (None, CellState.NOT_APPLICABLE)
    assert gap.note.startswith("undefined: ")


def test_without_the_floor_there_is_no_gap_and_without_its_result_only_a_state(quick_report):
    assert "gap_id" not in rows_of(quick_report, quick_report.arms[1:])[REFERENCE]
    waiting = replace(quick_report.arms[0], seeds={0: MissingSeed(CellState.RUNNING, "sampling")})
    gap = rows_of(quick_report, [waiting, *quick_report.arms[1:3]])["labeled_only, 10% labels"]["gap_id"]
    assert (gap.value, gap.state) == (None, CellState.RUNNING)
    assert gap.note.startswith("floor: ")


def test_arms_without_a_common_seed_are_not_compared(three_seed_report):
    base, full, few = three_seed_report.arms[:3]
    halves = [base, replace(full, seeds={0: full.seeds[0]}), replace(few, seeds={1: few.seeds[1]})]
    cells = rows_of(three_seed_report, halves)[few.arm]
    assert (cells["delta_id"].value, cells["delta_id"].state) == (None, CellState.PARTIAL)
    assert cells["delta_id"].note == "no seed in common with the reference: [1], [0]"
    assert cells["gap_id"].value is None


@pytest.mark.parametrize("kind", ["suite", "grader", "data", "protocol"])
def test_a_table_of_two_versions_is_refused_with_both_named(quick_report, kind):
    def with_version(arm, version):
        seed = arm.finished[0]
        record = {**seed.record, "versions": {**seed.record["versions"], kind: version}}
        return replace(arm, seeds={0: replace(seed, record=record)})

    arms = [with_version(quick_report.arms[1], "v1"), with_version(quick_report.arms[3], "v2")]
    expected = rf"versions of the {kind}: found v1 \('grpo, 100% labels', seed 0\), v2 \('ttrl, 0% labels', seed 0\)"
    with pytest.raises(DataError, match=expected) as caught:
        suite_table("", arms, REFERENCE)
    assert "\n" not in str(caught.value)
    assert suite_table("", [with_version(arm, "v1") for arm in quick_report.arms[1:3]], REFERENCE).rows


def test_another_engine_alone_is_not_refused_but_listed(quick_report):
    arms = []
    for arm, engine in zip(quick_report.arms[1:3], ("vllm 1", "transformers 5"), strict=True):
        seed = arm.finished[0]
        record = {**seed.record, "versions": {**seed.record["versions"], "engine": engine}}
        arms.append(replace(arm, seeds={0: replace(seed, record=record)}))
    assert len(suite_table("", arms, REFERENCE).rows) == 2
    assert replace(quick_report, arms=tuple(arms)).versions("engine") == ("transformers 5", "vllm 1")


def test_a_benchmark_outside_both_averages_stands_last(quick_report):
    arm = quick_report.arms[1]
    seed = arm.finished[0]
    extra = {"gsm8k": {**seed.record["benchmarks"]["add"], "group": "none"}}
    record = {**seed.record, "benchmarks": extra | dict(seed.record["benchmarks"])}
    table = benchmark_table("", [replace(arm, seeds={0: replace(seed, record=record)})], REFERENCE)
    assert [column.key for column in table.columns] == ["add", "mul", "words", "gsm8k"]
    assert table.columns[3].description.startswith("in no average, 20 questions")


def test_five_seeds_are_not_provisional(three_seed_report):
    seeds = {n: three_seed_report.arms[4].seeds[n % 3] for n in range(5)}
    full = {n: three_seed_report.arms[1].seeds[n % 3] for n in range(5)}
    arms = [arm_result(REFERENCE, "grpo", 1.0, "none", full), arm_result("x", "ttrl", 0.1, "none", seeds)]
    cell = rows_of(three_seed_report, arms)["x"]["delta_id"]
    assert not cell.provisional
    assert np.isfinite([cell.low, cell.high]).all()


def with_record(report, position, change):
    """Return the arms of a report with the record of one arm's only seed changed."""
    arms = list(report.arms)
    seed = arms[position].finished[0]
    arms[position] = replace(arms[position], seeds={0: replace(seed, record=change(seed.record))})
    return arms


def test_an_average_of_fewer_benchmarks_than_published_says_so(quick_report):
    notes = " ".join(suite_table("", quick_report.arms, REFERENCE).notes)
    assert "ID averages 2 benchmarks (add, mul); published ID averages 6." in notes
    assert "OOD averages 1 benchmark (words); published OOD averages 3." in notes


def test_the_first_flag_of_the_records_is_passed_on_and_the_others_counted(quick_report):
    arms = with_record(quick_report, 3, lambda record: {**record, "flags": ["add: 2 of 20 questions have fewer", "b"]})
    note = suite_table("", arms, REFERENCE).notes[-1]
    assert note.startswith("Flagged: ttrl, 0% labels, seed 0: add: 2 of 20 questions have fewer (and 1 more")
    assert "Flagged" not in " ".join(suite_table("", quick_report.arms, REFERENCE).notes)


def test_graders_that_differ_have_a_column_where_some_response_was_graded_twice(quick_report):
    def graded(record):
        entries = {name: {**entry, "disagreement_rate": None} for name, entry in record["benchmarks"].items()}
        entries["add"]["disagreement_rate"], entries["mul"]["disagreement_rate"] = 0.02, 0.04
        return {**record, "benchmarks": entries}

    table = response_table("", with_record(quick_report, 3, graded), REFERENCE)
    assert table.rows[3].cells["disagreement_rate"].value == pytest.approx(0.03)
    assert table.rows[2].cells["disagreement_rate"].value is None
    keys = [column.key for column in response_table("", quick_report.arms, REFERENCE).columns]
    assert "disagreement_rate" not in keys


def test_stability_is_averaged_over_the_benchmarks_that_have_it(quick_report):
    def stable(record):
        entries = {name: {**entry, "g_pass_at": None} for name, entry in record["benchmarks"].items()}
        entries["add"]["g_pass_at"] = {"k": 4, "mean": 0.25}
        return {**record, "benchmarks": entries}

    table = response_table("", with_record(quick_report, 1, stable), REFERENCE)
    assert table.rows[1].cells["g_pass"].value == 0.25
