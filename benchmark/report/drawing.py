"""How figures look: colours, dashes and shapes of arms, and from an altair chart to an SVG that can be inlined.

Arms are told apart by colour, dash and point shape, so that a print in grey and a colour-blind reader lose
nothing. Colours have a contrast of at least 3:1 on the light and on the dark background of the report; grey is kept
for what belongs to no arm of a drawing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from benchmark.report.legend import LegendEntry, Style
from benchmark.report.table_model import Table

NEUTRAL = "#7F7F7F"
"""Colour of what belongs to no arm, such as a frontier, and of arms that every panel repeats."""
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#785EF0", "#B8860B", "#D6336C")
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (12, 3), (4, 4))
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_WIDTH, _HEIGHT = 420, 260


@dataclass(frozen=True, slots=True)
class Panel:
    """One drawing of a figure with the legend of what only it shows; the title is empty where it is the only one."""

    title: str
    svg: str
    legend: tuple[LegendEntry, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one panel or several; `description` and `table` are its text alternative.

    The notes of the table stand below the panels, in the open.
    """

    key: str
    title: str
    description: str
    panels: tuple[Panel, ...]
    table: Table
    legend: tuple[LegendEntry, ...] = ()  # of what all panels show


def styles_of(labels: Sequence[str]) -> dict[str, Style]:
    """Give each label a style; neighbours differ in colour, dash and shape."""
    count = len(labels)
    cycle = zip(_COLOURS * count, _DASHES * count, _SHAPES * count, strict=False)
    return dict(zip(labels, (Style(*style) for style in islice(cycle, count)), strict=True))


def colour_and_shape(styles: Mapping[str, Style], field: str = "arm") -> tuple[Any, Any]:
    """Return the altair channels of colour and shape for the series named in `field`; the page writes the legend."""
    import altair as alt

    labels = list(styles)
    colours = [style.colour for style in styles.values()]
    shapes = [style.shape or "circle" for style in styles.values()]
    return (
        alt.Color(f"{field}:N", scale=alt.Scale(domain=labels, range=colours), legend=None),
        alt.Shape(f"{field}:N", scale=alt.Scale(domain=labels, range=shapes), legend=None),
    )


def to_svg(chart: Any, key: str, width: int = _WIDTH, height: int = _HEIGHT) -> str:
    """Render an altair chart, with ids that start with `key`, hidden from readers that get its text."""
    import altair as alt
    import vl_convert

    finished = (
        chart.properties(width=width, height=height, background="transparent")
        .configure(font="sans-serif")
        .configure_axis(labelFontSize=13, titleFontSize=13, titleFontWeight="normal")
        .configure_axisY(titlePadding=14)  # browsers draw numbers wider than they are measured here
        .configure_view(stroke=None)
    )
    # altair names its schema as v6.1.0, vl_convert knows 6.1
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return _for_inlining(vl_convert.vegalite_to_svg(finished.to_dict(), vl_version=version), key)


def _for_inlining(svg: str, key: str) -> str:
    svg = re.sub(r'id="(\w+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r"url\(#(\w+)\)", rf"url(#{key}-\1)", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1).strip()
