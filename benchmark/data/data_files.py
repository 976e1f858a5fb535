"""Where data files lie and how their rows are read: JSON lines or parquet, below one data directory.

A configuration names a file relative to that directory, so that neither an id nor an artifact knows a path of the
machine. The directory is the environment variable VENUS_DATA, or shared/data beside the checkout.
"""

import json
import os
from pathlib import Path
from typing import Any

from benchmark.data.schema import read_rows
from benchmark.errors import DataError

DATA_VARIABLE = "VENUS_DATA"

Row = dict[str, Any]


def data_directory() -> Path:
    """Return the directory of data files; it need not exist."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named).expanduser() if named else Path(__file__).resolve().parents[3] / "shared" / "data"


def locate(path: str, directory: Path | None = None) -> Path:
    """Return the file that a configuration names: itself where it exists, else below the data directory.

    Raises DataError where neither exists.
    """
    named = Path(path).expanduser()
    below = (directory or data_directory()) / named
    for candidate in (below, named) if directory else (named, below):
        if path and candidate.is_file():
            return candidate
    raise DataError(
        f"no such data file: found {path!r}, allowed a jsonl or parquet file, here or below {below.parents[0]}; "
        f"fix: correct the path, or set {DATA_VARIABLE}"
    )


def read_data_rows(path: Path) -> list[Row]:
    """Read the rows of a .jsonl or .parquet file as plain Python values.

    Raises DataError for another kind of file and for what is not UTF-8 or not JSON; no text of a row is quoted.
    """
    if path.suffix == ".parquet":
        return read_rows(path)
    if path.suffix != ".jsonl":
        raise DataError(f"unknown kind of data file: found {path.name}, allowed .jsonl or .parquet; fix: convert it")
    return parse_lines(decode_text(path.read_bytes(), path.name), path.name)


def decode_text(content: bytes, name: str) -> str:
    """Decode UTF-8, or raise DataError that names the position."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not UTF-8: found byte {error.start}; fix: save it as UTF-8") from None


def parse_lines(text: str, name: str) -> list[Row]:
    r"""Parse JSON lines.

    Only "\n" ends a record: splitlines would also cut at U+2028, which occurs inside questions. Raises DataError that
    names the line and quotes nothing of it.
    """
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:  # whose context would hold the text
            reason = f"{error.msg} at character {error.pos}"
            raise DataError(f"{name} line {number} is not JSON: {reason}; fix: correct the line") from None
        if not isinstance(row, dict):
            raise DataError(
                f"{name} line {number}: found {type(row).__name__}, allowed an object; fix: correct the line"
            )
        rows.append(row)
    return rows
