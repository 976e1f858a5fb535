"""Identity: what makes two cells the same cell, and how an arm is called.

The id of a cell is the hash of its specification and of nothing else; no path, host or thread count is
in a specification. Ids are pinned by a golden test: a change to the fields, their order or their
serialisation shows up there, and then IDENTITY must be raised.
"""

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from benchmark.stage import digest
from benchmark.suite.spec import BASE, CellSpec, MethodSpec, NoiseKind, TrainSpec, plain
from methods.base import LabelNeed
from methods.registry import build_method, method_class, method_names

_TRAIN_FIELDS = tuple(field.name for field in fields(TrainSpec))
_PARTS = tuple(field.name for field in fields(CellSpec) if field.name != "seed")

IDENTITY = 3
"""Version of the rule that turns a specification into an id."""


def cell_id(spec: CellSpec) -> str:
    """Return the id of a cell: 64 hexadecimal characters."""
    return digest({"identity": IDENTITY, "cell": {**_plain_parts(spec), "seed": spec.seed}})


def arm_key(spec: CellSpec) -> str:
    """Return the id of the arm of a cell: all of its specification except the seed."""
    return _arm_key(replace(spec, seed=0))


@lru_cache(maxsize=4096)
def _arm_key(spec: CellSpec) -> str:
    return digest({"identity": IDENTITY, "arm": _plain_parts(spec)})


def arm_label(spec: CellSpec) -> str:
    """Name an arm for people, such as "ttrl, 10% labels"."""
    if spec.method.name == BASE:
        return "base model"
    supervision, selection = spec.supervision, spec.selection
    parts = [_method_label(spec.method)]
    if selection is None:
        parts.append(f"{_percent(supervision.label_ratio)} labels")
    else:
        parts.append(f"{selection.scorer} ({selection.mode}) labels {_percent(selection.annotate)}")
        if selection.discard:
            parts.append(f"discards {_percent(selection.discard)}")
    if supervision.noise_kind is not NoiseKind.NONE:
        parts.append(f"{_percent(supervision.noise_ratio)} {_words(supervision.noise_kind)} noise")
    return ", ".join(parts)


def arm_labels(specs: Sequence[CellSpec]) -> tuple[str, ...]:
    """Name the arm of every cell, adding the pool and the settings of training that a suite varies."""
    trained = [spec for spec in specs if spec.trained]
    varies_pool = len({spec.data.pool for spec in trained}) > 1
    shared = {spec.train for spec in trained}
    varied = [name for name in _TRAIN_FIELDS if len({getattr(train, name) for train in shared}) > 1]
    labels = []
    for spec in specs:
        label = arm_label(spec)
        if spec.trained and varies_pool:
            label += f", pool {spec.data.pool}"
        if spec.trained:
            label += "".join(_setting(name, getattr(spec.train, name)) for name in varied)
        labels.append(label)
    return tuple(labels)


def _setting(name: str, value: Any) -> str:
    """Name a setting of training that a suite varies; plain GRPO and plain shuffling go without saying."""
    if (name, value) in (("estimator", "grpo"), ("labelled_share", 0.0)):
        return ""
    if name == "steps":
        return f", {value} steps"
    if name == "labelled_share":
        return f", {_percent(value)} labelled per batch"
    return f", {_words(value)}" if isinstance(value, str) else f", {_words(name)} {value:g}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def reads_labels(spec: CellSpec) -> bool:
    """Say whether labels play a part in a cell; a method that is no longer registered is taken to read them."""
    if spec.method.name == BASE:
        return False
    if spec.method.name not in method_names():
        return True
    return method_class(spec.method.name).label_need is not LabelNeed.IGNORED


def _plain_parts(spec: CellSpec) -> dict[str, Any]:
    """Do what `spec.plain` does for all but the seed, with the parts that cells share converted once."""
    return {name: _plain_part(getattr(spec, name)) for name in _PARTS}


@lru_cache(maxsize=4096)
def _plain_part(part: Any) -> dict[str, Any] | None:
    return None if part is None else plain(part)


@lru_cache(maxsize=1024)
def _method_label(method: MethodSpec) -> str:
    """Name a method, with the options that differ from their defaults."""
    options = json.loads(method.options)
    if method.name in method_names():
        defaults = build_method(method.name, {}).options
        options = {name: value for name, value in options.items() if getattr(defaults, name, None) != value}
    if not options:
        return method.name
    return f"{method.name} ({', '.join(f'{name}={value}' for name, value in sorted(options.items()))})"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.4g}%"
