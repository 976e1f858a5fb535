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
    waiting = [1.0] * 4  # the differences of two arms without a result
    expected = holm([cell.p_value for cell in compared] + waiting)[:8]
    assert [cell.p_adjusted for cell in compared] == pytest.approx(expected)
    assert all(cell.p_adjusted >= cell.p_value for cell in compared)
    assert any(cell.significant for cell in compared)
    assert not all(cell.significant for cell in compared)
    assert all(cell.p_value is None for cell in cells if cell.value is None)


def test_the_note_names_the_size_of_the_family_and_what_the_table_can_resolve(three_seed_report):
    notes = " ".join(suite_table("", three_seed_report.arms, REFERENCE).notes)
    assert "Holm's correction for all 12 differences of this table" in notes
    number = r"(\d+\.\d) to (\d+\.\d) \(median (\d+\.\d)\)"
    one, corrected = re.findall(rf"ID {number}, OOD {number}", notes)
    for low, high, middle in (map(float, one[:3]), map(float, corrected[:3])):
        assert 0 < low <= middle <= high
    assert float(one[2]) < float(corrected[2])


def test_what_is_resolved_is_the_range_of_what_each_arm_resolves(three_seed_report):
    base, full, few, ttrl, more = three_seed_report.arms[:5]
    alone = [resolved([base, full, arm])[0] for arm in (few, ttrl, more)]
    low, middle, high = sorted(alone)
    notes = " ".join(suite_table("", [base, full, few, ttrl, more], REFERENCE).notes)
    assert f"for one comparison ID {low} to {high} (median {middle})" in notes


def resolved(arms):
    """Return what the note says for one comparison of ID and OOD, of one arm."""
    notes = " ".join(suite_table("", arms, REFERENCE).notes)
    return tuple(map(float, re.search(r"for one comparison ID (\d+\.\d), OOD (\d+\.\d)", notes).groups()))


def only_first_seed(arm):
    waiting = MissingSeed(CellState.PENDING, "not started")
    return replace(arm, seeds={n: seed if n == 0 else waiting for n, seed in arm.seeds.items()})


def test_a_difference_on_one_of_several_planned_seeds_is_not_tested(three_seed_report):
    arms = list(three_seed_report.arms)
    whole = rows_of(three_seed_report)
    arms[3] = only_first_seed(arms[3])
    cells = rows_of(three_seed_report, arms)
    cell = cells[arms[3].arm]["delta_id"]
    assert cell.value is not None
    assert (cell.seeds, cell.planned, cell.state) == (1, 3, CellState.PARTIAL)
    assert (cell.p_value, cell.p_adjusted, cell.significant, cell.strong) == (None, None, False, False)
    kept = [own[key] for own in cells.values() for key in ("delta_id", "delta_ood") if own[key].p_value is not None]
    assert len(kept) == 6
    assert [cell.p_adjusted for cell in kept] == pytest.approx(holm([cell.p_value for cell in kept] + [1.0] * 6)[:6])
    assert cells[arms[2].arm]["delta_id"].p_value == whole[arms[2].arm]["delta_id"].p_value
    notes = " ".join(suite_table("", arms, REFERENCE).notes)
    assert "Holm's correction for all 12 differences of this table" in notes
    assert "A difference on 1 of several planned seeds is not tested" in notes


def test_losing_seeds_of_one_arm_does_not_make_the_table_resolve_more(three_seed_report):
    base, full, few, ttrl = three_seed_report.arms[:4]
    assert resolved([base, full, few, only_first_seed(ttrl)]) == resolved([base, full, few])


def test_an_arm_that_is_not_finished_makes_the_others_no_more_certain(three_seed_report):
    arms = list(three_seed_report.arms)
    whole = rows_of(three_seed_report)[arms[3].arm]["delta_id"]
    arms[2] = only_first_seed(arms[2])
    assert rows_of(three_seed_report, arms)[arms[3].arm]["delta_id"].p_adjusted >= whole.p_adjusted


def test_a_suite_that_planned_one_seed_tests_questions_and_says_so(quick_report):
    cells = rows_of(quick_report)["ttrl, 0% labels"]
    assert cells["delta_id"].p_adjusted is not None
    notes = " ".join(suite_table("", quick_report.arms, REFERENCE).notes)
    assert "This is about questions only, for these training runs; over seeds it is unknown." in notes
    assert "is not tested" not in notes


def test_without_a_second_seed_anywhere_nothing_is_tested_and_nothing_known_over_seeds(three_seed_report):
    arms = [only_first_seed(arm) if arm.trained else arm for arm in three_seed_report.arms[:5]]
    notes = " ".join(suite_table("", arms, REFERENCE).notes)
    assert "over seeds it is unknown" in notes
    assert "Holm" not in notes


def test_with_several_seeds_the_note_is_not_about_questions_only(three_seed_report):
    assert "over seeds it is unknown" not in " ".join(suite_table("", three_seed_report.arms, REFERENCE).notes)


def test_the_notes_say_what_was_measured_how_often_and_what_an_error_is(three_seed_report):
    notes = " ".join(suite_table("", three_seed_report.arms, REFERENCE).notes)
    assert "Accuracies in points (avg@8)" in notes
    assert "ID 40 questions (add, mul); OOD 20 questions (words). Planned for each trained arm: 3 seeds." in notes
    assert "±: standard error of an accuracy, clustered by question" in notes
    assert "– at both ends and where the two cannot be told apart" in notes


def test_benchmarks_with_different_numbers_of_responses_are_each_named_with_theirs(quick_report):
    def sampled(record):
        entries = dict(record["benchmarks"])
        return {**record, "benchmarks": entries | {"add": {**entries["add"], "samples": 32}}}

    arms = [
        replace(arm, seeds={0: replace(arm.finished[0], record=sampled(arm.finished[0].record))})
        for arm in quick_report.arms[1:3]
    ]
    notes = " ".join(suite_table("", arms, REFERENCE).notes)
    assert "Accuracies in points (avg@n)" in notes
    assert "ID 40 questions (add with n = 32, mul with n = 8)" in notes
    titles = [column.title for column in response_table("", arms, REFERENCE).columns]
    assert titles[:2] == ["maj@n", "pass@8"]


def test_seeds_have_a_column_where_arms_planned_different_numbers(three_seed_report):
    few = replace(three_seed_report.arms[2], seeds={0: three_seed_report.arms[2].seeds[0]})
    arms = [*three_seed_report.arms[:2], few]
    table = suite_table("", arms, REFERENCE)
    assert "seeds" in {column.key for column in table.columns}
    assert [row.cells["seeds"].value for row in table.rows] == [None, 3, 1]
    assert "Planned for each trained arm" not in " ".join(table.notes)
    assert "seeds" not in {column.key for column in suite_table("", three_seed_report.arms, REFERENCE).columns}


def test_a_method_that_reads_no_labels_has_a_ratio_of_zero(quick_report):
    blind = replace(quick_report.arms[3], arm="random_reward, 0% labels", label_ratio=None)
    cells = rows_of(quick_report, [*quick_report.arms[:3], blind])[blind.arm]
    assert (cells["label_ratio"].value, cells["labels"].value) == (0.0, 0)


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
    assert cells["delta_id"].note == f"no seed in common with {full.arm}: [1], [0]"
    assert cells["gap_id"].value is None


@pytest.mark.parametrize("kind", ["grader", "data", "protocol"])
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
