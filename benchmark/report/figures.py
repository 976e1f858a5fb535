"""Training curves as static SVG, with a description and a table that say the same.

A few methods share a panel, and the reference and the control stand in grey in each; see `panels`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from benchmark import artifacts
from benchmark.report.drawing import NEUTRAL, Figure, Panel, colour_and_shape, styles_of, to_svg
from benchmark.report.legend import LegendEntry, Style, counted, seeds_text
from benchmark.report.panels import panels_of, repeated_arms
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult, CellState, Curve
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell, missing

_MARKERS = 8  # points marked on a line, and steps named in the table beside it


_SHARES = (0.0, 1.0)
_GREYS = ((1, 0), (5, 4), (2, 3))  # dashes of what every panel repeats
_SMALL = (290, 170)  # size of a panel that is one of several


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """What a figure draws: one metric of training by step; an axis without `domain` spans the curves, in tenths."""

    metric: str
    title: str
    axis: str
    quantity: Quantity
    domain: tuple[float, float] | None = _SHARES


LEARNING = (
    FigureSpec(
        artifacts.PANEL_ACCURACY, "Accuracy on the validation panel", "Panel accuracy (%)", Quantity.SHARE, None
    ),
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


def draw(specs: Sequence[FigureSpec], arms: Sequence[ArmResult], reference: str | None = None) -> tuple[Figure, ...]:
    """Draw a figure for each metric that some arm has recorded; the style of an arm is the same in all of them.

    With `reference`, the arm of that label is drawn in grey in every panel, and so is the control.
    """
    repeated = repeated_arms(arms, reference)
    styles = styles_of([arm.arm for arm in arms if arm.trained and arm.finished and arm.arm not in repeated])
    styles |= {label: Style(NEUTRAL, dash) for label, dash in zip(repeated, cycle(_GREYS), strict=False)}
    figures = []
    for spec in specs:
        curves = {arm.arm: curve for arm in arms if arm.trained and (curve := mean_curve(arm, spec.metric)) is not None}
        if curves:
            figures.append(_figure(spec, arms, curves, styles, repeated))
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
    repeated: Sequence[str],
) -> Figure:
    key = re.sub(r"\W+", "-", spec.metric)
    names = {arm.arm: counted(arm.arm, seeds_text(arm)) for arm in arms}
    groups = panels_of(arms, curves, repeated, spec.domain)
    common = [label for label in repeated if label in curves and not any(label in group.arms for group in groups)]
    domain = spec.domain or _tenths(list(curves.values()))
    panels = []
    for place, group in enumerate(groups):
        grey = common if group.common else []
        shown = {label: curves[label] for label in (*grey, *group.arms)}
        own = {label: styles[label] for label in shown}
        size = {} if len(groups) == 1 else {"width": _SMALL[0], "height": _SMALL[1]}
        chart = _chart(spec, shown, own, domain if group.common else None)
        legend = tuple(LegendEntry(names[label], styles[label]) for label in group.arms)
        panels.append(Panel(group.title, to_svg(chart, f"{key}-{place}", **size), legend))
    table = _table(spec, arms, curves)
    legend = tuple(LegendEntry(names[label], styles[label]) for label in common)
    return Figure(key, spec.title, _describe(spec, arms, curves), tuple(panels), table, legend)


def _tenths(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the ends of an axis for shares that spans all curves, as whole tenths."""
    low, high = min(curve.values.min() for curve in curves), max(curve.values.max() for curve in curves)
    return float(np.floor(10 * low) / 10), float(np.ceil(10 * high) / 10)


def _chart(
    spec: FigureSpec, curves: dict[str, Curve], styles: dict[str, Style], domain: tuple[float, float] | None
) -> Any:
    import altair as alt

    scale = 100.0 if spec.quantity is Quantity.SHARE else 1.0
    rows: list[dict[str, Any]] = []
    for label, curve in curves.items():
        style = styles[label]
        marked = {int(curve.steps[i]) for i in _spread(len(curve.steps))} if style.shape else set()
        for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True):
            row = {"step": step, "value": scale * value, "arm": label, "dash": list(style.dash or (1, 0))}
            rows.append(row | {"marked": step in marked})
    ends = {"zero": False, "nice": True} if domain is None else {"domain": [scale * end for end in domain]}
    colour, shape = colour_and_shape(styles)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("step:Q", title="Training step", axis=alt.Axis(tickMinStep=1, tickCount=8, grid=False)),
        y=alt.Y("value:Q", title=spec.axis, scale=alt.Scale(**ends), axis=alt.Axis(tickCount=6)),
        color=colour,
    )
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("dash:N", scale=None, legend=None))
    points = base.transform_filter("datum.marked").mark_point(size=45, filled=True, opacity=1).encode(shape=shape)
    return alt.layer(lines, points)


def _spread(count: int) -> list[int]:
    """Choose up to `_MARKERS` positions of a series, first and last included."""
    return sorted({round(float(i)) for i in np.linspace(0, count - 1, min(count, _MARKERS))})


def _describe(spec: FigureSpec, arms: Sequence[ArmResult], curves: dict[str, Curve]) -> str:
    by_label = {arm.arm: arm for arm in arms}
    said = []
    for label, curve in curves.items():
        arm = by_label[label]
        first, last = (number_text(float(curve.values[i]), spec.quantity) for i in (0, -1))
        done, planned = len(arm.finished), len(arm.seeds)
        few = f", {done} of {planned} seeds" if done < planned else ""
        mean = few or (f", mean of {done} seeds" if done > 1 else "")
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
            found = {step: _cell(arm, values[step]) for step in shown if step in values}
            rows.append(Row(arm.arm, {f"step_{step}": found.get(step, absent) for step in shown}))
    return Table(spec.title, spec.metric, "Arm", columns, tuple(rows))


def _cell(arm: ArmResult, value: float) -> TableCell:
    """Hold a mean over the finished seeds, with their number where some are missing."""
    return TableCell(value, arm.state, arm.reason, seeds=len(arm.finished), planned=len(arm.seeds))
