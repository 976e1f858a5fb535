"""Where training questions come from: generated, a local file, or a dataset hub.

A file or a hub dataset is described by a recipe that names its columns (configs/data/deepmath.yaml). The recipe of
a file may state how many rows it has and the hash of what they say: another file is then refused.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmark.data.content import content_index, normalise_question
from benchmark.data.data_files import locate, read_data_rows
from benchmark.errors import DataError, unknown_name
from benchmark.stage import digest

UNKNOWN_LEVEL = -1.0


@dataclass(frozen=True, slots=True)
class PoolItem:
    """A training question with its truth; the fields are the columns of artifacts.POOL_SCHEMA."""

    index: int
    question: str
    answer: str
    family: str
    level: int
    paraphrase: str = ""  # "" where there is none


@dataclass(frozen=True, slots=True)
class Columns:
    """How to read the rows of a source: names of its columns, and what to do with the text."""

    question: str = "question"
    answer: str = "answer"
    family: str = ""  # no column: the family is ""
    level: str = ""  # no column: the level is -1
    paraphrase: str = ""  # no column: there are no paraphrases
    min_level: float | None = None  # easier rows are left out
    suffix: str = ""  # appended to every question and paraphrase
    drop_empty: bool = False  # leave out rows without an answer instead of refusing the source


@dataclass(slots=True)
class SourceReport:
    """What happened to the rows of a source."""

    rows: int = 0
    below_min_level: int = 0
    empty_answers: int = 0
    duplicates: int = 0
    unknown_levels: int = 0  # rows that say so, such as "Level ?" in MATH: -1
    conflicting_duplicates: int = 0  # duplicates whose answer is written differently from that of the first
    items: list[PoolItem] = field(default_factory=list)


def rows_of(source: str, recipe: Mapping[str, Any]) -> tuple[Columns, Iterable[Mapping[str, Any]]]:
    """Open a source ("local" or "hub") by its recipe.

    Raises DataError where the recipe is wrong or the source cannot be read.
    """
    location = {"local": {"path", "rows", "content_hash"}, "hub": {"id", "revision", "split"}}[source]
    known = location | set(Columns.__dataclass_fields__)
    for key in recipe:
        if key not in known:
            raise unknown_name(f"key in the recipe of data source {source!r}", key, known)
    columns = Columns(**{key: value for key, value in recipe.items() if key not in location})
    return columns, (_local_rows(recipe, columns) if source == "local" else _hub_rows(recipe))


def collect(rows: Iterable[Mapping[str, Any]], columns: Columns) -> SourceReport:
    """Turn raw rows into items: level filter, duplicates, suffix.

    Raises DataError for a missing column, a level that is no number, an empty question, or an empty answer.
    """
    report = SourceReport()
    first_answer: dict[str, str] = {}
    for number, row in enumerate(rows):
        report.rows += 1
        level = _level(row, columns, number)
        report.unknown_levels += bool(columns.level) and level == UNKNOWN_LEVEL
        if columns.min_level is not None and level < columns.min_level:
            report.below_min_level += 1
            continue
        question, answer = _text(row, columns.question, number), _text(row, columns.answer, number)
        if not question:
            raise DataError(f"row {number} has an empty question in {columns.question!r}; fix: remove the row")
        if not answer:
            report.empty_answers += 1
            if columns.drop_empty:
                continue
            raise DataError(
                f"row {number} has no answer: found {columns.answer}='', allowed a non-empty text; "
                "fix: remove the row, or set recipe.drop_empty to leave such rows out"
            )
        identity = normalise_question(question)
        if identity in first_answer:
            report.duplicates += 1
            report.conflicting_duplicates += answer != first_answer[identity]
            continue
        first_answer[identity] = answer
        shown = question + columns.suffix
        family = _text(row, columns.family, number) if columns.family else ""
        other = _text(row, columns.paraphrase, number) if columns.paraphrase else ""
        other += columns.suffix if other else ""
        report.items.append(PoolItem(content_index(shown), shown, answer, family, int(level), other))
    return report


def training_content_hash(rows: Iterable[Mapping[str, Any]], columns: Columns) -> str:
    """Return the sha256 over the sorted hashes of (question, answer): what a training set says, in any order."""
    hashes = sorted(
        digest([normalise_question(_text(row, columns.question, number)), _text(row, columns.answer, number)])
        for number, row in enumerate(rows)
    )
    return digest(hashes)


def _local_rows(recipe: Mapping[str, Any], columns: Columns) -> list[dict[str, Any]]:
    path = locate(str(recipe.get("path", "")))
    rows = read_data_rows(path)
    wanted = recipe.get("rows", len(rows))
    if wanted != len(rows):
        raise DataError(f"{path.name} has missing or extra rows: found {len(rows)}, allowed {wanted}; {_FIX_RECIPE}")
    if "content_hash" in recipe:
        found = training_content_hash(rows, columns)
        if found != recipe["content_hash"]:
            raise DataError(
                f"{path.name} has changed rows: found content hash {found}, allowed {recipe['content_hash']}; "
                + _FIX_RECIPE
            )
    return rows


_FIX_RECIPE = "fix: fetch the file again, or correct the recipe, which makes other cells"


def hub_rows(
    name: str, revision: str = "main", split: str = "train", config: str | None = None
) -> Iterable[Mapping[str, Any]]:
    """Fetch a dataset of the hub.

    Raises DataError where that fails.
    """
    from datasets import exceptions, load_dataset

    try:
        rows: Iterable[Mapping[str, Any]] = load_dataset(name, config, revision=revision, split=split)
    except (OSError, ValueError, RuntimeError, exceptions.DatasetsError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(
            f"dataset {name!r} at revision {revision!r} could not be fetched: {reason}; "
            "fix: check the network and the name, or use data source 'local' with a file"
        ) from error
    return rows


def _hub_rows(recipe: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    name = recipe.get("id")
    if not isinstance(name, str) or not name:
        raise DataError(f"recipe of a hub data source: found id={name!r}, allowed a dataset name; fix: set recipe.id")
    return hub_rows(name, recipe.get("revision", "main"), recipe.get("split", "train"))


def _text(row: Mapping[str, Any], column: str, number: int) -> str:
    if column not in row:
        raise DataError(f"row {number} has no column {column!r}: allowed {', '.join(row)}; fix: name it in the recipe")
    value = row[column]
    return "" if value is None else str(value).strip()


def _level(row: Mapping[str, Any], columns: Columns, number: int) -> float:
    """Read a level: a number, which MATH writes as "Level 5" and, where it is unknown, as "Level ?"."""
    if not columns.level:
        return UNKNOWN_LEVEL
    text = _text(row, columns.level, number)
    figure = text.removeprefix("Level ")
    if figure == "?":
        return UNKNOWN_LEVEL
    try:
        return float(figure)
    except ValueError:
        raise DataError(
            f"row {number}: found {columns.level}={text!r}, allowed a number; fix: drop recipe.level or correct the row"
        ) from None
