"""Every error that venus raises on purpose, in one picklable tree.

A message is one line: what is wrong, what was found, what is allowed, how to fix it. `UserError`
and its children are mistakes of the person at the keyboard: the command prints the line and exits
with status 2, without a traceback. Everything else is a failure of a run.

This module imports nothing of the project, so every package may use it (methods included).
"""

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.65  # ratio of difflib: a letter lost or two swapped in a short name, but not "nope" for "compose"


class VenusError(Exception):
    """Root of the tree; carries only its message, so that it survives pickling through Ray."""


class UserError(VenusError):
    """A mistake in what the user asked for; nothing was started and nothing was lost."""


class SuiteError(UserError):
    """A suite file, a cell or an override that cannot be run as written."""


class UnknownNameError(UserError):
    """A name that is not registered; the message offers the nearest known one."""


class DataError(UserError):
    """Training or benchmark data that fails its lint."""


class InfeasibleError(UserError):
    """A request that the cluster can never satisfy, however long one waits."""


class StoreBusyError(UserError):
    """Another driver holds the store."""


class StageError(VenusError):
    """A stage of a cell failed while running."""


class MethodError(VenusError):
    """A method broke a rule of the supervision contract."""


class HiddenTruthError(MethodError):
    """A method tried to read the hidden truth of an unlabelled item."""


def unknown_name(kind: str, found: str, allowed: Iterable[str]) -> UnknownNameError:
    """Build the error for an unknown name, with the nearest allowed one.

    `kind` is what the name stands for ("suite", "method", ...).
    """
    names = sorted(allowed)
    near = get_close_matches(found, names, n=1, cutoff=_CLOSE)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return UnknownNameError(f"unknown {kind} {found!r}; {hint}allowed: {', '.join(names) or '(none)'}")
