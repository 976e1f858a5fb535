"""What `venus methods` shows: every registered method, or one with its options.

Everything comes from the declarations of the classes, so that the list cannot disagree with what runs. Data first,
as elsewhere in the command; text and table are made from the data.
"""

import inspect
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from methods.base import SURFACES, surfaces_used
from methods.registry import build_method, method_class, method_names, method_origin

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = {  # heading -> key of a method's description
    "method": "name",
    "module": "module",
    "surfaces": "surfaces",
    "evidence": "evidence",
    "state": "stateful",
    "labels": "label_need",
    "paper": "paper",
    "written from": "confidence",
    "origin": "origin",
}


def methods_data() -> dict[str, Any]:
    """Describe every registered method."""
    return {"methods": [_description(name) for name in method_names()]}


def method_data(name: str) -> dict[str, Any]:
    """Describe one method, with its options, their defaults, and what its class and its module say of it.

    Raises UnknownNameError, with the nearest name.
    """
    cls = method_class(name)
    module = inspect.getmodule(cls)
    return {
        **_description(name),
        "options": asdict(build_method(name, {}).options),
        "documentation": inspect.getdoc(cls) or "",
        "module_documentation": (inspect.getdoc(module) if module else None) or "",
    }


def methods_table(data: dict[str, Any]) -> "Table":
    """Lay the description of all methods out for people."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in _COLUMNS:
        table.add_column(heading, overflow="fold", no_wrap=heading == "method")
    for method in data["methods"]:
        table.add_row(*(_text(method[key], "\n") for key in _COLUMNS.values()))
    return table


def method_text(data: dict[str, Any]) -> str:
    """Write the description of one method for people."""
    lines = [f"{data['name']} (version {data['version']}): {data['summary']}", ""]
    width = max(map(len, _COLUMNS)) + 2
    lines += [f"{heading:<{width}}{_text(data[key])}" for heading, key in _COLUMNS.items() if key != "name"]
    lines += [f"{'rows':<{width}}{data['rows']}"]
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


def _text(value: Any, between: str = ", ") -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    return (between.join(value) if isinstance(value, list) else str(value)) or "-"
