"""`venus new-method`: a method that works, its options and its test, to start from.

In a checkout the files go where built-in methods live; with a folder they make a plugin. A built-in method is then
named in `methods/registry.py` by hand: the two lines are printed (the trade-off is written down there).
"""

from dataclasses import dataclass
from pathlib import Path
from string import Template

from benchmark.commands import scaffold_texts as texts
from benchmark.errors import SuiteError
from benchmark.files import write_atomically
from methods.plugins import name_problem
from methods.registry import method_names, method_origin

CHECKOUT = Path(__file__).resolve().parents[2]
_USED = frozenset({"Method", "Module", "Options", "Path", "RolloutGroups", "Targets"})  # names in the written files


@dataclass(frozen=True, slots=True)
class NewMethod:
    """What was written, and what is left to do."""

    files: tuple[Path, ...]
    next_steps: tuple[str, ...]


def new_method(name: str, folder: Path | None = None, checkout: Path = CHECKOUT) -> NewMethod:
    """Write a method, its options and its test, into the checkout or, as a plugin, into `folder`.

    Raises SuiteError, with nothing written, for a name that is not allowed or taken and for a file that exists; also
    for a folder that cannot be made or written.
    """
    problem = name_problem(name)
    if problem:
        raise SuiteError(problem)
    if name in method_names():
        raise SuiteError(f"method name {name!r} is taken ({method_origin(name)}); fix: choose another name")
    files = _built_in_files(name, checkout) if folder is None else _plugin_files(name, folder)
    for path in files:
        if path.exists():
            raise SuiteError(f"found {str(path)!r}, allowed no such file; fix: choose another name, or remove it")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text.substitute(name=name, cls=class_name(name)))
        except OSError as error:
            found = f"found {str(path.parent)!r}, where nothing can be written ({error.strerror})"
            raise SuiteError(f"{found}, allowed a folder; fix: correct --folder") from error
    return NewMethod(tuple(files), _next_steps(name, tuple(files), built_in=folder is None))


def class_name(name: str) -> str:
    """Return the class of the method `name`: "my_vote" is MyVote, and "options" is OptionsMethod."""
    camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return f"{camel}Method" if camel in _USED else camel


def describe(made: NewMethod) -> str:
    """Say for people what was written and what to do next."""
    steps = (f"{number}. {step}" for number, step in enumerate(made.next_steps, 1))
    return "\n".join([*(f"written: {path}" for path in made.files), "next:", *steps])


def _built_in_files(name: str, checkout: Path) -> dict[Path, Template]:
    if not (checkout / "methods" / "registry.py").is_file() or not (checkout / "tests").is_dir():
        raise SuiteError(f"{str(checkout)!r} is no checkout of venus; fix: write a plugin, with --folder PATH")
    return {
        checkout / "methods" / f"{name}.py": texts.METHOD,
        checkout / "configs" / "method" / f"{name}.yaml": texts.CONFIG,
        checkout / "tests" / "methods" / f"test_{name}.py": texts.BUILT_IN_TEST,
    }


def _plugin_files(name: str, folder: Path) -> dict[Path, Template]:
    return {
        folder / f"{name}.py": texts.METHOD,
        folder / f"{name}.yaml": texts.CONFIG,
        folder / f"test_{name}.py": texts.PLUGIN_TEST,
    }


def _next_steps(name: str, files: tuple[Path, ...], built_in: bool) -> tuple[str, ...]:
    method, _, test = files
    cls = class_name(name)
    cell = f"{{method: {name}, label_ratio: 0.1}}"
    listed = (
        f"list it in methods/registry.py: `from methods.{name} import {cls}`, and `{cls},` in _BUILT_IN"
        if built_in
        else f"see it listed: venus methods {name} --plugin {method}"
    )
    return (
        f"change {method} and {test}, and run the test: python -m pytest {test}",
        "check the rules that hold for every method, in the checkout: "
        f"python -m pytest tests/contract --method-plugin {method} -k {name}",
        listed,
        f"name it in a suite: {cell}" if built_in else f"name it in a suite, {cell}, and add --plugin {method}",
    )
