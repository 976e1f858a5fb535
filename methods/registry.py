"""The methods by name, and the only place that turns a name and options into a method.

Built-in methods are listed here by hand. Trade-off taken: finding every module in this folder would save a
newcomer two lines, and hide which modules are methods and which only serve them; `venus new-method` prints the
two lines instead. Importing the list costs numpy only. Plugins (`methods.plugins`) are loaded when all names are
asked for, or one that is not built in.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.errors import SuiteError, UnknownNameError, unknown_name
from methods import plugins
from methods.base import Method, option_names
from methods.co_rewarding_i import CoRewardingI
from methods.co_rewarding_ii import CoRewardingII
from methods.dynamic_sampling import DynamicSampling
from methods.format_reward import FormatReward
from methods.geomin import GeoMin
from methods.grpo import GRPO
from methods.labeled_only import LabeledOnly
from methods.nl_olr_v2 import NLOLRv2
from methods.olr import OLR
from methods.oracle_vote import OracleVote
from methods.random_reward import RandomReward
from methods.self_certainty import SelfCertainty
from methods.seq_entropy import SeqEntropy
from methods.seq_prob import SeqProb
from methods.tok_entropy import TokEntropy
from methods.trapo import TraPO
from methods.trapo_v2 import TraPOv2
from methods.ttrl import TTRL

_BUILT_IN: tuple[type[Method], ...] = (
    GRPO,
    LabeledOnly,
    TTRL,
    CoRewardingI,
    CoRewardingII,
    SelfCertainty,
    TokEntropy,
    SeqEntropy,
    SeqProb,
    TraPO,
    GeoMin,
    OLR,
    TraPOv2,
    NLOLRv2,
    RandomReward,
    FormatReward,
    OracleVote,
    DynamicSampling,
)

_METHODS: dict[str, type[Method]] = {cls.name: cls for cls in _BUILT_IN}
_ORIGINS: dict[str, str] = dict.fromkeys(_METHODS, "built-in")
_LOADED: set[str] = set()  # origins of the plugins that were loaded


def method_names() -> tuple[str, ...]:
    """Name every registered method, plugins included, sorted.

    Raises SuiteError for a plugin that cannot be loaded.
    """
    _load_plugins()
    return tuple(sorted(_METHODS))


def method_class(name: str) -> type[Method]:
    """Return the class registered under `name`.

    Raises UnknownNameError, with the nearest name, and SuiteError for a plugin that cannot be loaded.
    """
    if name not in _METHODS:
        _load_plugins()
    try:
        return _METHODS[name]
    except KeyError:
        raise unknown_name("method", name, _METHODS) from None


def method_origin(name: str) -> str:
    """Say where a registered method comes from: "built-in", a plugin file or a distribution."""
    cls = method_class(name)
    return _ORIGINS.get(name, f"registered by {cls.__module__}")


def register(cls: type[Method]) -> type[Method]:
    """Add a method class, also as a decorator; a name can be taken only once.

    A class that was registered before from the same file counts as the same, whatever its module was called then.
    Raises SuiteError where the name belongs to another class.
    """
    taken = _METHODS.setdefault(cls.name, cls)
    if taken is not cls and not _same_source(taken, cls):
        raise SuiteError(
            f"method name {cls.name!r} is taken: found {_place(cls)}, already in use by {_place(taken)}; "
            "fix: choose another name"
        )
    return cls


def use_plugins(paths: Sequence[str]) -> None:
    """Load plugin files, and list them for the processes that this one starts.

    Raises SuiteError, in one line, for a file that is missing, is not Python or has no method in it.
    """
    files = tuple(Path(os.path.abspath(path)) for path in paths)
    for path in files:
        _load(plugins.file_plugin(path))
    plugins.list_files(tuple(dict.fromkeys((*plugins.listed_files(), *files))))


def build_method(name: str, options: Mapping[str, Any]) -> Method:
    """Build the method `name` with `options` laid over its defaults.

    Raises UnknownNameError for an unknown method or option, SuiteError for a value that the
    method refuses.
    """
    cls = method_class(name)
    known = option_names(cls)
    for option in options:
        if option not in known:
            raise unknown_name(f"option of method {name!r}", option, known)
    try:
        return cls(cls.Options(**options))
    except UnknownNameError:
        raise
    except (TypeError, ValueError) as error:
        raise SuiteError(f"method {name!r} refuses its options {dict(options)}: {error}") from error


def _load_plugins() -> None:
    for path in plugins.listed_files():
        if f"plugin {path}" not in _LOADED:
            _load(plugins.file_plugin(path))
    if plugins.GROUP not in _LOADED:
        for plugin in plugins.distribution_plugins():
            _load(plugin)
        _LOADED.add(plugins.GROUP)


def _load(plugin: plugins.Plugin) -> None:
    """Register the methods of a plugin: all of them, or none where one cannot be."""
    if plugin.origin in _LOADED:
        return
    before = dict(_METHODS)
    try:
        for cls in plugin.load():
            register(cls)
    except BaseException:
        _METHODS.clear()
        _METHODS.update(before)
        raise
    _ORIGINS.update(dict.fromkeys(_METHODS.keys() - before.keys(), plugin.origin))
    _LOADED.add(plugin.origin)


def _same_source(first: type[Method], second: type[Method]) -> bool:
    path = plugins.source_file(first)
    return path is not None and (path, first.__qualname__) == (plugins.source_file(second), second.__qualname__)


def _place(cls: type[Method]) -> str:
    return f"{cls.__qualname__} in {plugins.source_file(cls) or cls.__module__}"
