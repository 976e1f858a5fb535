"""From the rows of a suite to its cells: pure expansion, exclusion and de-duplication.

Rows that mean the same cell give one cell: a method that ignores labels has no label ratio, a noise
ratio of 0 is no noise, and the untrained base policy has neither supervision nor seed. Exclusions act on
the values as written, before that; the rules on what can be run act after it, so that a combination
that makes no sense can be excluded from an axis.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any

from benchmark.errors import SuiteError
from benchmark.suite.compose import Profile
from benchmark.suite.file import CellRow, Exclusion, SuiteFile
from benchmark.suite.spec import BASE, CellSpec, MethodSpec, NoiseKind, SupervisionSpec, frozen_json
from methods.base import LabelNeed, TrainingRows
from methods.registry import build_method, method_class

BASE_VERSION = 1
BASE_SEED = 0  # the untrained policy is sampled once per suite


@dataclass(frozen=True, slots=True)
class _Choice:
    """One combination of the values of a row, as written; None means "not stated"."""

    method: str
    pool: int | None
    steps: int | None
    label_ratio: float | None
    noise: str | None
    noise_ratio: float | None
    options: tuple[tuple[str, Any], ...]


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
                    cells[_cell(choice, seed, profile, f"cells[{number}]")] = None
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
    wanted = _cell(choices[0], 0, profile, "reference")
    for cell in cells:
        if replace(cell, seed=0) == replace(wanted, seed=0):
            return cell
    raise SuiteError(f"{suite.name}: reference is none of the suite's cells; fix: add the same row to cells")


def _choices(row: CellRow) -> Iterator[_Choice]:
    """Yield the combinations of a row, the last axis fastest."""
    options = [[(name, value) for value in values] for name, values in sorted(row.options.items())]
    axes: Any = (row.method, *(axis or (None,) for axis in (row.pool, row.steps, row.label_ratio, row.noise)))
    combinations: Iterator[Any] = itertools.product(*axes, row.noise_ratio or (None,), itertools.product(*options))
    for values in combinations:
        yield _Choice(*values)


def _excluded(choice: _Choice, seed: int, rule: Exclusion) -> bool:
    stated = {name: getattr(rule, name) for name in ("method", "pool", "steps", "label_ratio", "noise", "noise_ratio")}
    options = dict(choice.options)
    return (
        all(allowed is None or getattr(choice, name) in allowed for name, allowed in stated.items())
        and all(options.get(name) in allowed for name, allowed in rule.options.items())
        and (rule.seeds is None or seed in rule.seeds)
    )


def _cell(choice: _Choice, seed: int, profile: Profile, place: str) -> CellSpec:
    arm = _arm(choice, profile, place)
    return arm if arm.method.name == BASE else replace(arm, seed=seed)


@lru_cache(maxsize=4096)
def _arm(choice: _Choice, profile: Profile, place: str) -> CellSpec:
    """Build the cell of a choice with seed 0 and check that it can be run."""
    if choice.method == BASE:
        if choice.options:
            raise SuiteError(f"{place}: {BASE!r} has no options, found {dict(choice.options)}; fix: remove them")
        return CellSpec(
            method=MethodSpec(BASE, BASE_VERSION),
            supervision=SupervisionSpec(label_ratio=0.0),
            seed=BASE_SEED,
            model=profile.model,
            data=profile.data,
            train=profile.train,
            eval=profile.eval,
        )
    data = profile.data if choice.pool is None else replace(profile.data, pool=choice.pool)
    train = profile.train if choice.steps is None else replace(profile.train, steps=choice.steps)
    supervision = _supervision(choice, place)
    _check_rows(f"{place} ({choice.method})", supervision, data.pool, train.prompts)
    return CellSpec(
        method=MethodSpec(choice.method, method_class(choice.method).version, _options(choice)),
        supervision=supervision,
        seed=0,
        model=profile.model,
        data=data,
        train=train,
        eval=profile.eval,
    )


def _supervision(choice: _Choice, place: str) -> SupervisionSpec:
    cls = method_class(choice.method)
    place = f"{place} ({choice.method})"
    if cls.label_need is LabelNeed.IGNORED:
        return SupervisionSpec(label_ratio=0.0, rows=cls.rows.value)
    if choice.label_ratio is None:
        raise SuiteError(f"{place}: label_ratio is missing; fix: state the share of labelled rows, 0 to 1")
    if choice.label_ratio == 0.0 and cls.label_need is LabelNeed.REQUIRED:
        raise SuiteError(f"{place}: found label_ratio 0, allowed more than 0, as the method learns from labels only")
    kind, ratio = _noise(choice, place)
    if ratio > 0.0 and choice.label_ratio == 0.0:
        raise SuiteError(f"{place}: found noise_ratio {ratio:g} on unlabelled rows, allowed 0; fix: exclude it")
    return SupervisionSpec(choice.label_ratio, kind, ratio, cls.rows.value)


def _noise(choice: _Choice, place: str) -> tuple[NoiseKind, float]:
    kind = NoiseKind(choice.noise or NoiseKind.NONE)
    if kind is NoiseKind.NONE:
        if choice.noise_ratio:
            raise SuiteError(f"{place}: found noise_ratio {choice.noise_ratio:g} without a kind; fix: state noise")
        return kind, 0.0
    if choice.noise_ratio is None:
        raise SuiteError(f"{place}: noise {kind.value!r} has no noise_ratio; fix: state the share of corrupted labels")
    return (kind, choice.noise_ratio) if choice.noise_ratio > 0.0 else (NoiseKind.NONE, 0.0)


def _check_rows(place: str, supervision: SupervisionSpec, pool: int, prompts: int) -> None:
    """Refuse a batch that the training rows cannot fill; a pool of 0 means all rows, known only later."""
    if pool == 0:
        return
    labelled_only = supervision.rows == TrainingRows.LABELLED
    rows = round(supervision.label_ratio * pool) if labelled_only else pool
    if prompts > rows:
        what = f"{rows} labelled rows" if labelled_only else f"{rows} rows of the pool"
        raise SuiteError(
            f"{place}: found a batch of {prompts} prompts, allowed at most the {what}; "
            "fix: raise label_ratio or data.pool, or lower train.prompts"
        )


def _options(choice: _Choice) -> str:
    """Return the options with their defaults, as canonical JSON; a whole number for a float is a float."""
    cls = method_class(choice.method)
    floats = {field.name for field in fields(cls.Options) if isinstance(field.default, float)}
    written: Mapping[str, Any] = {
        name: float(value) if name in floats and type(value) is int else value for name, value in choice.options
    }
    complete = asdict(build_method(choice.method, written).options)
    return frozen_json(json.loads(json.dumps(complete)))
