"""What results were made with, so that a table can refuse to mix what cannot be compared.

A record carries four versions: the grader, the content of the benchmarks, the protocol (how responses were sampled)
and the engine. Results of two graders, two sets of questions or two protocols do not stand in one table; another
engine alone changes sampled text but not what is measured, so it is not in `COMPARABLE`. There is no version of a
suite in a record: cells are shared between suites, and every key of a cell holds the versions of its stages.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from benchmark.stage import SHORT_ID, canonical_json, digest

COMPARABLE = ("grader", "data", "protocol")
"""Versions that all results of a table must share."""

_ITEM = ("benchmark", "item_id", "prompt", "gold", "kind", "choices", "tolerance")
_UNSTATED = "none stated"


def mixed_versions(records: Mapping[str, Mapping[str, Any]], kinds: Iterable[str] = COMPARABLE) -> list[str]:
    """Return a line for each kind of version in which records (record.json by label) differ; empty if comparable.

    A line names every version with the first record that has it. A record that states none differs from one that
    does.
    """
    lines = []
    for kind in kinds:
        found: dict[str, str] = {}
        for label, record in records.items():
            found.setdefault(str(record.get("versions", {}).get(kind) or _UNSTATED), label)
        if len(found) > 1:
            seen = ", ".join(f"{version} ({label})" for version, label in sorted(found.items()))
            lines.append(f"mixed versions of the {kind}: found {seen}, allowed one")
    return lines


def content_hash(benchmarks: pa.Table) -> str:
    """Return 12 hexadecimal characters of the sha256 of all items, whatever their order (BENCHMARKS_SCHEMA)."""
    rows = benchmarks.select([name for name in _ITEM if name in benchmarks.column_names]).to_pylist()
    return _short(sorted(canonical_json(row) for row in rows))


def protocol_version(sampling: Mapping[str, Any], name: str = "sampling") -> str:
    """Return the name of a protocol with a digest of the parameters that were sent, seeds left out."""
    return f"{name}-{_short(_without_seeds(sampling))}"


def _without_seeds(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_seeds(entry) for key, entry in value.items() if key != "seed"}
    return value


def _short(value: Any) -> str:
    return digest(value)[:SHORT_ID]
