"""Training curves as static SVG, with a description and a table that say the same.

Arms are told apart by colour, dash and point shape, so that a print in grey and a colour-blind reader lose
nothing. Colours have a contrast of at least 3:1 on the light and on the dark background of the report.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from benchmark import artifacts
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult, CellState, Curve
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell, missing

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#785EF0", "#B8860B", "#7F7F7F")
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (12, 3), (4, 4))
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_WIDTH, _HEIGHT = 420, 260
_MARKERS = 8  # points marked on a line, and steps named in the table beside it


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """What a figure draws: one metric of training by step."""

    metric: str
    title: str
    axis: str
    quantity: Quantity


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn figure; `description` and `table` are its text alternative."""

    key: str
    title: str
    description: str
    svg: str
    table: Table


LEARNING = (
    FigureSpec(artifacts.PANEL_ACCURACY, "Accuracy on the validation panel", "Panel accuracy (%)", Quantity.SHARE),
    FigureSpec(artifacts.TRAIN_REWARD, "Reward that training sees", "Mean reward", Quantity.NUMBER),
)
SUPERVISION = tuple(
    FigureSpec(f"supervision/{name}", title, axis, Quantity.SHARE)
    for name, title, axis in (
        ("pseudo_label_accuracy", "Pseudo labels that are true", "Pseudo-label accuracy (%)"),
        ("pseudo_label_share", "Unlabelled prompts with a pseudo label", "Share of unlabelled prompts (%)"),
        ("reward_accuracy", "Rollouts rewarded as the truth would", "Reward accuracy (%)"),
        ("true_pass_rate", "Rollouts that are true", "True pass rate (%)"),
        ("mixed_groups", "Prompts that give a gradient", "Prompts with mixed rewards (%)"),
        ("admitted_share", "Prompts that are admitted", "Admitted prompts (%)"),
    )
)


def draw(specs: Sequence[FigureSpec], arms: Sequence[ArmResult]) -> tuple[Figure, ...]:
    """Draw a figure for each metric that some arm has recorded; the style of an arm is the same in all of them."""
    trained = [arm.arm for arm in arms if arm.trained]
    styles = dict(zip(trained, _styles(len(trained)), strict=True))
    figures = []
    for spec in specs:
        curves = {arm.arm: curve for arm in arms if arm.trained and (curve := mean_curve(arm, spec.metric)) is not None}
        if curves:
            figures.append(_figure(spec, arms, curves, styles))
    return tuple(figures)


def mean_curve(arm: ArmResult, metric: str) -> Curve | None:
    """Average a metric over the finished seeds of an arm, at the steps that all of them recorded.

    None where a finished seed did not record the metric, or no seed is finished.
    """
    curves = [seed.curves.get(metric) for seed in arm.finished.values()]
    found = [curve for curve in curves if curve is not None]
    if not found or len(found) < len(curves):
        return None
    steps = found[0].steps
    for curve in found[1:]:
        steps = np.intersect1d(steps, curve.steps)
    if not len(steps):
        return None
    values = np.mean([curve.values[np.searchsorted(curve.steps, steps)] for curve in found], axis=0)
    return Curve(steps, values)


def _styles(count: int) -> list[tuple[str, list[int], str]]:
    """Return a colour, dash and shape per arm; neighbours differ in all three."""
    cycle = zip(_COLOURS * count, _DASHES * count, _SHAPES * count, strict=False)
    return [(colour, list(dash), shape) for colour, dash, shape in islice(cycle, count)]


def _figure(
    spec: FigureSpec,
    arms: Sequence[ArmResult],
    curves: dict[str, Curve],
    styles: dict[str, tuple[str, list[int], str]],
) -> Figure:
    key = re.sub(r"\W+", "-", spec.metric)
    table = _table(spec, arms, curves)
    return Figure(key, spec.title, _describe(spec, arms, curves), _svg(spec, key, curves, styles), table)


def _svg(spec: FigureSpec, key: str, curves: dict[str, Curve], styles: dict[str, tuple[str, list[int], str]]) -> str:
    import altair as alt
    import vl_convert

    scale = 100.0 if spec.quantity is Quantity.SHARE else 1.0
    rows: list[dict[str, Any]] = []
    for label, curve in curves.items():
        dash = styles[label][1]
        marked = {int(curve.steps[i]) for i in _spread(len(curve.steps))}
        for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True):
            row = {"step": step, "value": scale * value, "arm": label, "dash": dash, "marked": step in marked}
            rows.append(row)
    labels = list(curves)
    colours, _, shapes = zip(*(styles[label] for label in labels), strict=True)
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=0, symbolSize=90)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("step:Q", title="Training step", axis=alt.Axis(tickMinStep=1, grid=False)),
        y=alt.Y("value:Q", title=spec.axis, scale=alt.Scale(zero=False, nice=True)),
        color=alt.Color("arm:N", scale=alt.Scale(domain=labels, range=list(colours)), legend=legend),
    )
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("dash:N", scale=None, legend=None))
    points = (
        base.transform_filter("datum.marked")
        .mark_point(size=55, filled=True, opacity=1)
        .encode(shape=alt.Shape("arm:N", scale=alt.Scale(domain=labels, range=list(shapes)), legend=legend))
    )
    chart = (
        alt.layer(lines, points)
        .properties(width=_WIDTH, height=_HEIGHT, background="transparent")
        .configure(font="sans-serif")
        .configure_axis(labelFontSize=13, titleFontSize=13, titleFontWeight="normal")
        .configure_legend(labelFontSize=13)
        .configure_view(stroke=None)
    )
    return _for_inlining(
        vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=_schema_version(alt.SCHEMA_VERSION)), key
    )


def _schema_version(version: str) -> str:
    """Return the major and minor part of altair's schema version, the form that vl_convert knows."""
    return ".".join(version.lstrip("v").split(".")[:2])


def _for_inlining(svg: str, key: str) -> str:
    """Make the SVG fit to stand in a page with others: own ids, and hidden from readers that get its text."""
    svg = re.sub(r'id="(\w+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r"url\(#(\w+)\)", rf"url(#{key}-\1)", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1).strip()


def _spread(count: int) -> list[int]:
    """Choose up to `_MARKERS` positions of a series, first and last included."""
    return sorted({round(float(i)) for i in np.linspace(0, count - 1, min(count, _MARKERS))})


def _describe(spec: FigureSpec, arms: Sequence[ArmResult], curves: dict[str, Curve]) -> str:
    seeds = {arm.arm: len(arm.finished) for arm in arms}
    said = []
    for label, curve in curves.items():
        first, last = (number_text(float(curve.values[i]), spec.quantity) for i in (0, -1))
        mean = f", mean of {seeds[label]} seeds" if seeds[label] > 1 else ""
        said.append(f"{label}: {first} at step {curve.steps[0]}, {last} at step {curve.steps[-1]}{mean}.")
    return " ".join(said)


def _table(spec: FigureSpec, arms: Sequence[ArmResult], curves: dict[str, Curve]) -> Table:
    steps = np.unique(np.concatenate([curve.steps for curve in curves.values()]))
    shown = [int(steps[i]) for i in _spread(len(steps))]
    columns = tuple(Column(f"step_{step}", f"Step {step}", spec.quantity) for step in shown)
    rows = []
    for arm in arms:
        if arm.arm in curves:
            values = dict(zip(curves[arm.arm].steps.tolist(), curves[arm.arm].values.tolist(), strict=True))
            absent = missing(CellState.NOT_APPLICABLE, "not recorded at this step")
            cells = {f"step_{step}": TableCell(values[step]) if step in values else absent for step in shown}
            rows.append(Row(arm.arm, cells))
    return Table(spec.title, spec.metric, "Arm", columns, tuple(rows))
