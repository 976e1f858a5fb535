"""The templates of the report's pages, and what they may call."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.report.render import NUMBERS, cell_parts, number_text
from benchmark.report.table_model import GROUP_TITLES, Quantity

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> "Environment":
    """Load the templates; every text is escaped, and a name without a value is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loaded = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    loaded.globals.update(parts=cell_parts, numbers=NUMBERS, titles=GROUP_TITLES, accuracy=_accuracy)
    return loaded


def _accuracy(value: float | None) -> str:
    return "–" if value is None else number_text(value, Quantity.ACCURACY)
