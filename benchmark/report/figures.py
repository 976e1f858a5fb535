"""Training curves as static SVG, with a description and a table that say the same."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark import artifacts
from benchmark.report.drawing import Figure, Style, colour_and_shape, styles_of, to_svg
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult, CellState, Curve
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell, missing

_MARKERS = 8  # points marked on a line, and steps named in the table beside it


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """What a figure draws: one metric of training by step."""

    metric: str
    title: str
    axis: str
    quantity: Quantity


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
    styles = styles_of(trained)
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


def _figure(
    spec: FigureSpec,
    arms: Sequence[ArmResult],
    curves: dict[str, Curve],
    styles: dict[str, Style],
) -> Figure:
    key = re.sub(r"\W+", "-", spec.metric)
    table = _table(spec, arms, curves)
    return Figure(key, spec.title, _describe(spec, arms, curves), _svg(spec, key, curves, styles), table)


def _svg(spec: FigureSpec, key: str, curves: dict[str, Curve], styles: dict[str, Style]) -> str:
    import altair as alt

    scale = 100.0 if spec.quantity is Quantity.SHARE else 1.0
    rows: list[dict[str, Any]] = []
    for label, curve in curves.items():
        dash = list(styles[label].dash)
        marked = {int(curve.steps[i]) for i in _spread(len(curve.steps))}
        for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True):
            row = {"step": step, "value": scale * value, "arm": label, "dash": dash, "marked": step in marked}
            rows.append(row)
    colour, shape = colour_and_shape({label: styles[label] for label in curves})
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("step:Q", title="Training step", axis=alt.Axis(tickMinStep=1, grid=False)),
        y=alt.Y("value:Q", title=spec.axis, scale=alt.Scale(zero=False, nice=True)),
        color=colour,
    )
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("dash:N", scale=None, legend=None))
    points = base.transform_filter("datum.marked").mark_point(size=55, filled=True, opacity=1).encode(shape=shape)
    return to_svg(alt.layer(lines, points), key)


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
