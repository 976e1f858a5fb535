"""The text of `venus data check`: aligned lines, made from its data."""

from collections.abc import Sequence
from typing import Any

Data = dict[str, Any]

_COUNTS = {
    "empty_answers": "without an answer",
    "unknown_levels": "of unknown level",
    "repeated_questions": "repeat an earlier question",
    "conflicting_answers": "repeat it with another answer",
    "control_characters": "with control characters",
}


def check_text(data: Data) -> str:
    """Write the report of `data_check.check_data` for people."""
    parts = [f"data directory: {data['directory']}", _benchmark_table(data), _training_table(data)]
    if data["noise_files"]:
        parts.append(_noise_table(data))
    overlap = _overlap_table(data)
    if overlap:
        parts.append("overlap of training sets with benchmarks: equal questions / items that share 13 words in a row")
        parts.append(overlap)
    parts.append(f"{data['failed']} refused, {data['missing']} missing")
    if data["all_missing"]:
        parts.append(
            f"none of the files is below {data['directory']}; fix: put them there under the names above, "
            "or name their folder with --data or VENUS_DATA"
        )
    return "\n\n".join(parts)


def _benchmark_table(data: Data) -> str:
    head = (
        "benchmark",
        "group",
        "kind",
        "rows",
        "items",
        "expected",
        "state",
        "content hash",
        "file sha256",
        "contamination",
        "licence",
    )
    lines = [head]
    details: dict[int, list[str]] = {}
    for each in data["benchmarks"]:
        lines.append(
            (
                each["name"] + ("" if each["in_profile"] else " (not in the profile)"),
                each["group"],
                each["kind"].replace("_", " "),
                _number(each, "rows"),
                _number(each, "items"),
                str(each["expected_items"] or "any"),
                each["state"],
                each.get("content_hash", "")[:12],
                _file(each),
                each["contamination"],
                each["licence"],
            )
        )
        details[len(lines) - 1] = [f"! {problem}" for problem in each["problems"]] + [
            *(_defect_line(defect) for defect in each["defects"]),
            _answers_line(each),
            _manifest_line(each),
        ]
    return _aligned(lines, details)


def _defect_line(defect: Data) -> str:
    named = ", ".join(defect["items"]) + (", ..." if defect["count"] > len(defect["items"]) else "")
    reason = f": {defect['reason']}" if defect["reason"] else ""
    return f"{defect['count']} {defect['defect'].replace('_', ' ')}, {defect['treatment']} ({named}){reason}"


def _training_table(data: Data) -> str:
    lines = [("training set", "rows", "expected", "state", "content hash", "file sha256", "licence")]
    details: dict[int, list[str]] = {}
    for each in data["training_sets"]:
        lines.append(
            (
                each["name"],
                _number(each, "rows"),
                str(each.get("expected_rows") or "any"),
                each["state"],
                each.get("content_hash", "")[:12],
                _file(each),
                each["licence"],
            )
        )
        counts = [f"{each[key]} {words}" for key, words in _COUNTS.items() if each.get(key)]
        details[len(lines) - 1] = [f"! {problem}" for problem in each["problems"]] + [
            "; ".join(part for part in (*counts, each["note"]) if part),
            _manifest_line(each),
        ]
    return _aligned(lines, details)


def _noise_table(data: Data) -> str:
    lines = [("noise file of OLR", "corrupted", "expected", "rows", "state", "file sha256")]
    details: dict[int, list[str]] = {}
    for each in data["noise_files"]:
        counts = (_number(each, "corrupted"), str(each["expected"]), _number(each, "rows"))
        lines.append((each["name"], *counts, each["state"], _file(each)))
        details[len(lines) - 1] = [*(f"! {problem}" for problem in each["problems"]), _manifest_line(each)]
    return _aligned(lines, details)


def _file(each: Data) -> str:
    """Return the beginning of the sha256 of a file, with a mark where manifest.json says something else."""
    return each["sha256"][:12] + ("" if _as_stated(each) else " (!)") if "sha256" in each else "-"


def _as_stated(each: Data) -> bool:
    return each.get("manifest_sha256") in (None, each.get("sha256"))


def _manifest_line(each: Data) -> str:
    return "" if _as_stated(each) else f"(!) manifest.json says sha256 {each['manifest_sha256'][:12]}"


def _answers_line(each: Data) -> str:
    """Say which golds are more than one exact answer: several of them, or one with a tolerance."""
    several = each.get("several_answers")
    parts = [f"{several} items with several answers"] if several else []
    parts += [f"{name} with a tolerance of {tolerance}" for name, tolerance in each.get("tolerances", {}).items()]
    return "; ".join(parts)


def _overlap_table(data: Data) -> str:
    """Write a line per training set, a column per benchmark that some of them overlap, and the names of the others."""
    reports = {each["name"]: each["overlap"]["benchmarks"] for each in data["training_sets"] if "overlap" in each}
    names = [each["name"] for each in data["benchmarks"]]
    hit = [
        name
        for name in names
        if any(own.get(name, {}).get("grams") or own.get(name, {}).get("exact") for own in reports.values())
    ]
    if not reports:
        return ""
    lines = [("", *hit)]
    for name, own in reports.items():
        lines.append(
            (name, *(f"{own[column]['exact']}/{own[column]['grams']}" if column in own else "?" for column in hit))
        )
    if not hit:
        return "none of the benchmarks overlaps any training set"
    looked_at = {name for own in reports.values() for name in own}
    free = [name for name in names if name in looked_at and name not in hit]
    return _aligned(lines, {}) + (f"\nno overlap with any training set: {', '.join(free)}" if free else "")


def _number(each: Data, key: str) -> str:
    return str(each[key]) if key in each else "-"


def _aligned(lines: Sequence[tuple[str, ...]], details: dict[int, list[str]]) -> str:
    """Align columns, and put the details of a line, indented, below it."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = []
    for number, line in enumerate(lines):
        text.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        text += [f"    {detail}" for detail in details.get(number, []) if detail]
    return "\n".join(text)
