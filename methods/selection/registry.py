"""The scorers by name, and the only place that turns a name and options into a scorer."""

from collections.abc import Mapping
from typing import Any

from benchmark.errors import SuiteError, unknown_name
from methods.selection.answers import Consistency, Difficulty
from methods.selection.base import Scorer, scorer_option_names
from methods.selection.embedding_chain import CoEC, CoER, CoTKinetics
from methods.selection.pivot_trace import PivotTrace
from methods.selection.random_order import Random
from methods.selection.token_certainty import Entropy, SelfCertainty

_SCORERS: dict[str, type[Scorer]] = {
    cls.name: cls
    for cls in (CoEC, CoER, Consistency, CoTKinetics, Difficulty, Entropy, PivotTrace, Random, SelfCertainty)
}


def scorer_names() -> tuple[str, ...]:
    """Name every scorer, sorted."""
    return tuple(sorted(_SCORERS))


def scorer_class(name: str) -> type[Scorer]:
    """Return the class of a scorer; raises UnknownNameError with the nearest name."""
    try:
        return _SCORERS[name]
    except KeyError:
        raise unknown_name("scorer", name, _SCORERS) from None


def build_scorer(name: str, options: Mapping[str, Any], seed: int = 0) -> Scorer:
    """Build the scorer `name` with `options` laid over its defaults, for the seed of a cell.

    Raises UnknownNameError for an unknown scorer or option, SuiteError for a value that the scorer refuses.
    """
    cls = scorer_class(name)
    known = scorer_option_names(cls)
    for option in options:
        if option not in known:
            raise unknown_name(f"option of scorer {name!r}", option, known)
    try:
        return cls(cls.Options(**options), seed)
    except (TypeError, ValueError) as error:
        raise SuiteError(f"scorer {name!r} refuses its options {dict(options)}: {error}") from error
