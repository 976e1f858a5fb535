"""The legend of a figure, beside the drawing and not in it.

Text inside an SVG is placed for the fonts of the machine that drew it, and is cut off with those of another; a list in
the page wraps instead. Each entry has a swatch with the colour, the dash and the point shape of its series.
"""

from dataclasses import dataclass

from benchmark.report.results import ArmResult

_WIDTH, _HEIGHT = 36, 12
_SHAPES = {
    "circle": '<circle cx="18" cy="6" r="4"/>',
    "square": '<rect x="14.3" y="2.3" width="7.4" height="7.4"/>',
    "triangle-up": '<path d="M18 1.5L22.8 9.8H13.2Z"/>',
    "triangle-down": '<path d="M18 10.5L22.8 2.2H13.2Z"/>',
    "diamond": '<path d="M18 .8L22 6L18 11.2L14 6Z"/>',
    "cross": '<path d="M16.4 1.5h3.2v2.9h2.9v3.2h-2.9v2.9h-3.2v-2.9h-2.9v-3.2h2.9z"/>',
}


@dataclass(frozen=True, slots=True)
class Style:
    """How the marks of one series look; without a dash there is no line, without a shape there are no points."""

    colour: str
    dash: tuple[int, ...] | None = None
    shape: str | None = None


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A series as the legend names it."""

    label: str
    style: Style
    filled: bool = True

    @property
    def swatch(self) -> str:
        """A drawing of the series' marks, to stand before its name."""
        marks = []
        if self.style.dash is not None:
            dash = " ".join(map(str, self.style.dash))
            marks.append(f'<path d="M0 6H{_WIDTH}" stroke="{self.style.colour}" stroke-dasharray="{dash}"/>')
        if self.style.shape is not None:
            fill = self.style.colour if self.filled else "none"
            marks.append(f'<g fill="{fill}" stroke="{self.style.colour}">{_SHAPES[self.style.shape]}</g>')
        size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        return (
            f'<svg class="swatch" aria-hidden="true" focusable="false" {size} fill="none" stroke-width="2">'
            f"{''.join(marks)}</svg>"
        )


def counted(label: str, seeds_text: str) -> str:
    """Name a series, with how many of its seeds it rests on where that is not all, such as "grpo (2/3)"."""
    return f"{label} ({seeds_text})" if seeds_text else label


def seeds_text(arm: ArmResult) -> str:
    """Say how many of the planned seeds of an arm are finished, such as "2/3"; nothing where all or none are."""
    return f"{len(arm.finished)}/{len(arm.seeds)}" if arm.finished and arm.missing else ""
