"""The table against the same labels: who stands beside whom, and that its differences are a family of their own."""

from dataclasses import replace

import pytest
from report_world import REFERENCE

from benchmark.report.multiplicity import holm
from benchmark.report.same_labels_table import same_labels_table
from benchmark.report.stats import paired_difference


def arms_with_partners(report):
    """Return base, reference, labelled-only and two arms, of which the last two have a partner."""
    base, full, few, ttrl, more = report.arms[:5]
    return [base, full, few, replace(ttrl, plain=few.arm), replace(more, plain=few.arm)]


def test_each_difference_is_paired_with_the_arm_that_has_the_same_labels(three_seed_report):
    arms = arms_with_partners(three_seed_report)
    table = same_labels_table("", arms, REFERENCE)
    assert [row.label for row in table.rows] == [arms[3].arm, arms[4].arm]
    few = {number: seed.items.of_group("id") for number, seed in arms[2].finished.items()}
    for row, arm in zip(table.rows, arms[3:], strict=True):
        own = {number: seed.items.of_group("id") for number, seed in arm.finished.items()}
        assert row.cells["plain"].value == arms[2].arm
        assert row.cells["delta_id"].value == pytest.approx(paired_difference(own, few).mean)


def test_its_differences_are_corrected_for_among_themselves(three_seed_report):
    table = same_labels_table("", arms_with_partners(three_seed_report), REFERENCE)
    cells = [row.cells[key] for key in ("delta_id", "delta_ood") for row in table.rows]
    assert [cell.p_adjusted for cell in cells] == pytest.approx(holm([cell.p_value for cell in cells]))
    assert "for all 4 differences of this table" in table.notes[0]


def test_a_partner_that_is_the_reference_is_left_to_the_main_table(three_seed_report):
    base, full, few = three_seed_report.arms[:3]
    table = same_labels_table("", [base, full, replace(few, plain=full.arm)], REFERENCE)
    assert (table.rows, table.columns, table.notes) == ((), (), ())
