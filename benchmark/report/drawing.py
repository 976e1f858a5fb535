"""How figures look: colours, dashes and shapes of arms, and from an altair chart to an SVG that can be inlined.

Arms are told apart by colour, dash and point shape, so that a print in grey and a colour-blind reader lose
nothing. Colours have a contrast of at least 3:1 on the light and on the dark background of the report.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from benchmark.report.table_model import Table

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#785EF0", "#B8860B", "#7F7F7F")
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (12, 3), (4, 4))
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_WIDTH, _HEIGHT = 420, 260
NEUTRAL = "#7F7F7F"
"""Colour of what belongs to no arm, such as a frontier."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn figure; `description` and `table` are its text alternative."""

    key: str
    title: str
    description: str
    svg: str
    table: Table


@dataclass(frozen=True, slots=True)
class Style:
    """How the marks of one series look."""

    colour: str
    dash: tuple[int, ...]
    shape: str


def styles_of(labels: Sequence[str]) -> dict[str, Style]:
    """Give each label a style; neighbours differ in colour, dash and shape."""
    count = len(labels)
    cycle = zip(_COLOURS * count, _DASHES * count, _SHAPES * count, strict=False)
    return dict(zip(labels, (Style(*style) for style in islice(cycle, count)), strict=True))


def colour_and_shape(styles: dict[str, Style], field: str = "arm") -> tuple[Any, Any]:
    """Return the altair channels of colour and shape for the series named in `field`, with one legend for both."""
    import altair as alt

    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=0, symbolLimit=0, symbolSize=90)
    labels = list(styles)
    colours, shapes = [style.colour for style in styles.values()], [style.shape for style in styles.values()]
    return (
        alt.Color(f"{field}:N", scale=alt.Scale(domain=labels, range=colours), legend=legend),
        alt.Shape(f"{field}:N", scale=alt.Scale(domain=labels, range=shapes), legend=legend),
    )


def to_svg(chart: Any, key: str) -> str:
    """Render an altair chart, with ids that start with `key`, hidden from readers that get its text."""
    import altair as alt
    import vl_convert

    finished = (
        chart.properties(width=_WIDTH, height=_HEIGHT, background="transparent")
        .configure(font="sans-serif")
        .configure_axis(labelFontSize=13, titleFontSize=13, titleFontWeight="normal")
        .configure_legend(labelFontSize=13)
        .configure_view(stroke=None)
    )
    # altair names its schema as v6.1.0, vl_convert knows 6.1
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return _for_inlining(vl_convert.vegalite_to_svg(finished.to_dict(), vl_version=version), key)


def _for_inlining(svg: str, key: str) -> str:
    svg = re.sub(r'id="(\w+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r"url\(#(\w+)\)", rf"url(#{key}-\1)", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1).strip()
