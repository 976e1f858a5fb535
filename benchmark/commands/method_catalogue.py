"""What `venus methods` shows: every registered method and every scorer of active selection, or one with its options.

Everything comes from the declarations of the classes, so that the list cannot disagree with what runs. Data first,
as elsewhere in the command; text and table are made from the data. A scorer may have the name of a method
(self-certainty is both), so it is listed with a prefix.
"""

import inspect
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmark.errors import unknown_name
from methods.base import SURFACES, surfaces_used
from methods.registry import build_method, method_class, method_names, method_origin
from methods.selection import build_scorer, scorer_class, scorer_names

if TYPE_CHECKING:
    from rich.table import Table

_BUILT_IN = "built-in"
SELECTION = "selection:"  # before the name of a scorer
_COLUMNS = {  # heading -> key of a method's description
    "method": "name",
    "module": "module",
    "surfaces": "surfaces",
    "evidence": "evidence",
    "state": "stateful",
    "labels": "label_need",
    "paper": "paper",
    "source": "confidence",
    "origin": "origin",
}


_LEFT_OUT_FIRST = ("source", "evidence", "state", "surfaces", "labels", "module", "paper")
_LEAST_ORIGIN = 20  # characters: a path is folded, as no terminal is wide enough for every path


def methods_data() -> dict[str, Any]:
    """Describe every registered method and every scorer."""
    return {
        "methods": [_description(name) for name in method_names()],
        "scorers": [_scorer_description(name) for name in scorer_names()],
    }


def method_data(name: str) -> dict[str, Any]:
    """Describe one method, or with the prefix "selection:" one scorer.

    With its options, their defaults, and what its class and its module say of it. Raises UnknownNameError, with
    the nearest name.
    """
    scorers = [SELECTION + scorer for scorer in scorer_names()]
    if not name.startswith(SELECTION) and name not in method_names():
        raise unknown_name("method", name, [*method_names(), *scorers])
    if name.startswith(SELECTION):
        scorer = name.removeprefix(SELECTION)
        cls: type = scorer_class(scorer)
        described, options = _scorer_description(scorer), build_scorer(scorer, {}).options
    else:
        cls = method_class(name)
        described, options = _description(name), build_method(name, {}).options
    module = inspect.getmodule(cls)
    return {
        **described,
        "options": asdict(options),
        "documentation": inspect.getdoc(cls) or "",
        "module_documentation": (inspect.getdoc(module) if module else None) or "",
    }


def methods_table(data: dict[str, Any], width: int) -> "Table":
    """Lay the description of all methods out for people, in lines of `width` characters.

    No name is cut: columns that do not fit are left out, and named below. Where methods come from is shown if one is
    from elsewhere.
    """
    from rich.box import SIMPLE
    from rich.table import Table

    rows = data["methods"] + data["scorers"]
    own = all(row["origin"] == _BUILT_IN for row in rows)
    cells = {
        heading: [_text(row[key], "\n") for row in rows]
        for heading, key in _COLUMNS.items()
        if not (own and heading == "origin")
    }
    shown, fits = _fitting(cells, width)
    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), caption_justify="left")
    for heading in shown:
        table.add_column(heading, overflow="fold", no_wrap=fits and heading != "origin")
    for texts in zip(*(cells[heading] for heading in shown), strict=True):
        table.add_row(*texts)
    left_out = [heading for heading in cells if heading not in shown]
    if left_out:
        table.caption = f"left out at this width: {', '.join(left_out)}; --json and `venus methods NAME` have them"
    return table


def _fitting(cells: dict[str, list[str]], width: int) -> tuple[list[str], bool]:
    """Choose the headings whose columns fit into a width; returns them, and whether they do."""
    needed = {
        heading: max(len(line) for text in (heading, *column) for line in text.split("\n"))
        for heading, column in cells.items()
    }
    if "origin" in needed:
        needed["origin"] = min(needed["origin"], _LEAST_ORIGIN)
    shown = list(cells)
    for heading in _LEFT_OUT_FIRST:
        if _line(needed, shown) > width:
            shown.remove(heading)
    return shown, _line(needed, shown) <= width


def _line(needed: dict[str, int], shown: list[str]) -> int:
    """Return the length of a line: a space at both ends, and what rich puts between two columns."""
    return 2 + sum(needed[heading] for heading in shown) + 2 * (len(shown) - 1)


def method_text(data: dict[str, Any]) -> str:
    """Write the description of one method for people."""
    version = f" (version {data['version']})" if "version" in data else ""
    lines = [f"{data['name']}{version}: {data['summary']}", ""]
    width = max(map(len, _COLUMNS)) + 2
    lines += [f"{heading:<{width}}{_text(data[key])}" for heading, key in _COLUMNS.items() if key != "name"]
    lines += [f"{key:<{width}}{data[key]}" for key in ("rows", "samples") if key in data]
    lines += ["", "options:" if data["options"] else "options: none"]
    lines += [f"  {name} = {value!r}" for name, value in data["options"].items()]
    return "\n".join([*lines, "", data["documentation"], "", data["module_documentation"]]).rstrip()


def _description(name: str) -> dict[str, Any]:
    cls = method_class(name)
    used = surfaces_used(cls)
    return {
        "name": name,
        "version": cls.version,
        "summary": cls.summary,
        "module": cls.module.value,
        "surfaces": [surface for surface in SURFACES if surface in used],
        "evidence": sorted(kind.value for kind in cls.evidence),
        "stateful": cls.stateful,
        "label_need": cls.label_need.value,
        "rows": cls.rows.value,
        "uses_hidden_truth": cls.uses_hidden_truth,
        "refines_labels": cls.refines_labels,
        "paper": cls.paper,
        "confidence": cls.confidence.value,
        "origin": method_origin(name),
    }


def _scorer_description(name: str) -> dict[str, Any]:
    cls = scorer_class(name)
    return {
        "name": SELECTION + name,
        "summary": cls.summary,
        "module": "selection",
        "surfaces": [],
        "evidence": sorted(kind.value for kind in cls.evidence),
        "stateful": False,
        "label_need": "required" if cls.needs_labels else "ignored",
        "samples": cls.samples,
        "paper": cls.paper,
        "confidence": cls.confidence.value,
        "origin": _BUILT_IN,
    }


def _text(value: Any, between: str = ", ") -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    return (between.join(value) if isinstance(value, list) else str(value)) or "-"
