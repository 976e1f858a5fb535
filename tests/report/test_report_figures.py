"""Curves over seeds, and the drawings that are made of them."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from benchmark import artifacts
from benchmark.report.drawing import NEUTRAL, styles_of
from benchmark.report.figures import LEARNING, SUPERVISION, draw, mean_curve
from benchmark.report.panels import LINES, panels_of, repeated_arms
from benchmark.report.render import cell_text
from benchmark.report.results import ArmResult, CellState, Curve, MissingSeed, SeedResult


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


def lines_of(svg: str) -> dict[str, tuple[str, str]]:
    """Return stroke and dash of each line by its arm."""
    found = [e for e in ET.fromstring(svg).iter() if e.get("aria-roledescription") == "line mark"]
    return {
        line.get("aria-label").split("arm: ")[1].split(";")[0]: (line.get("stroke"), line.get("stroke-dasharray"))
        for line in found
    }


def test_a_drawing_has_a_line_per_arm_and_the_page_a_legend_entry(quick_report):
    figure = draw(LEARNING, quick_report.arms)[0]
    (panel,) = figure.panels
    labels = {row.label for row in figure.table.rows}
    assert len(labels) == 4
    assert set(lines_of(panel.svg)) == {entry.label for entry in panel.legend} == labels
    texts = {element.text for element in ET.fromstring(panel.svg).iter() if element.tag.endswith("text")}
    assert "Panel accuracy (%)" in texts
    assert not texts & labels  # fonts differ between machines, and a text in the drawing would be cut off


def test_an_arm_keeps_its_colour_in_every_drawing_and_its_legend_shows_colour_and_dash(quick_report):
    styles, entries = {}, {}
    for figure in draw((*LEARNING, *SUPERVISION), quick_report.arms):
        for panel in figure.panels:
            for label, style in lines_of(panel.svg).items():
                styles.setdefault(label, set()).add(style)
            entries |= {entry.label: entry for entry in panel.legend}
    assert len(styles) == 4
    assert all(len(found) == 1 for found in styles.values())
    assert len({style for found in styles.values() for style in found}) == 4
    for label, ((colour, dash),) in styles.items():
        swatch = ET.fromstring(entries[label].swatch)
        (line,) = [e for e in swatch if e.get("stroke-dasharray")]
        assert (line.get("stroke"), line.get("stroke-dasharray").replace(" ", ",")) == (colour, dash or "1,0")


def test_grey_is_no_arms_colour():
    assert NEUTRAL not in {style.colour for style in styles_of([str(i) for i in range(50)]).values()}


def named(method: str, label: str, values=(0.4, 0.5), seeds=1, missing=0) -> ArmResult:
    result = SeedResult(
        {}, None, None, Path(), {"m": curve([1, 2], values), artifacts.TRAIN_REWARD: curve([1, 2], values)}
    )
    waiting = {seeds + n: MissingSeed(CellState.PENDING, "not started") for n in range(missing)}
    return ArmResult(label, method, 1.0, "none", dict.fromkeys(range(seeds), result) | waiting)


def crowd() -> list[ArmResult]:
    methods = [named(f"m{i}", f"m{i}, {ratio} labels") for i in range(5) for ratio in ("0%", "10%")]
    return [named("grpo", "reference"), *methods, named("random_reward", "control")]


def panels(arms, domain=None):
    curves = {arm.arm: mean_curve(arm, "m") for arm in arms}
    return panels_of(arms, curves, repeated_arms(arms, "reference"), domain)


def test_a_panel_has_whole_methods_and_few_lines():
    found = panels(crowd())
    assert [panel.title for panel in found] == ["m0, m1, m2", "m3, m4"]
    assert all(len(panel.arms) <= LINES for panel in found)
    assert [label for panel in found for label in panel.arms] == [arm.arm for arm in crowd()[1:-1]]


def test_a_method_with_many_arms_is_divided():
    found = panels([named("grpo", "reference"), *(named("olr", f"olr {i}") for i in range(8))])
    assert [(panel.title, len(panel.arms)) for panel in found] == [("olr, 1 of 2", 4), ("olr, 2 of 2", 4)]


def test_the_reference_and_the_control_are_grey_in_every_panel():
    (figure,) = draw(LEARNING[1:], crowd(), "reference")
    assert [entry.label for entry in figure.legend] == ["reference", "control"]
    for panel in figure.panels:
        lines = lines_of(panel.svg)
        assert {label for label, (colour, _) in lines.items() if colour == NEUTRAL} == {"reference", "control"}
        assert lines["reference"] != lines["control"]
        assert set(lines) - {"reference", "control"} == {entry.label for entry in panel.legend}


def test_a_reward_on_another_scale_has_a_panel_of_its_own_and_leaves_the_axis_of_the_others():
    arms = [*crowd(), named("self_certainty", "sc", (12.0, 13.0))]
    (figure,) = draw(LEARNING[1:], arms, "reference")
    *common, own = figure.panels
    assert own.title == "self_certainty (scale of its own)"
    assert set(lines_of(own.svg)) == {"sc"}
    for panel in common:
        assert {"0.0", "1.0"} <= {e.text for e in ET.fromstring(panel.svg).iter() if e.tag.endswith("text")}


def test_shares_have_an_axis_from_0_to_100_also_where_all_are_100():
    spec = next(spec for spec in SUPERVISION if spec.metric == "supervision/admitted_share")
    result = SeedResult({}, None, None, Path(), {spec.metric: curve([1, 2], [1.0, 1.0])})
    (figure,) = draw([spec], [ArmResult("a", "grpo", 1.0, "none", {0: result})])
    texts = {e.text for e in ET.fromstring(figure.panels[0].svg).iter() if e.tag.endswith("text")}
    assert {"0", "20", "40", "60", "80", "100"} <= texts


def test_a_line_of_fewer_seeds_than_planned_says_so_in_legend_table_and_words():
    (figure,) = draw(LEARNING[1:], [named("ttrl", "ttrl", missing=2), named("olr", "olr")])
    assert [entry.label for entry in figure.panels[0].legend] == ["ttrl (1/3)", "olr"]
    cells = [row.cells["step_2"] for row in figure.table.rows]
    assert [cell.state for cell in cells] == [CellState.PARTIAL, CellState.DONE]
    assert [cell_text(cell, figure.table.columns[1]) for cell in cells] == ["0.500 (1/3)", "0.500"]
    assert "ttrl: 0.400 at step 1, 0.500 at step 2, 1 of 3 seeds." in figure.description


def test_the_table_beside_a_drawing_has_its_first_and_last_step(quick_report):
    panel = draw(LEARNING, quick_report.arms)[0]
    assert [column.key for column in panel.table.columns][:: len(panel.table.columns) - 1] == ["step_1", "step_60"]
    seed = quick_report.arms[1].finished[0]
    assert panel.table.rows[0].cells["step_60"].value == seed.curves[artifacts.PANEL_ACCURACY].values[-1]
