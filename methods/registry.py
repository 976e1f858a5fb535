"""The methods by name, and the only place that turns a name and options into a method.

Built-in methods are listed here by hand: the list is the table of contents, and importing it costs
numpy only.
"""

from collections.abc import Mapping
from typing import Any

from benchmark.errors import SuiteError, UnknownNameError, unknown_name
from methods.base import Method, option_names
from methods.grpo import GRPO
from methods.labeled_only import LabeledOnly
from methods.ttrl import TTRL

_METHODS: dict[str, type[Method]] = {cls.name: cls for cls in (GRPO, LabeledOnly, TTRL)}


def method_names() -> tuple[str, ...]:
    """Name every registered method, sorted."""
    return tuple(sorted(_METHODS))


def method_class(name: str) -> type[Method]:
    """Return the class registered under `name`.

    Raises UnknownNameError, with the nearest name.
    """
    try:
        return _METHODS[name]
    except KeyError:
        raise unknown_name("method", name, _METHODS) from None


def register(cls: type[Method]) -> type[Method]:
    """Add a method class, also as a decorator; a name can be taken only once.

    Raises SuiteError where the name belongs to another class.
    """
    taken = _METHODS.get(cls.name)
    if taken is not None and taken is not cls:
        raise SuiteError(
            f"method name {cls.name!r} is taken by {taken.__module__}.{taken.__qualname__}; fix: choose another name"
        )
    _METHODS[cls.name] = cls
    return cls


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
