"""What `venus data check` shows: what benchmark files and training sets hold, what is wrong with them, and overlaps.

Data first, as elsewhere in the command; the text is made from the data. Nothing here quotes an item: ids, counts and
code points only, so that the output may be published although GPQA may not.
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.commands.data_check_files import MISSING, OK, REFUSED, FileDigests, noise_files
from benchmark.data.data_files import DATA_VARIABLE, data_directory
from benchmark.data.micro.splits import training_pool
from benchmark.data.overlap import overlap_report, repeated_questions
from benchmark.data.sources import collect, rows_of, training_content_hash
from benchmark.data.training_sets import TRAINING_SETS, TrainingSet, read_recipe
from benchmark.errors import DataError, UserError
from benchmark.evaluation.benchmarks.defects import Finding, refused
from benchmark.evaluation.benchmarks.items import Item, content_hash
from benchmark.evaluation.benchmarks.lint import has_control_character
from benchmark.evaluation.benchmarks.loaders import examine, find_file, read_rows_of
from benchmark.evaluation.benchmarks.stage import benchmark_rows, row_of
from benchmark.evaluation.benchmarks.table import BENCHMARKS, MICRO_BENCHMARKS, PUBLIC_BENCHMARKS, Benchmark
from benchmark.folders import unreadable
from benchmark.suite.compose import CONFIGS, Profile, compose_profile

GENERATED, HUB = "generated", "not checked (hub)"
_NAMED_AT_MOST = 5
_MICRO_POOL, _MICRO_ITEMS = 1536, 100  # where no profile says how many

Rows = list[dict[str, Any]]


def check_data(profile: str | None = None, directory: Path | None = None, configs: Path = CONFIGS) -> dict[str, Any]:
    """Examine every benchmark and training set, or those of the world of a profile (micro, or public).

    Raises UnknownNameError for an unknown profile, and UserError for a data directory that was named and is none. A
    missing or refused file is a state, not an exception.
    """
    chosen = compose_profile(profile, configs=configs) if profile else None
    folder = _folder(directory)
    files_read = FileDigests(folder)
    examined = [_benchmark(benchmark, chosen, folder, files_read) for benchmark in _benchmarks(chosen)]
    items = [item for _, rows in examined for item in rows]
    training, noise = [], []
    if chosen is None or chosen.data.source != "micro":
        training += [_training_set(each, folder, configs, items, files_read) for each in TRAINING_SETS]
        noise = noise_files(folder, files_read)
    if chosen is None or chosen.data.source == "micro":
        training.append(_micro_pool(chosen.data.pool if chosen else _MICRO_POOL, items))
    states = [each["state"] for each in (*(data for data, _ in examined), *training)]
    files = [state for state in states if state not in (GENERATED, HUB)]
    return {
        "profile": profile,
        "directory": str(folder),
        "benchmarks": [data for data, _ in examined],
        "training_sets": training,
        "noise_files": noise,
        "failed": states.count(REFUSED) + sum(each["state"] == REFUSED for each in noise),
        "missing": states.count(MISSING),
        "all_missing": bool(files) and set(files) == {MISSING},
    }


def _folder(directory: Path | None) -> Path:
    """Return the data directory; the one beside the checkout, which nobody named, may be absent."""
    folder = directory or data_directory()
    problem = unreadable(folder)
    if problem and (directory or os.environ.get(DATA_VARIABLE)):
        raise UserError(
            f"data directory: found {problem}, allowed a folder of data files; fix: correct --data or {DATA_VARIABLE}"
        )
    return folder


def _benchmarks(profile: Profile | None) -> Sequence[Benchmark]:
    if profile is None:
        return BENCHMARKS
    return MICRO_BENCHMARKS if profile.eval.source == "micro" else PUBLIC_BENCHMARKS


def _benchmark(
    benchmark: Benchmark, profile: Profile | None, folder: Path, files_read: FileDigests
) -> tuple[dict[str, Any], Rows]:
    """Examine one benchmark; returns what is shown of it, and its items for the overlap."""
    data: dict[str, Any] = {
        "name": benchmark.name,
        "group": benchmark.group.value,
        "kind": benchmark.kind.value,
        "in_profile": profile is None or benchmark.name in profile.eval.benchmarks,
        "licence": benchmark.licence,
        "contamination": benchmark.contamination.value,
        "expected_items": benchmark.items,
        "expected_hash": benchmark.content_hash,
        "problems": [],
        "defects": [],
    }
    if benchmark.generated:
        wanted = (profile.eval.items if profile else 0) or _MICRO_ITEMS
        rows = benchmark_rows("micro", [benchmark.name], wanted)
        found = [Item(row["question"], row["question"], row["gold"]) for row in rows]
        own_hash = content_hash(benchmark.name, found)
        return data | {"state": GENERATED, "rows": len(rows), "items": len(rows), "content_hash": own_hash}, rows
    try:
        data |= files_read.of(find_file(benchmark, folder))
    except DataError as error:
        return data | {"state": MISSING, "problems": [str(error)]}, []
    try:
        raw = read_rows_of(benchmark, "local", folder)
        examination = examine(benchmark, raw)
    except DataError as error:
        return data | {"state": REFUSED, "problems": [str(error)]}, []
    data |= {
        "state": REFUSED if examination.problems else OK,
        "rows": examination.rows,
        "items": len(examination.items),
        "content_hash": examination.content_hash,
        "several_answers": sum(bool(row.get("is_multiple_answer")) for row in raw),
        "tolerances": {item.source_id: item.tolerance for item in examination.items if item.tolerance},
        "problems": list(examination.problems),
        "defects": _defects(benchmark, examination.findings),
    }
    return data, [row_of(benchmark, item) for item in examination.items]


def _defects(benchmark: Benchmark, findings: Sequence[Finding]) -> Rows:
    """Condense findings: a row per kind of defect, with the first items and, where it is a listed one, the reason."""
    reasons = {known.defect: known.reason for known in benchmark.known}
    counts = Counter(finding.defect for finding in findings)
    unlisted = {finding.defect for finding in refused(findings, benchmark.known)}
    return [
        {
            "defect": defect.value,
            "treatment": "listed" if defect in reasons and defect not in unlisted else defect.treatment.value,
            "count": count,
            "items": [finding.item for finding in findings if finding.defect is defect][:_NAMED_AT_MOST],
            "reason": reasons.get(defect, ""),
        }
        for defect, count in counts.items()
    ]


def _training_set(
    training: TrainingSet, folder: Path, configs: Path, items: Rows, files_read: FileDigests
) -> dict[str, Any]:
    """Examine one training set and its overlap with the benchmarks."""
    data: dict[str, Any] = {
        "name": training.name,
        "licence": training.licence,
        "note": training.note,
        "problems": [],
    }
    source, recipe = read_recipe(training.name, configs)
    if source != "local":
        return data | {"state": HUB}
    if not (folder / str(recipe["path"])).is_file():
        return data | {"state": MISSING, "problems": [f"found nothing at {folder / str(recipe['path'])}"]}
    data |= files_read.of(folder / str(recipe["path"]))
    try:
        columns, opened = rows_of(source, recipe | {"path": str(folder / str(recipe["path"]))})
        rows = list(opened)
        report = collect(rows, columns)
    except DataError as error:
        return data | {"state": REFUSED, "problems": [str(error)], "expected_rows": recipe.get("rows")}
    questions = [str(row[columns.question]) for row in rows]
    return data | {
        "state": OK,
        "rows": len(rows),
        "expected_rows": recipe.get("rows"),
        "content_hash": training_content_hash(rows, columns),
        "empty_answers": report.empty_answers,
        "unknown_levels": report.unknown_levels,
        "repeated_questions": repeated_questions(questions),
        "conflicting_answers": report.conflicting_duplicates,
        "control_characters": sum(map(has_control_character, questions)),
        "overlap": overlap_report(questions, items),
    }


def _micro_pool(size: int, items: Rows) -> dict[str, Any]:
    questions = [question.text for question in training_pool(size)]
    return {
        "name": "micro",
        "licence": "Apache-2.0",
        "note": "generated",
        "state": GENERATED,
        "problems": [],
        "rows": len(questions),
        "repeated_questions": repeated_questions(questions),
        "overlap": overlap_report(questions, items),
    }
