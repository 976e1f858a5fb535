"""Stage record: condense the verdicts of a cell into scores by question and one summary.

Only `correct` scores. A response without an answer, cut off before one, or with an answer that the grader cannot get
through (timeout, error) is in n like a wrong one, and its rate is shown; else an unreadable answer would raise a score.
Only where the gold is invalid there is nothing to score: such responses leave n, and a question without any other makes
its averages missing. A question with fewer responses than planned is divided
by those that exist and flagged.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmark import artifacts
from benchmark.data.overlap import overlap_report
from benchmark.errors import StageError
from benchmark.evaluation.grader import Verdict
from benchmark.report.costs import read_costs
from benchmark.report.intervals import clustered_standard_error
from benchmark.report.items import GROUP_SIZES, GROUPS
from benchmark.report.majority import majority_of
from benchmark.report.metrics import (
    g_pass_at_k,
    group_average,
    item_accuracy,
    mean_g_pass_at_k,
    mean_or_missing,
    pass_at_k,
    powers_of_two,
)
from benchmark.report.responses import (
    UNGRADED,
    UNSCORED,
    VERDICTS,
    Codes,
    Responses,
    Votes,
    majority_of_all,
    responses_of,
    tokens_of,
    votes_of,
)
from benchmark.report.versions import content_hash, protocol_version
from benchmark.stage import StageJob

THRESHOLDS = (0.25, 0.5, 0.75, 1.0)
"""Shares of right responses at which G-Pass@k is reported."""


def run(job: StageJob) -> None:
    """Write items.parquet and record.json of a cell into `job.out`.

    Raises StageError where verdicts, samples and benchmarks do not belong together.
    """
    verdicts = pq.read_table(job.inputs["verdicts"] / artifacts.VERDICTS)
    wanted = ["benchmark", "item_id", "sample", "response_tokens"]
    samples = pq.read_table(job.inputs["samples"] / artifacts.SAMPLES, columns=wanted)
    benchmarks = pq.read_table(job.inputs["benchmarks"] / artifacts.BENCHMARKS)
    responses = responses_of(verdicts, benchmarks)
    tokens = tokens_of(samples, benchmarks, responses)
    votes = votes_of(responses)
    pq.write_table(_items_table(responses, votes), job.out / artifacts.ITEMS)
    generated, graded = _read(job.inputs["samples"], artifacts.GENERATE_INFO), _read_grading(job.inputs["verdicts"])
    names = list(dict.fromkeys(benchmarks["benchmark"].to_pylist()))  # in the order of the evaluation
    planned = generated["sampling"]["samples"]
    summaries = {
        name: _summary(name, responses, votes, tokens, planned[name] if isinstance(planned, dict) else planned)
        for name in names
    }
    trained = "train" in job.inputs
    record = {
        "benchmarks": summaries,
        **_averages(summaries),
        "flags": [flag for name, entry in summaries.items() for flag in _flags(name, entry)],
        "costs": read_costs(job.inputs["train"], job.inputs["supervise"]).to_json() if trained else None,
        "overlap": _overlap(job.inputs["pool"], benchmarks) if trained else None,
        "sampling": generated["sampling"],
        "versions": {
            "grader": str(graded["grader_version"]),
            "data": content_hash(benchmarks),
            "protocol": protocol_version(generated["sampling"], str(generated.get("protocol", "sampling"))),
            "engine": f"{generated['engine']['name']} ({generated['engine']['version']})",
        },
    }
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    (job.out / artifacts.RECORD).write_text(text + "\n", encoding="utf-8")


def _overlap(pool: Path, benchmarks: pa.Table) -> dict[str, Any]:
    """Count the benchmark items that the training pool contains or resembles; see `benchmark.data.overlap`."""
    questions = pq.read_table(pool / artifacts.POOL, columns=["question"])["question"].to_pylist()
    return overlap_report(questions, benchmarks.select(["benchmark", "item_id", "question"]).to_pylist())


def score_items(verdicts: pa.Table, benchmarks: pa.Table) -> pa.Table:
    """Score each question (ITEMS_SCHEMA) from verdicts in any order; raises StageError as `responses_of`."""
    responses = responses_of(verdicts, benchmarks)
    return _items_table(responses, votes_of(responses))


def _items_table(responses: Responses, votes: Votes) -> pa.Table:
    judged = responses.per_item(~responses.has(*UNSCORED))
    majority = np.where(judged > 0, majority_of_all(votes), np.nan)
    columns = {
        "benchmark": responses.benchmark,
        "group": responses.group,
        "item_id": responses.item_id,
        "responses": np.bincount(responses.item, minlength=len(responses.item_id)),
        "samples": judged,
        "correct": votes.right,
        "majority": pa.array(majority, mask=np.isnan(majority)),
    }
    return pa.table({name: columns[name] for name in artifacts.ITEMS_SCHEMA.names}, schema=artifacts.ITEMS_SCHEMA)


def _summary(name: str, responses: Responses, votes: Votes, tokens: Codes, planned: int) -> dict[str, Any]:
    """Summarise one benchmark; `planned` is the configured number of responses per question."""
    mine = np.flatnonzero(responses.benchmark == name)
    ours = np.isin(responses.item, mine)
    judged = responses.per_item(~responses.has(*UNSCORED))[mine]
    exist = np.bincount(responses.item, minlength=len(responses.item_id))[mine]
    correct = votes.right[mine]
    accuracy = item_accuracy(correct, judged)
    ks = powers_of_two(int(judged.max(initial=0)))
    return {
        "group": str(responses.group[mine[0]]),
        "items": len(mine),
        "samples": int(planned),
        "fewest_samples": int(exist.min()),
        "short_items": int((exist < planned).sum()),  # questions with fewer responses than planned
        "unjudged_items": int((judged == 0).sum()),
        "accuracy": mean_or_missing(accuracy),
        "standard_error": clustered_standard_error(accuracy, responses.benchmark[mine]),
        "pass_at": {str(k): mean_or_missing(pass_at_k(correct, judged, k)) for k in ks},
        "g_pass_at": _stability(correct, judged, max(ks, default=1) // 2),
        "majority": mean_or_missing(np.where(judged > 0, majority_of_all(votes)[mine], np.nan)),
        "majority_at": {str(k): mean_or_missing(value) for k, value in _majorities(votes, mine, ks).items()},
        "verdicts": {verdict.value: int((responses.has(verdict) & ours).sum()) for verdict in VERDICTS},
        "no_answer_rate": float(responses.has(Verdict.NO_ANSWER)[ours].mean()),
        "truncated_rate": float(responses.has(Verdict.TRUNCATED)[ours].mean()),
        "ungraded_rate": float(responses.has(*UNGRADED)[ours].mean()),
        "second_graded": int((responses.second[ours] >= 0).sum()),
        "disagreement_rate": _disagreement(responses, ours),
        "response_tokens": float(tokens[ours].mean()),
    }


def _majorities(votes: Votes, mine: Codes, ks: tuple[int, ...]) -> dict[int, NDArray[np.float64]]:
    """Return maj@k of the questions at the positions `mine`, arrays [Q] by k."""
    bounds = np.searchsorted(votes.item, np.stack([mine, mine + 1]))
    pairs = np.stack([votes.votes, votes.judged_right], axis=1)
    clusters = [tuple(map(tuple, pairs[start:end].tolist())) for start, end in bounds.T]
    known = list(zip(clusters, votes.silent[mine].tolist(), strict=True))
    return {k: np.array([majority_of(own, silent, k) for own, silent in known]) for k in ks}


def _stability(correct: Codes, judged: Codes, k: int) -> dict[str, float | None] | None:
    """Return G-Pass@k by threshold and its mean; k is half of n, so that it is averaged over draws. None for n < 4."""
    if k < 2:
        return None
    found: dict[str, float | None] = {"k": k}
    found |= {str(share): mean_or_missing(g_pass_at_k(correct, judged, k, share)) for share in THRESHOLDS}
    return found | {"mean": mean_or_missing(mean_g_pass_at_k(correct, judged, k))}


def _disagreement(responses: Responses, ours: NDArray[np.bool_]) -> float | None:
    """Return the share of responses that one of two graders calls correct and the other does not."""
    both = ours & (responses.second >= 0) & ~responses.has(*UNGRADED)
    right = VERDICTS.index(Verdict.CORRECT)
    differ = (responses.verdict == right) != (responses.second == right)
    return float(differ[both].mean()) if both.any() else None


def _averages(summaries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Average the groups; beside the values stand the benchmarks behind them and, where there is none, the reason."""
    values, notes = {}, {}
    for group in GROUPS:
        own = {name: entry["accuracy"] for name, entry in summaries.items() if entry["group"] == group}
        average = group_average(own)
        values[group] = average.value
        notes[group] = {
            "benchmarks": list(average.benchmarks),
            "published": GROUP_SIZES[group],  # benchmarks behind a published average of this name
            "reason": average.reason or None,
        }
    return {"averages": values, "average_notes": notes}


def _flags(name: str, entry: dict[str, Any]) -> list[str]:
    """Say in one line each what a reader must know of a benchmark before using its figures."""
    flags = []
    if entry["short_items"]:
        flags.append(
            f"{name}: {entry['short_items']} of {entry['items']} questions have fewer than {entry['samples']} "
            f"responses, the fewest {entry['fewest_samples']}; they are divided by what exists"
        )
    if entry["unjudged_items"]:
        flags.append(f"{name}: {entry['unjudged_items']} of {entry['items']} questions have no judged response")
    return flags


def _read_grading(folder: Path) -> dict[str, Any]:
    info = _read(folder, artifacts.GRADE_INFO)
    if "grader_version" not in info:
        raise StageError(f"record: {artifacts.GRADE_INFO} names no grader_version; fix: grade the samples again")
    return info


def _read(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return content
