"""Curves over seeds, and the drawings that are made of them."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from benchmark import artifacts
from benchmark.report.figures import LEARNING, SUPERVISION, draw, mean_curve
from benchmark.report.results import ArmResult, Curve, SeedResult


def arm(*curves: Curve | None) -> ArmResult:
    seeds = {
        n: SeedResult({}, None, None, Path(), {} if curve is None else {"m": curve}) for n, curve in enumerate(curves)
    }
    return ArmResult("arm", "grpo", 1.0, "none", seeds)


def curve(steps, values) -> Curve:
    return Curve(np.array(steps), np.array(values, dtype=float))


def test_seeds_are_averaged_at_the_steps_that_all_have():
    found = mean_curve(arm(curve([0, 10, 20], [0.1, 0.2, 0.3]), curve([10, 20, 30], [0.4, 0.5, 0.6])), "m")
    assert found.steps.tolist() == [10, 20]
    assert found.values.tolist() == pytest.approx([0.3, 0.4])


def test_a_curve_that_a_seed_lacks_is_not_drawn_from_the_others():
    assert mean_curve(arm(curve([0], [0.1]), None), "m") is None
    assert mean_curve(arm(curve([0], [0.1]), curve([1], [0.1])), "m") is None


def test_only_recorded_metrics_are_drawn_and_only_for_arms_that_have_them(quick_report):
    figures = draw(SUPERVISION, quick_report.arms)
    assert [figure.key for figure in figures] == ["supervision-pseudo_label_accuracy", "supervision-true_pass_rate"]
    assert [row.label for row in figures[0].table.rows] == ["ttrl, 0% labels", "ttrl, 10% labels"]


def test_a_drawing_has_a_line_and_a_legend_entry_per_arm(quick_report):
    panel = draw(LEARNING, quick_report.arms)[0]
    root = ET.fromstring(panel.svg)
    groups = [element.get("class", "") for element in root.iter()]
    assert sum("mark-line" in name and "role-mark" in name for name in groups) == 4
    texts = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {row.label for row in panel.table.rows} <= texts
    assert "Panel accuracy (%)" in texts


def test_an_arm_keeps_its_colour_in_every_drawing(quick_report):
    styles = {}
    for figure in draw((*LEARNING, *SUPERVISION), quick_report.arms):
        root = ET.fromstring(figure.svg)
        lines = [e for e in root.iter() if e.tag.endswith("path") and e.get("aria-roledescription") == "line mark"]
        assert lines
        for line in lines:
            label = line.get("aria-label").split("arm: ")[1].split(";")[0]
            styles.setdefault(label, set()).add((line.get("stroke"), line.get("stroke-dasharray")))
    assert len(styles) == 4
    assert all(len(found) == 1 for found in styles.values())
    assert len({style for found in styles.values() for style in found}) == 4


def test_the_table_beside_a_drawing_has_its_first_and_last_step(quick_report):
    panel = draw(LEARNING, quick_report.arms)[0]
    assert [column.key for column in panel.table.columns][:: len(panel.table.columns) - 1] == ["step_1", "step_60"]
    seed = quick_report.arms[1].finished[0]
    assert panel.table.rows[0].cells["step_60"].value == seed.curves[artifacts.PANEL_ACCURACY].values[-1]
