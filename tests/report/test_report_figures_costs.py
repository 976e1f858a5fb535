"""Labels against accuracy, and accuracy against noise: which points, which frontier, which curves."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_world import REFERENCE

from benchmark.report.html import cost_figures
from benchmark.report.noise_curves import noise_curves, noise_figures
from benchmark.report.pareto import CostPoint, frontier, pareto_figure, side_by_side
from benchmark.report.results import ArmResult, CellState
from benchmark.report.table_model import GROUP_TITLES, Column, Quantity, Row, Table, TableCell, missing
from benchmark.report.tables import report_tables


def points(*pairs) -> list[CostPoint]:
    return [CostPoint(f"arm {i}", labels, TableCell(accuracy)) for i, (labels, accuracy) in enumerate(pairs)]


def on_frontier(*pairs) -> list[tuple[float, float]]:
    return [(point.labels, point.accuracy.value) for point in frontier(points(*pairs))]


def test_the_frontier_is_what_nobody_beats_at_the_same_cost_or_less():
    assert on_frontier((0, 0.4), (154, 0.5), (154, 0.45), (192, 0.5), (1536, 0.6)) == [
        (0, 0.4),
        (154, 0.5),
        (1536, 0.6),
    ]


def test_equal_points_stand_on_the_frontier_together():
    assert on_frontier((10, 0.5), (10, 0.5), (0, 0.3)) == [(0, 0.3), (10, 0.5), (10, 0.5)]


pairs = st.lists(
    st.tuples(st.integers(0, 5).map(float), st.integers(0, 5).map(lambda n: n / 5)), min_size=1, max_size=8
)


@given(pairs)
def test_a_point_is_off_the_frontier_exactly_if_another_dominates_it(found):
    def dominated(point):
        return any(other != point and other[0] <= point[0] and other[1] >= point[1] for other in found)

    assert sorted(on_frontier(*found)) == sorted(point for point in found if not dominated(point))


def test_arms_of_equal_cost_stand_side_by_side_and_others_where_they_are():
    places = side_by_side([0.0, 154.0, 154.0, 154.0, 1536.0], 77.0)
    assert (places[0], places[4]) == (pytest.approx(0.0), pytest.approx(1536.0))
    assert places[3] < places[1] < places[2]
    assert places[1] == pytest.approx(154)


def test_the_frontier_stands_at_its_cost():
    places = side_by_side([0.0, 154.0, 154.0, 154.0], 77.0, [False, False, True, False])
    assert places[2] == pytest.approx(154)
    assert places[3] < 154 < places[1]


@given(st.lists(st.integers(0, 2000).map(float), min_size=2, max_size=30).filter(lambda found: max(found) > 0))
def test_arms_that_are_moved_never_pass_an_arm_of_another_cost(costs):
    places = side_by_side(costs, 50.0)
    assert [costs[i] for i in sorted(range(len(costs)), key=places.__getitem__)] == sorted(costs)


def test_the_line_of_the_frontier_goes_through_the_points_that_are_drawn():
    cells = {
        f"a{i}": (labels, accuracy)
        for i, (labels, accuracy) in enumerate(
            [(0.0, 0.2), (0.0, 0.4), (0.0, 0.3), (154.0, 0.5), (154.0, 0.5), (154.0, 0.45), (1536.0, 0.6)]
        )
    }
    columns = (Column("labels", "Labels", Quantity.COUNT), Column("id", "ID", Quantity.ACCURACY))
    rows = tuple(
        Row(label, {"labels": TableCell(labels), "id": TableCell(accuracy)})
        for label, (labels, accuracy) in cells.items()
    )
    arms = [ArmResult(label, "m", 1.0, "none", {}) for label in cells]
    figure = pareto_figure(Table("t", "main", "Arm", columns, rows), arms, "id")
    root = ET.fromstring(figure.panels[0].svg)
    marks = {
        mark.get("aria-label").split("arm: ")[1].split(";")[0]: mark.get("transform")
        for mark in root.iter()
        if mark.get("aria-roledescription") == "point"
    }
    (line,) = [e.get("d") for e in root.iter() if e.get("aria-roledescription") == "line mark"]
    ends = [tuple(map(float, end)) for end in re.findall(r"([-\d.]+),([-\d.]+)", line)]
    for label in ("a1", "a3", "a4", "a6"):
        x, y = map(float, re.search(r"\(([-\d.]+), ?([-\d.]+)\)", marks[label]).groups())
        assert any(abs(x - end[0]) < 0.01 and abs(y - end[1]) < 0.01 for end in ends), label


def test_marks_are_explained_in_the_open_and_shown_in_the_legend(quick_report, main):
    figure = pareto_figure(main, quick_report.arms, "id")
    best = {row.label for row in figure.table.rows if row.cells["frontier"].value == "yes"}
    assert {entry.label for entry in figure.panels[0].legend if entry.filled} == best
    (note,) = figure.table.notes
    assert note.startswith("Filled points, joined by the grey line:")
    assert f"Dashed grey line: the reference, {REFERENCE}." in note


@pytest.fixture(scope="module")
def main(quick_report):
    return report_tables(quick_report)["main"]


def test_the_cost_figure_draws_each_arm_with_a_result_once(quick_report, main):
    figure = pareto_figure(main, quick_report.arms, "id")
    root = ET.fromstring(figure.panels[0].svg)
    marks = [e for e in root.iter() if e.get("aria-roledescription") == "point" and "arm:" in e.get("aria-label", "")]
    labels = {mark.get("aria-label").split("arm: ")[1].split(";")[0] for mark in marks}
    done = [arm.arm for arm in quick_report.arms if arm.state is CellState.DONE]
    assert labels == set(done)
    assert len(marks) == len(done)
    assert [row.label for row in figure.table.rows] == done
    texts = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {"ID accuracy (points)", "Labels revealed to training"} <= texts
    assert [entry.label for entry in figure.panels[0].legend] == done


def test_the_base_policy_costs_no_labels_and_starts_the_frontier_only_if_nothing_free_beats_it(quick_report, main):
    rows = {row.label: row.cells for row in pareto_figure(main, quick_report.arms, "id").table.rows}
    assert rows["base model"]["labels"].value == 0.0
    assert rows["base model"]["frontier"].value == "no"  # ttrl, 0% labels is better for as little
    assert rows[REFERENCE]["frontier"].value == "yes"


def test_the_words_beside_the_cost_figure_name_frontier_and_reference(quick_report, main):
    said = pareto_figure(main, quick_report.arms, "ood").description
    assert said.startswith("On the frontier, fewest labels first: ")
    assert f"The dashed line is the reference, {REFERENCE}, at " in said


def test_bars_are_95_percent_of_the_standard_error(quick_report, main):
    figure = pareto_figure(main, quick_report.arms, "id")
    cell = next(row for row in figure.table.rows if row.label == REFERENCE).cells["accuracy"]
    root = ET.fromstring(figure.panels[0].svg)
    rules = [e.get("aria-label") for e in root.iter() if e.get("aria-roledescription") == "rule mark"]
    low = next(float(text.split("low: ")[1].split(";")[0]) for text in rules if f"arm: {REFERENCE}" in text)
    assert low == pytest.approx(100 * (cell.value - 1.96 * cell.error), abs=0.01)


def test_without_two_costs_there_is_no_cost_figure(quick_report):
    report = replace(quick_report, arms=tuple(arm for arm in quick_report.arms if arm.arm in ("base model", REFERENCE)))
    assert len(cost_figures(report, report_tables(report)["main"])) == len(GROUP_TITLES)
    alone = replace(report, arms=report.arms[1:])
    assert cost_figures(alone, report_tables(alone)["main"]) == ()


def noisy(label: str, kind: str, ratio: float, family: str = "olr", trained: bool = True) -> ArmResult:
    return ArmResult(label, "olr", 1.0, "", {}, trained, kind, ratio, family)


def test_the_clean_arm_starts_the_curve_of_every_kind_of_noise():
    arms = [
        noisy("clean", "none", 0.0),
        noisy("a", "inactive", 0.5),
        noisy("b", "inactive", 0.3),
        noisy("c", "active", 0.5),
    ]
    cells = {"clean": TableCell(0.6), "a": TableCell(0.4), "b": TableCell(0.5), "c": TableCell(0.3)}
    inactive = noise_curves(cells, arms, "inactive")["olr"]
    assert [(ratio, cell.value) for ratio, cell in inactive.items()] == [(0.0, 0.6), (0.3, 0.5), (0.5, 0.4)]
    assert list(noise_curves(cells, arms, "active")["olr"]) == [0.0, 0.5]


def test_one_ratio_is_a_single_point_and_a_missing_accuracy_none():
    arms = [noisy("a", "inactive", 0.5), noisy("clean", "none", 0.0), noisy("base model", "none", 0.0, trained=False)]
    cells = {"a": TableCell(0.4), "clean": missing(CellState.FAILED, "lost"), "base model": TableCell(0.2)}
    assert {family: list(curve) for family, curve in noise_curves(cells, arms, "inactive").items()} == {"olr": [0.5]}


def test_an_arm_without_noise_alone_is_no_curve():
    arms = [noisy("a", "inactive", 0.5), noisy("other", "none", 0.0, family="ttrl")]
    cells = {"a": TableCell(0.4), "other": TableCell(0.5)}
    assert list(noise_curves(cells, arms, "inactive")) == ["olr"]


def test_a_family_with_one_ratio_is_drawn_beside_the_curves_of_the_others(quick_report, main):
    half = {"noise_kind": "active_fixed", "noise_ratio": 0.5}
    first, few, ttrl = quick_report.arms[1:4]
    arms = [replace(first, family="grpo"), replace(few, family="grpo", **half), replace(ttrl, family="olr", **half)]
    (figure,) = noise_figures(main, arms, "id")
    assert [row.label for row in figure.table.rows] == ["grpo", "olr"]
    root = ET.fromstring(figure.panels[0].svg)
    marks = [e.get("aria-label") for e in root.iter() if e.get("aria-roledescription") == "point"]
    assert sum("arm: olr" in mark for mark in marks) == 1
    assert sum("arm: grpo" in mark for mark in marks) == 2
    bars = [e.get("aria-label") for e in root.iter() if e.get("aria-roledescription") == "rule mark"]
    assert len(bars) == 3
    grpo, olr = figure.panels[0].legend
    assert (grpo.style.dash is None, olr.style.dash is None) == (False, True)


def test_a_noise_figure_has_a_line_per_family_and_says_the_same_in_words(quick_report, main):
    few, ttrl = quick_report.arms[2], quick_report.arms[3]
    half = {"noise_kind": "active_fixed", "noise_ratio": 0.5}
    arms = [
        replace(quick_report.arms[1], family="grpo"),
        replace(few, family="grpo", **half),
        replace(quick_report.arms[4], family="olr"),
        replace(ttrl, family="olr", **half),
    ]
    (figure,) = noise_figures(main, arms, "id")
    assert figure.title == "ID accuracy under active fixed noise"
    assert [column.title for column in figure.table.columns] == ["0.0% wrong", "50.0% wrong"]
    assert [row.label for row in figure.table.rows] == ["grpo", "olr"]
    value = f"{100 * figure.table.rows[0].cells['noise_0.5'].value:.1f} at 50.0%"
    assert value in figure.description
    root = ET.fromstring(figure.panels[0].svg)
    lines = [e for e in root.iter() if e.get("aria-roledescription") == "line mark"]
    assert len({line.get("stroke") for line in lines}) == len({line.get("stroke-dasharray") for line in lines}) == 2


def test_a_suite_without_noise_has_no_noise_figure(quick_report, main):
    assert noise_figures(main, quick_report.arms, "id") == ()
