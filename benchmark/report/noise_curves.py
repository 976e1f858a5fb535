"""Accuracy by the share of wrong labels: one figure per kind of noise and group of benchmarks.

Arms of one family differ by their noise alone, and the arm without noise is the start of each of its curves.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.report.drawing import Figure, Style, colour_and_shape, styles_of, to_svg
from benchmark.report.pareto import NORMAL_95
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult, CellState
from benchmark.report.table_model import GROUP_TITLES, Column, Quantity, Row, Table, TableCell, missing

Curve = Mapping[float, TableCell]
"""Accuracy by noise ratio, ascending; every cell has a value."""


def noise_figures(main: Table, arms: Sequence[ArmResult], group: str) -> tuple[Figure, ...]:
    """Draw a figure for each kind of noise of which some family has two ratios or more with an accuracy."""
    cells = {row.label: row.cells[group] for row in main.rows}
    kinds = dict.fromkeys(arm.noise_kind for arm in arms if arm.noise_ratio > 0)
    found = {kind: noise_curves(cells, arms, kind) for kind in kinds}
    families = dict.fromkeys(family for curves in found.values() for family in curves)
    styles = styles_of(list(families))
    return tuple(_figure(kind, group, curves, styles) for kind, curves in found.items() if curves)


def noise_curves(cells: Mapping[str, TableCell], arms: Sequence[ArmResult], kind: str) -> dict[str, Curve]:
    """Return the curve of each family under a kind of noise, from the accuracy of each arm by its label."""
    curves: dict[str, dict[float, TableCell]] = {}
    for arm in arms:
        if arm.trained and (arm.noise_kind == kind or arm.noise_ratio == 0) and cells[arm.arm].value is not None:
            curves.setdefault(arm.family, {})[arm.noise_ratio] = cells[arm.arm]
    return {family: dict(sorted(points.items())) for family, points in curves.items() if len(points) > 1}


def _figure(kind: str, group: str, curves: dict[str, Curve], styles: Mapping[str, Style]) -> Figure:
    key = f"noise-{kind}-{group}"
    title = f"{GROUP_TITLES[group]} accuracy"
    name = f"{title} under {kind.replace('_', ' ')} noise"
    svg = to_svg(_chart(curves, {family: styles[family] for family in curves}, title), key)
    return Figure(key, name, _describe(curves), svg, _table(name, key, curves))


def _describe(curves: Mapping[str, Curve]) -> str:
    said = []
    for family, curve in curves.items():
        points = ", ".join(
            f"{number_text(float(cell.value or 0.0), Quantity.ACCURACY)} at {number_text(ratio, Quantity.SHARE)}"
            for ratio, cell in curve.items()
        )
        said.append(f"{family}: {points}.")
    return f"Points by share of wrong labels. {' '.join(said)}"


def _table(title: str, key: str, curves: Mapping[str, Curve]) -> Table:
    ratios = sorted({ratio for curve in curves.values() for ratio in curve})
    columns = tuple(
        Column(f"noise_{ratio:g}", f"{number_text(ratio, Quantity.SHARE)} wrong", Quantity.ACCURACY, with_error=True)
        for ratio in ratios
    )
    absent = missing(CellState.NOT_APPLICABLE, "no such arm in the suite, or it has no result")
    rows = tuple(
        Row(family, {f"noise_{ratio:g}": curve.get(ratio, absent) for ratio in ratios})
        for family, curve in curves.items()
    )
    return Table(title, key, "Method", columns, rows, ("Bars: 95%, over the choice of questions.",))


def _chart(curves: Mapping[str, Curve], styles: dict[str, Style], title: str) -> Any:
    import altair as alt

    rows: list[dict[str, Any]] = []
    for family, curve in curves.items():
        for ratio, cell in curve.items():
            value = 100 * float(cell.value or 0.0)
            bar = None if cell.error is None else 100 * NORMAL_95 * cell.error
            ends = {} if bar is None else {"low": value - bar, "high": value + bar}
            rows.append(
                {"arm": family, "noise": 100 * ratio, "accuracy": value, "dash": list(styles[family].dash), **ends}
            )
    ratios = sorted({row["noise"] for row in rows})
    colour, shape = colour_and_shape(styles)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("noise:Q", title="Wrong labels (%)", axis=alt.Axis(values=ratios, grid=False)),
        y=alt.Y("accuracy:Q", title=f"{title} (points)", scale=alt.Scale(zero=False, nice=True)),
        color=colour,
    )
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5).encode(y="low:Q", y2="high:Q")
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("dash:N", scale=None, legend=None))
    points = base.mark_point(size=55, filled=True, opacity=1).encode(shape=shape)
    return alt.layer(bars, lines, points)
