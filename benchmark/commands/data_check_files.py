"""What `venus data check` says of files: their sha256 beside that of manifest.json, and the noise that OLR published.

The content hash decides whether items are used; a file that differs from the manifest may hold the same items in
another form, so that is told and refuses nothing.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from benchmark.data.data_files import read_data_rows
from benchmark.errors import DataError

OK, MISSING, REFUSED = "ok", "missing", "refused"
MANIFEST = "manifest.json"

_NOISE_FILE = "olr_noise/noise_{}.parquet"
_NOISE_ROWS = 800
_REALISED = {"0.0": 0, "0.1": 74, "0.3": 247, "0.5": 387, "0.7": 559, "0.9": 710, "1.0": 800}
_PLACEHOLDER = "__NoCorrectAnswer__"


class FileDigests:
    """The sha256 of files below a data directory, compared with its manifest.json, where it has one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stated = _stated(folder / MANIFEST)

    def of(self, path: Path) -> dict[str, str | None]:
        """Return the sha256 of a file and that of the manifest, None where the manifest does not list it."""
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        return {"sha256": found, "manifest_sha256": self._stated.get(path.relative_to(self._folder).as_posix())}


def noise_files(folder: Path, digests: FileDigests) -> list[dict[str, Any]]:
    """Count the corrupted rows of the files of OLR's noise; none of them is needed, so an absent one is no entry.

    A file is refused where its number of rows, or of corrupted ones, is not the published one.
    """
    found = []
    for ratio, expected in _REALISED.items():
        path = folder / _NOISE_FILE.format(ratio)
        if not path.is_file():
            continue
        data: dict[str, Any] = {"name": _NOISE_FILE.format(ratio), "expected": expected, **digests.of(path)}
        try:
            answers = [row.get("answer") for row in read_data_rows(path)]
        except DataError as error:
            found.append(data | {"state": REFUSED, "problems": [str(error)]})
            continue
        corrupted = answers.count(_PLACEHOLDER)
        problems = []
        if (corrupted, len(answers)) != (expected, _NOISE_ROWS):
            problems.append(
                f"found {corrupted} of {len(answers)} rows corrupted, allowed {expected} of {_NOISE_ROWS}; "
                "fix: fetch the file again"
            )
        data |= {"rows": len(answers), "corrupted": corrupted, "problems": problems}
        found.append(data | {"state": REFUSED if problems else OK})
    return found


def _stated(path: Path) -> dict[str, str]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return {str(entry["file"]): str(entry["sha256"]) for entry in entries}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
