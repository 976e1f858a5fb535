"""Suite files: what a person writes, checked field by field.

A suite is a YAML file that lists rows of cells. Every value of a row may be a list, which makes it an
axis; the rows are expanded in `benchmark.suite.grid`. What can be judged from the file alone is judged
here, and each mistake is one line that names the file, the place and the nearest allowed name.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from benchmark.errors import SuiteError, UserError, unknown_name
from benchmark.suite.spec import BASE, NoiseKind
from methods.registry import method_names

PROJECT = Path(__file__).resolve().parents[2]
SUITES = PROJECT / "suites"

Scalar = bool | int | float | str
MAX_SEED = 2**31 - 1  # what every library below takes


def _one_or_more(value: Any) -> tuple[Any, ...]:
    if value == []:
        raise ValueError("found an empty list, so the grid is empty; fix: list one value or more")
    return tuple(value) if isinstance(value, list) else (value,)


def _ratios(values: tuple[float, ...]) -> tuple[float, ...]:
    for number in values:
        if not 0.0 <= number <= 1.0:
            raise ValueError(f"found {number:g}, allowed 0 to 1; fix: write a share, such as 0.1 for 10%")
    return tuple(number + 0.0 for number in values)  # + 0.0: no negative zero in an identity


def _counts(values: tuple[int, ...]) -> tuple[int, ...]:
    for number in values:
        if number < 1:
            raise ValueError(f"found {number}, allowed 1 or more; fix: write a positive number")
    return values


def _seeds(seeds: tuple[int, ...]) -> tuple[int, ...]:
    for seed in seeds:
        if not 0 <= seed <= MAX_SEED:
            raise ValueError(f"found {seed}, allowed 0 to {MAX_SEED}; fix: choose another seed")
        if seeds.count(seed) > 1:
            raise ValueError(f"found duplicate seed {seed}, allowed each seed once; fix: remove the duplicate")
    return seeds


def _methods(names: tuple[str, ...]) -> tuple[str, ...]:
    return _known("method", names, (BASE, *method_names()))


def _noise_kinds(names: tuple[str, ...]) -> tuple[str, ...]:
    return _known("noise kind", names, tuple(kind.value for kind in NoiseKind))


def _known(kind: str, names: tuple[str, ...], allowed: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in allowed:
            raise ValueError(str(unknown_name(kind, name, allowed)))
    return names


_AXIS = BeforeValidator(_one_or_more)
Ratios = Annotated[tuple[float, ...], _AXIS, AfterValidator(_ratios)]
Counts = Annotated[tuple[int, ...], _AXIS, AfterValidator(_counts)]
Seeds = Annotated[tuple[int, ...], _AXIS, AfterValidator(_seeds)]
Methods = Annotated[tuple[str, ...], _AXIS, AfterValidator(_methods)]
NoiseKinds = Annotated[tuple[str, ...], _AXIS, AfterValidator(_noise_kinds)]
Names = Annotated[tuple[str, ...], _AXIS]
OptionValues = Annotated[tuple[Scalar, ...], _AXIS]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]  # it names folders


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SelectionRow(_Strict):
    """How a row chooses the questions to label; each field may be a list, which makes it an axis."""

    scorer: Names
    options: dict[str, OptionValues] = Field(default_factory=dict)
    mode: Names = ("budget",)
    annotate: Ratios
    discard: Ratios = (0.0,)


class CellFields(_Strict):
    """Fields by which rows and exclusions name cells; None means "not stated". Lists become tuples."""

    label_ratio: Ratios | None = None
    noise: NoiseKinds | None = None
    noise_ratio: Ratios | None = None
    pool: Counts | None = None
    steps: Counts | None = None
    options: dict[str, OptionValues] = Field(default_factory=dict)
    train: dict[str, OptionValues] = Field(default_factory=dict)
    seeds: Seeds | None = None


class CellRow(CellFields):
    """One row of `cells`: a method under every combination of the listed values."""

    method: Methods
    selection: SelectionRow | None = None


class Exclusion(CellFields):
    """One row of `exclude`: drops the cells that match all of the stated fields."""

    method: Methods | None = None


class SuiteFile(_Strict):
    """A suite as it is written."""

    name: Name
    version: Annotated[int, Field(ge=1)]
    title: str
    profile: str
    seeds: Seeds
    reference: CellRow
    cells: list[CellRow]
    exclude: list[Exclusion] = Field(default_factory=list)


def suite_names(folder: Path = SUITES) -> tuple[str, ...]:
    """Name the suites in a folder."""
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


def find_suite(name_or_path: str, folder: Path = SUITES) -> Path:
    """Return the file of a suite that is given by its name or by a path ending in .yaml.

    Raises UnknownNameError with the nearest name, SuiteError where the path does not exist.
    """
    if name_or_path.endswith((".yaml", ".yml")):
        path = Path(name_or_path)
        if not path.is_file():
            raise SuiteError(f"no suite file at {name_or_path!r}; fix: check the path, or give the name of a suite")
        return path
    if name_or_path not in suite_names(folder):
        raise unknown_name("suite", name_or_path, suite_names(folder))
    return folder / f"{name_or_path}.yaml"


def load_suite(name_or_path: str, folder: Path = SUITES) -> SuiteFile:
    """Read and check a suite.

    Raises UserError, in one line, for whatever is wrong with the file.
    """
    path = find_suite(name_or_path, folder)
    return parse_suite(path.read_bytes(), path.name)


def parse_suite(text: str | bytes, origin: str) -> SuiteFile:
    """Check the text of a suite; `origin` names it in errors."""
    import yaml

    try:
        data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SuiteError(
            f"{origin}: not YAML: {_one_line(str(error))}; fix: check the quoting and indentation"
        ) from None
    if not isinstance(data, Mapping):
        found = "an empty file" if data is None else f"a {type(data).__name__}"
        raise SuiteError(
            f"{origin}: found {found}, allowed a mapping with the keys {', '.join(SuiteFile.model_fields)}"
        )
    try:
        return SuiteFile.model_validate(dict(data))
    except ValidationError as error:
        raise _first_problem(error, origin) from None


def _first_problem(error: ValidationError, origin: str) -> UserError:
    """Turn pydantic's list of problems into one line about the first; a misspelt key goes before a missing one."""
    problems = error.errors(include_url=False)
    problem = next((item for item in problems if item["type"] == "extra_forbidden"), problems[0])
    place = _place(problem["loc"])
    if problem["type"] == "extra_forbidden":
        *parents, key = problem["loc"]
        nearest = unknown_name("key", str(key), _keys_at(tuple(parents)))
        return type(nearest)(f"{origin}: {_place(tuple(parents))}{nearest}")
    if problem["type"] == "missing":
        return SuiteError(f"{origin}: {place}key is missing; fix: add it")
    if problem["type"] == "value_error":  # raised by the checks above: a full sentence already
        return SuiteError(f"{origin}: {place}{problem['ctx']['error']}")
    return SuiteError(f"{origin}: {place}{_one_line(problem['msg'])}, found {problem['input']!r}")


def _keys_at(location: tuple[int | str, ...]) -> tuple[str, ...]:
    models: dict[int | str, type[BaseModel]] = {"reference": CellRow, "cells": CellRow, "exclude": Exclusion}
    return tuple(models.get(location[0], SuiteFile).model_fields) if location else tuple(SuiteFile.model_fields)


def _place(location: tuple[int | str, ...]) -> str:
    """Say where: ("cells", 2, "label_ratio", 0) is "cells[2].label_ratio[0]: "."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in ("int", "float", "str", "bool"):  # branches of pydantic's union, not keys
            text += f".{part}" if text else part
    return f"{text}: " if text else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
