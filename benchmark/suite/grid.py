"""From the rows of a suite to its cells: pure expansion, exclusion and de-duplication.

Rows that mean the same cell give one cell: a method that ignores labels has no label ratio, a noise
ratio of 0 is no noise, and the untrained base policy has neither supervision nor seed. Exclusions act on
the values as written, before that; the rules on what can be run (`benchmark.suite.cells`) act after it, so
that a combination that makes no sense can be excluded from an axis.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchmark.errors import SuiteError
from benchmark.suite.cells import Choice, SelectionChoice, build_cell
from benchmark.suite.compose import Profile
from benchmark.suite.file import CellRow, Exclusion, OptionValues, SelectionRow, SuiteFile
from benchmark.suite.spec import BASE, CellSpec

Pairs = tuple[tuple[str, Any], ...]


def expand(suite: SuiteFile, profile: Profile) -> tuple[CellSpec, ...]:
    """Expand a suite into its cells: in the order of the rows, seeds innermost, without duplicates.

    Raises SuiteError for a cell that cannot be run as written, for an exclusion that matches nothing and
    for an empty grid.
    """
    cells: dict[CellSpec, None] = {}
    used: set[int] = set()
    for number, row in enumerate(suite.cells):
        for choice in _choices(row):
            for seed in row.seeds or suite.seeds:
                matching = {i for i, rule in enumerate(suite.exclude) if _excluded(choice, seed, rule)}
                used |= matching
                if not matching:
                    cells[_cell(choice, seed, profile, suite.name, f"cells[{number}]")] = None
    for i in range(len(suite.exclude)):
        if i not in used:
            raise SuiteError(f"{suite.name}: exclude[{i}] matches no cell; fix: correct or remove it")
    if not cells:
        raise SuiteError(f"{suite.name}: found an empty grid, allowed one cell or more; fix: add a row to cells")
    return tuple(cells)


def reference_cell(suite: SuiteFile, profile: Profile, cells: tuple[CellSpec, ...]) -> CellSpec:
    """Return the first cell of the arm that the suite compares all others with.

    Raises SuiteError where the reference is not exactly one arm of the suite.
    """
    choices = tuple(_choices(suite.reference))
    if len(choices) != 1:
        raise SuiteError(f"{suite.name}: reference names {len(choices)} arms, allowed 1; fix: write no list in it")
    wanted = _cell(choices[0], 0, profile, suite.name, "reference")
    for cell in cells:
        if replace(cell, seed=0) == replace(wanted, seed=0):
            return cell
    raise SuiteError(f"{suite.name}: reference is none of the suite's cells; fix: add the same row to cells")


def _choices(row: CellRow) -> Iterator[Choice]:
    """Yield the combinations of a row, the last axis fastest."""
    axes: Any = (row.method, *(axis or (None,) for axis in (row.pool, row.steps, row.label_ratio, row.noise)))
    combinations: Iterator[Any] = itertools.product(
        *axes, row.noise_ratio or (None,), _combined(row.options), _combined(row.train), _selections(row.selection)
    )
    for values in combinations:
        yield Choice(*values)


def _combined(axes: Mapping[str, OptionValues]) -> list[Pairs]:
    """Return every combination of named values."""
    return list(itertools.product(*([(name, value) for value in values] for name, values in sorted(axes.items()))))


def _selections(row: SelectionRow | None) -> list[SelectionChoice | None]:
    if row is None:
        return [None]
    combinations = itertools.product(row.scorer, _combined(row.options), row.mode, row.annotate, row.discard)
    return [SelectionChoice(*values) for values in combinations]


def _excluded(choice: Choice, seed: int, rule: Exclusion) -> bool:
    stated = {name: getattr(rule, name) for name in ("method", "pool", "steps", "label_ratio", "noise", "noise_ratio")}
    options, train = dict(choice.options), dict(choice.train)
    return (
        all(allowed is None or getattr(choice, name) in allowed for name, allowed in stated.items())
        and all(options.get(name) in allowed for name, allowed in rule.options.items())
        and all(train.get(name) in allowed for name, allowed in rule.train.items())
        and (rule.seeds is None or seed in rule.seeds)
    )


def _cell(choice: Choice, seed: int, profile: Profile, suite: str, place: str) -> CellSpec:
    arm = build_cell(choice, profile, suite, place)
    return arm if arm.method.name == BASE else replace(arm, seed=seed)
