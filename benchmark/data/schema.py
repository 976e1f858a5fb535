"""Reading and writing of the parquet files, with explicit schemas and plain Python values.

pandas and pyarrow hand nested columns on as numpy arrays, whose truth value breaks chat templates, and guess
column types from the first rows. So everything here goes through a schema and comes back as lists and dicts.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark.errors import DataError

DATA_SOURCE = "venus/math"
"""The data_source of every training row: the name under which verl's reward function knows it."""


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> None:
    """Write rows as parquet with exactly the columns of a schema.

    Raises DataError where a value does not fit its column.
    """
    try:
        table = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"rows do not fit {path.name}: {error}; fix: give every column its declared type") from error
    pq.write_table(table, path)


def read_rows(path: Path, schema: pa.Schema | None = None) -> list[dict[str, Any]]:
    """Read parquet rows as plain Python values.

    Raises DataError for a missing or unreadable file, and where its columns are not those of `schema`.
    """
    if not path.is_file():
        raise DataError(f"no such file: found {path}, allowed a parquet file; fix: run the stage that writes it")
    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise DataError(f"not a parquet file: found {path} ({error}); fix: write it again") from error
    if schema is not None:
        _require_columns(path, table.schema, schema)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a mapping as indented JSON with sorted keys; NaN is refused with ValueError."""
    path.write_text(json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")


NO_PAIR = -1
"""The pair of a row without a paraphrase."""


def verl_row(
    question: str, index: int, ground_truth: str, *, labelled: bool, split: str, pair: int = NO_PAIR
) -> dict[str, Any]:
    """Build a row of artifacts.VERL_SCHEMA: the question as the only user turn."""
    return {
        "data_source": DATA_SOURCE,
        "prompt": [{"content": question, "role": "user"}],
        "ability": "math",
        "reward_model": {"ground_truth": ground_truth, "style": "rule"},
        "extra_info": {"index": index, "labeled": labelled, "pair": pair, "split": split},
    }


def _require_columns(path: Path, found: pa.Schema, wanted: pa.Schema) -> None:
    def described(names: Sequence[str], schema: pa.Schema) -> str:
        return ", ".join(f"{name}: {schema.field(name).type}" for name in names) or "none"

    missing = [name for name in wanted.names if name not in found.names]
    extra = [name for name in found.names if name not in wanted.names]
    retyped = [name for name in wanted.names if name not in missing and not _same_type(found, wanted, name)]
    if missing or extra or retyped:
        raise DataError(
            f"columns of {path.name}: found missing {described(missing, wanted)}, extra {described(extra, found)}, "
            f"of another type {described(retyped, found)}; allowed the columns of benchmark.artifacts; "
            "fix: rebuild the file with this version"
        )


def _same_type(found: pa.Schema, wanted: pa.Schema, name: str) -> bool:
    return str(_plain_type(found.field(name).type)) == str(_plain_type(wanted.field(name).type))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Forget the name of a list's item field, which writers choose differently."""
    return pa.list_(pa.field("element", kind.value_type)) if pa.types.is_list(kind) else kind
