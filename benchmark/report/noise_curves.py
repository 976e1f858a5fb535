"""Accuracy by the share of wrong labels: one figure per kind of noise and group of benchmarks.

Arms of one family differ by their noise alone, and the arm without noise is the start of each of its curves. A family
with one share of wrong labels has a point instead of a line. Families stand side by side at each share, so that
their error bars can be told apart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.report.drawing import Figure, Panel, colour_and_shape, styles_of, to_svg
from benchmark.report.legend import LegendEntry, Style
from benchmark.report.pareto import NORMAL_95
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult, CellState
from benchmark.report.table_model import GROUP_TITLES, Column, Quantity, Row, Table, TableCell, missing

Curve = Mapping[float, TableCell]
"""Accuracy by noise ratio, ascending; every cell has a value."""
_BESIDE = 1.2  # points of noise between families at one ratio
_NOTE = (
    "Bars: 95%, over the choice of questions. Methods stand side by side at each share of wrong labels; one without a "
    "line has a result at a single share."
)


def noise_figures(main: Table, arms: Sequence[ArmResult], group: str) -> tuple[Figure, ...]:
    """Draw a figure for each kind of noise under which some arm has an accuracy."""
    cells = {row.label: row.cells[group] for row in main.rows}
    kinds = dict.fromkeys(arm.noise_kind for arm in arms if arm.noise_ratio > 0)
    found = {kind: noise_curves(cells, arms, kind) for kind in kinds}
    families = dict.fromkeys(family for curves in found.values() for family in curves)
    styles = styles_of(list(families))
    return tuple(_figure(kind, group, curves, styles) for kind, curves in found.items() if curves)


def noise_curves(cells: Mapping[str, TableCell], arms: Sequence[ArmResult], kind: str) -> dict[str, Curve]:
    """Return the curve of each family with an arm under a kind of noise, from the accuracy of each arm by its label."""
    curves: dict[str, dict[float, TableCell]] = {}
    for arm in arms:
        if arm.trained and (arm.noise_kind == kind or arm.noise_ratio == 0) and cells[arm.arm].value is not None:
            curves.setdefault(arm.family, {})[arm.noise_ratio] = cells[arm.arm]
    return {family: dict(sorted(points.items())) for family, points in curves.items() if max(points) > 0}


def _figure(kind: str, group: str, curves: dict[str, Curve], styles: Mapping[str, Style]) -> Figure:
    key = f"noise-{kind}-{group}"
    title = f"{GROUP_TITLES[group]} accuracy"
    name = f"{title} under {kind.replace('_', ' ')} noise"
    shown = {family: styles[family] for family in curves}
    panel = Panel("", to_svg(_chart(curves, shown, title), key), _legend(curves, shown))
    return Figure(key, name, _describe(curves), (panel,), _table(name, key, curves))


def _legend(curves: Mapping[str, Curve], styles: Mapping[str, Style]) -> tuple[LegendEntry, ...]:
    """Name each family, with the points that rest on fewer seeds than planned; a single point has no dash."""
    entries = []
    for family, curve in curves.items():
        few = [
            f"{cell.seeds_text} seeds at {number_text(ratio, Quantity.SHARE)}"
            for ratio, cell in curve.items()
            if cell.seeds_text
        ]
        style = styles[family]
        style = style if len(curve) > 1 else Style(style.colour, None, style.shape)
        entries.append(LegendEntry(f"{family} ({', '.join(few)})" if few else family, style))
    return tuple(entries)


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
    return Table(title, key, "Method", columns, rows, (_NOTE,))


def _data(curves: Mapping[str, Curve], styles: Mapping[str, Style]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place, (family, curve) in enumerate(curves.items()):
        beside = _BESIDE * (place - (len(curves) - 1) / 2)
        for ratio, cell in curve.items():
            value = 100 * float(cell.value or 0.0)
            bar = None if cell.error is None else 100 * NORMAL_95 * cell.error
            ends = {} if bar is None else {"low": value - bar, "high": value + bar}
            at = {"arm": family, "noise": 100 * ratio + beside, "accuracy": value}
            rows.append({**at, "dash": list(styles[family].dash or (1, 0)), **ends})
    return rows


def _chart(curves: Mapping[str, Curve], styles: dict[str, Style], title: str) -> Any:
    import altair as alt

    rows = _data(curves, styles)
    ratios = sorted({100 * ratio for curve in curves.values() for ratio in curve})
    ends = [min(*ratios, *(row["noise"] for row in rows)), max(*ratios, *(row["noise"] for row in rows))]
    colour, shape = colour_and_shape(styles)
    x = alt.X(
        "noise:Q",
        title="Wrong labels (%)",
        axis=alt.Axis(values=ratios, grid=False),
        scale=alt.Scale(domain=ends, nice=False, padding=8),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=x, y=alt.Y("accuracy:Q", title=f"{title} (points)", scale=alt.Scale(zero=False, nice=True)), color=colour
    )
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5).encode(y="low:Q", y2="high:Q")
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("dash:N", scale=None, legend=None))
    points = base.mark_point(size=55, filled=True, opacity=1).encode(shape=shape)
    return alt.layer(bars, lines, points)
