"""Methods from outside the repository: a Python file, or an installed distribution.

A plugin file is found through `--plugin PATH`, which puts it into the environment variable VENUS_PLUGINS (absolute
paths, separated like those of PATH): jobs are processes of their own, and inherit it. A distribution names
its modules or classes in the entry-point group `venus.methods`. Trade-offs taken: a plugin file is one file, run
under a name made from its path, so that two files called `my.py` live side by side, but a file cannot import its
neighbour (that takes a distribution); and a plugin that cannot be loaded stops whoever lists the methods, because
a method that is silently missing is found out much later.

This module finds and checks classes. Which names are taken is known to `methods.registry` alone.
"""

import hashlib
import keyword
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from benchmark.errors import SuiteError, VenusError
from methods.base import Method, Module

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "venus.methods"
VARIABLE = "VENUS_PLUGINS"
RESERVED = frozenset({"base"})  # a suite calls the untrained policy so
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Plugin:
    """Where methods come from, and how they are loaded; loading raises SuiteError in one line."""

    origin: str
    load: Callable[[], tuple[type[Method], ...]]


def listed_files() -> tuple[Path, ...]:
    """Return the plugin files that VENUS_PLUGINS names."""
    return tuple(Path(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path)


def list_files(paths: tuple[Path, ...]) -> None:
    """Name plugin files in VENUS_PLUGINS, for this process and for those that it starts."""
    os.environ[VARIABLE] = os.pathsep.join(str(path) for path in paths)


def file_plugin(path: Path) -> Plugin:
    """Return the plugin in a Python file.

    Raises SuiteError where there is no such file, or its path cannot be listed.
    """
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no file"
        raise SuiteError(f"plugin {str(path)!r}: found {what}, allowed a Python file; fix: check the path")
    if path.suffix != ".py":
        raise SuiteError(f"plugin {str(path)!r}: found {path.name!r}, allowed a name that ends in .py; fix: rename it")
    if os.pathsep in str(path):
        raise SuiteError(f"plugin {str(path)!r}: found {os.pathsep!r} in its path, allowed none; fix: move the file")
    return Plugin(f"plugin {path}", lambda: _classes_of_file(path))


def distribution_plugins() -> Iterator[Plugin]:
    """Yield the plugins that installed distributions declare, in the order of their names."""
    from importlib.metadata import entry_points

    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        yield _entry_plugin(entry)


def source_file(cls: type) -> str | None:
    """Return the path of the file that defines a class, None where there is none."""
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return str(Path(path).resolve()) if path else None


def name_problem(name: str) -> str | None:
    """Say why `name` cannot be the name of a method, None where it can: it names files, modules and folders."""
    if not _NAME.fullmatch(name):
        allowed = "allowed lower-case letters, digits and _, a letter first"
        return f"method name: found {name!r}, {allowed}; fix: write it like my_method"
    if name in RESERVED or keyword.iskeyword(name):
        return f"method name: found {name!r}, which is reserved; fix: choose another name"
    return None


def _classes_of_file(path: Path) -> tuple[type[Method], ...]:
    origin = f"plugin {path}"
    name = f"venus_plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    try:
        _execute(path, module, origin)
        return _checked(_methods_in(module, lambda cls: cls.__module__ == name), origin)
    except BaseException:
        del sys.modules[name]
        raise


def _execute(path: Path, module: ModuleType, origin: str) -> None:
    """Run a file as a module, without importlib: that would leave a cache in a folder that is not ours."""
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except VenusError:
        raise
    except SyntaxError as error:
        where = f"line {error.lineno} is not Python" if error.filename == str(path) else "it imports what is not Python"
        raise SuiteError(f"{origin}: {where}: {error.msg}; fix: correct it") from error
    except (Exception, SystemExit) as error:
        raise SuiteError(f"{origin}: {_reason(error, str(path))}; fix: correct it") from error


def _entry_plugin(entry: "EntryPoint") -> Plugin:
    distribution = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
    origin = f"distribution {distribution}"

    def load() -> tuple[type[Method], ...]:
        fix = f"fix: repair or uninstall {distribution}"
        try:
            found = entry.load()
        except VenusError:
            raise
        except (Exception, SystemExit) as error:
            raise SuiteError(f"{origin}: entry point {entry.value!r}: {_reason(error)}; {fix}") from error
        if isinstance(found, ModuleType):
            package = found.__name__.split(".")[0]
            return _checked(_methods_in(found, lambda cls: cls.__module__.split(".")[0] == package), origin)
        if isinstance(found, type) and issubclass(found, Method):
            return _checked([found], origin)
        allowed = "allowed a module or a subclass of methods.base.Method"
        raise SuiteError(f"{origin}: entry point {entry.value!r}: found {found!r}, {allowed}; {fix}")

    return Plugin(f"{origin}, entry point {entry.name}", load)


def _methods_in(module: ModuleType, belongs: Callable[[type], bool]) -> list[type[Method]]:
    """List the subclasses of Method that a module defines; what it only imports belongs to somebody else."""
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Method)]
    return list(dict.fromkeys(cls for cls in found if belongs(cls)))


def _checked(found: list[type[Method]], origin: str) -> tuple[type[Method], ...]:
    """Return the classes that have a name of their own, which a base of several methods has not."""
    named = tuple(cls for cls in found if "name" in vars(cls))
    if not named:
        unnamed = f"found {', '.join(cls.__name__ for cls in found)} without `name`" if found else "found none"
        raise SuiteError(f"{origin}: {unnamed}, allowed one subclass of methods.base.Method with a `name`, or more")
    for cls in named:
        problem = _problem(cls)
        if problem:
            raise SuiteError(f"{origin}: class {cls.__name__}: {problem}")
    return named


def _problem(cls: type[Method]) -> str | None:
    """Say what a class leaves undeclared that the runner must know before anything runs."""
    if not isinstance(cls.name, str):
        return f"`name` is {cls.name!r}, allowed a string"
    if not isinstance(getattr(cls, "summary", None), str):
        return "`summary` is missing; fix: say in one line what the method does"
    if not isinstance(getattr(cls, "module", None), Module):
        return f"`module` is missing; fix: set it to one of {', '.join(f'Module.{kind.name}' for kind in Module)}"
    if not is_dataclass(cls.Options):
        return "`Options` is no dataclass; fix: decorate it with @dataclass(frozen=True, slots=True)"
    for option in fields(cls.Options):
        if option.default is MISSING and option.default_factory is MISSING:
            return f"option {option.name!r} has no default; fix: give it one"
    return name_problem(cls.name)


def _reason(error: BaseException, path: str | None = None) -> str:
    """Name an error in one line, with the line of the file at `path` that it came through."""
    text = " ".join(str(error).split())
    lines: list[Any] = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f"line {lines[-1]}: " if lines else ""
    return f"{where}{type(error).__name__}{f': {text}' if text else ''}"
