"""Labels against accuracy: which arms no other arm beats at the same cost or less.

The labels of an arm are what it bought (wrong ones and calibration included), the untrained policy bought none.
The axis is logarithmic with room for zero, as methods without labels are what the figure is about; arms of equal
cost stand side by side, so that their error bars can be told apart: those on the frontier at their cost, through
which the line of the frontier goes, and the others around them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark.report.drawing import NEUTRAL, Figure, Panel, colour_and_shape, styles_of, to_svg
from benchmark.report.legend import LegendEntry, Style, counted
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult
from benchmark.report.table_model import GROUP_TITLES, Column, Quantity, Row, Table, TableCell

NORMAL_95 = 1.959964
"""Half width of a 95% interval in standard errors."""
_GAP, _WIDEST = 0.02, 0.12  # between arms of one cost, and of all of them: shares of the axis
_COLUMNS = (
    Column("labels", "Labels", Quantity.COUNT, "ground-truth answers revealed to training"),
    Column("accuracy", "Accuracy", Quantity.ACCURACY, with_error=True),
    Column("frontier", "Frontier", Quantity.TEXT, "no other arm is as accurate with as few labels"),
)


@dataclass(frozen=True, slots=True)
class CostPoint:
    """An arm by what its labels cost and what they gave."""

    arm: str
    labels: float
    accuracy: TableCell  # with a value


def frontier(points: Sequence[CostPoint]) -> tuple[CostPoint, ...]:
    """Return the points that no other dominates, by labels ascending.

    A point is dominated by one with no more labels and no less accuracy that is better in one of the two; equal
    points stand together.
    """

    def key(point: CostPoint) -> tuple[float, float]:
        return point.labels, -float(point.accuracy.value or 0.0)

    kept: list[CostPoint] = []
    for point in sorted(points, key=key):
        if not kept or key(point)[1] < key(kept[-1])[1] or key(point) == key(kept[-1]):
            kept.append(point)
    return tuple(kept)


def pareto_figure(main: Table, arms: Sequence[ArmResult], group: str) -> Figure | None:
    """Draw labels against the average of a group of benchmarks, from the rows of the main table.

    None where fewer than two costs have an accuracy: then there is nothing to trade.
    """
    points = _points(main, arms, group)
    if len({point.labels for point in points}) < 2:
        return None
    best = frontier(points)
    trained = [arm.arm for arm in arms if arm.trained]
    styles = styles_of([*trained, *(arm.arm for arm in arms if not arm.trained)])
    shown = {point.arm: replace(styles[point.arm], dash=None) for point in points}
    key, title = f"labels-{group}", f"{GROUP_TITLES[group]} accuracy against labels"
    reference = next((point for point in points for row in main.rows if row.reference and row.label == point.arm), None)
    svg = to_svg(_chart(points, best, reference, shown, group), key)
    rows = tuple(Row(point.arm, _cells(point, point in best), point == reference) for point in points)
    table = Table(title, key, "Arm", _COLUMNS, rows, _notes(points, reference))
    return Figure(key, title, _describe(best, reference), (Panel("", svg, _legend(points, best, shown)),), table)


def side_by_side(costs: Sequence[float], constant: float, centred: Sequence[bool] | None = None) -> list[float]:
    """Move apart equal costs, evenly on an axis that is log(1 + cost / constant), as symlog scales are.

    Those that are `centred` come first and take the places nearest to the cost itself. The places of one cost never
    reach those of its neighbours.
    """
    first = centred or [False] * len(costs)
    at = {cost: math.log1p(cost / constant) for cost in costs}
    moved = list(costs)
    for cost, middle in at.items():
        here = sorted((i for i, other in enumerate(costs) if other == cost), key=lambda i: not first[i])
        nearest = min((abs(middle - other) for other in at.values() if other != middle), default=math.inf)
        gap = min(_GAP * max(at.values()), _WIDEST * max(at.values()) / len(here), nearest / (len(here) + 1))
        for place, i in enumerate(here):
            moved[i] = constant * math.expm1(middle + _alternating(place) * gap)
    return moved


def _alternating(place: int) -> int:
    """Count places from a centre outwards: 0, 1, -1, 2, -2, ..."""
    return (place + 1) // 2 if place % 2 else -(place // 2)


def _legend(
    points: Sequence[CostPoint], best: Sequence[CostPoint], styles: Mapping[str, Style]
) -> tuple[LegendEntry, ...]:
    return tuple(
        LegendEntry(counted(point.arm, point.accuracy.seeds_text), styles[point.arm], point in best) for point in points
    )


def _notes(points: Sequence[CostPoint], reference: CostPoint | None) -> tuple[str, ...]:
    """Say what the marks mean."""
    apart = len({point.labels for point in points}) < len(points)
    return (
        "Filled points, joined by the grey line: no other arm is as accurate with as few labels (the frontier). "
        "Open points: some arm is. Bars: 95%, over the choice of questions."
        + (f" Dashed grey line: the reference, {reference.arm}." if reference else "")
        + (" Arms with equally many labels stand side by side." if apart else ""),
    )


def _points(main: Table, arms: Sequence[ArmResult], group: str) -> tuple[CostPoint, ...]:
    trained = {arm.arm: arm.trained for arm in arms}
    found = []
    for row in main.rows:
        labels = row.cells["labels"].value if trained[row.label] else 0.0
        if isinstance(labels, float) and row.cells[group].value is not None:
            found.append(CostPoint(row.label, labels, row.cells[group]))
    return tuple(found)


def _cells(point: CostPoint, best: bool) -> dict[str, TableCell]:
    return {
        "labels": TableCell(point.labels),
        "accuracy": point.accuracy,
        "frontier": TableCell("yes" if best else "no"),
    }


def _describe(best: Sequence[CostPoint], reference: CostPoint | None) -> str:
    said = [
        f"{point.arm}: {_accuracy(point)} with {number_text(point.labels, Quantity.COUNT)} labels" for point in best
    ]
    last = f" The dashed line is the reference, {reference.arm}, at {_accuracy(reference)}." if reference else ""
    return f"On the frontier, fewest labels first: {'; '.join(said)}.{last}"


def _accuracy(point: CostPoint) -> str:
    return f"{number_text(float(point.accuracy.value or 0.0), Quantity.ACCURACY)} points"


def _chart(
    points: Sequence[CostPoint],
    best: Sequence[CostPoint],
    reference: CostPoint | None,
    styles: Mapping[str, Style],
    group: str,
) -> Any:
    import altair as alt

    costs = sorted({point.labels for point in points})
    constant = max(1.0, min(cost for cost in costs if cost > 0) / 2)
    scale = alt.Scale(type="symlog", constant=constant, nice=False, padding=8)
    x = alt.X("labels:Q", title="Labels revealed to training", scale=scale, axis=_cost_axis(costs))
    y = alt.Y("accuracy:Q", title=f"{GROUP_TITLES[group]} accuracy (points)", scale=alt.Scale(zero=False, nice=True))
    colour, shape = colour_and_shape(dict(styles))
    places = side_by_side([point.labels for point in points], constant, [point in best for point in points])
    data = [_datum(point, point in best) | {"labels": place} for point, place in zip(points, places, strict=True)]
    joined = sorted((datum for datum in data if datum["frontier"]), key=lambda datum: float(datum["labels"]))
    base = alt.Chart(alt.InlineData(values=data)).encode(x=x, y=y)
    bars = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.5)
        .encode(y="low:Q", y2="high:Q", color=colour)
    )
    marks = {
        filled: base.transform_filter(f"datum.frontier == {str(filled).lower()}")
        .mark_point(size=80, filled=filled, opacity=1, strokeWidth=2)
        .encode(color=colour, shape=shape)
        for filled in (False, True)
    }
    end = joined[-1] | {"labels": max(joined[-1]["labels"], costs[-1])}
    line = (
        alt.Chart(alt.InlineData(values=[*joined, end]))
        .mark_line(interpolate="step-after", color=NEUTRAL, strokeWidth=1.5)
        .encode(x=x, y=y)
    )
    layers = [line, bars, marks[False], marks[True]]
    if reference is not None:
        rule = alt.Chart(alt.InlineData(values=[_datum(reference, True)]))
        layers.insert(0, rule.mark_rule(color=NEUTRAL, strokeDash=[4, 4]).encode(y=y))
    return alt.layer(*layers)


def _cost_axis(costs: Sequence[float]) -> Any:
    import altair as alt

    return alt.Axis(values=list(costs), labelOverlap="greedy", grid=False, format=",.0f")


def _datum(point: CostPoint, best: bool) -> dict[str, Any]:
    value = 100 * float(point.accuracy.value or 0.0)
    bar = None if point.accuracy.error is None else 100 * NORMAL_95 * point.accuracy.error
    ends = {} if bar is None else {"low": value - bar, "high": value + bar}
    return {"arm": point.arm, "labels": point.labels, "accuracy": value, "frontier": best, **ends}
