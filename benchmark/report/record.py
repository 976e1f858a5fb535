"""Stage record: condense the verdicts of a cell into scores by question and one summary.

A response that could not be judged (invalid gold, grader timeout or failure) is neither right nor wrong: it
leaves n, is counted as `ungraded`, and a question of which nothing was judged makes its averages missing.
A response without an answer, or cut off before one, is wrong.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmark import artifacts
from benchmark.errors import StageError
from benchmark.evaluation.grader import Verdict
from benchmark.evaluation.voting import majority_correctness
from benchmark.report.costs import read_costs
from benchmark.report.items import GROUPS
from benchmark.report.metrics import item_accuracy, macro_average, mean_or_missing, pass_at_k, powers_of_two
from benchmark.report.stats import clustered_standard_error
from benchmark.stage import StageJob

UNGRADED = (Verdict.GOLD_INVALID, Verdict.TIMEOUT, Verdict.ERROR)
_KEY = ("benchmark", "item_id", "sample")


def run(job: StageJob) -> None:
    """Write items.parquet and record.json of a cell into `job.out`.

    Raises StageError where verdicts, samples and benchmarks do not belong together.
    """
    verdicts = pq.read_table(job.inputs["verdicts"] / artifacts.VERDICTS)
    samples = pq.read_table(job.inputs["samples"] / artifacts.SAMPLES)
    benchmarks = pq.read_table(job.inputs["benchmarks"] / artifacts.BENCHMARKS)
    verdicts, samples = (table.sort_by([(name, "ascending") for name in _KEY]) for table in (verdicts, samples))
    _check_complete(verdicts, samples, benchmarks)
    items = score_items(verdicts, benchmarks)
    pq.write_table(items, job.out / artifacts.ITEMS)
    summaries = summarise_benchmarks(verdicts, samples, items, benchmarks)
    trained = "train" in job.inputs
    record = {
        "benchmarks": summaries,
        "averages": {group: _group_average(summaries, group) for group in GROUPS},
        "costs": read_costs(job.inputs["train"], job.inputs["supervise"]).to_json() if trained else None,
        "versions": {"grader": _grader_version(job.inputs["verdicts"])},
    }
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    (job.out / artifacts.RECORD).write_text(text + "\n", encoding="utf-8")


def score_items(verdicts: pa.Table, benchmarks: pa.Table) -> pa.Table:
    """Score each question (ITEMS_SCHEMA) from verdicts that are sorted by benchmark, item and sample."""
    about = {
        (row["benchmark"], row["item_id"]): (row["group"], row["gold"])
        for row in benchmarks.select(["benchmark", "item_id", "group", "gold"]).to_pylist()
    }
    names, ids = verdicts["benchmark"].to_pylist(), verdicts["item_id"].to_pylist()
    verdict = verdicts["verdict"].to_numpy(zero_copy_only=False)
    answers = verdicts["extracted"].to_pylist()
    correct, judged = verdict == Verdict.CORRECT, ~np.isin(verdict, UNGRADED)
    keys = list(zip(names, ids, strict=True))
    starts = [0, *(i for i in range(1, len(keys)) if keys[i] != keys[i - 1])] if keys else []
    rows: list[dict[str, Any]] = []
    for start, end in pairwise([*starts, len(keys)]):
        benchmark, item_id = keys[start]
        group, gold = about[benchmark, item_id]
        count = int(judged[start:end].sum())
        rows.append(
            {
                "benchmark": benchmark,
                "group": group,
                "item_id": item_id,
                "samples": count,
                "correct": int(correct[start:end].sum()),
                "majority": majority_correctness(answers[start:end], gold) if count else None,
            }
        )
    return pa.Table.from_pylist(rows, schema=artifacts.ITEMS_SCHEMA)


def summarise_benchmarks(
    verdicts: pa.Table, samples: pa.Table, items: pa.Table, benchmarks: pa.Table
) -> dict[str, dict[str, Any]]:
    """Summarise each benchmark, in the order in which the evaluation names them."""
    groups = dict(zip(benchmarks["benchmark"].to_pylist(), benchmarks["group"].to_pylist(), strict=True))
    item_names, verdict_names = _strings(items, "benchmark"), _strings(verdicts, "benchmark")
    sample_names = _strings(samples, "benchmark")
    verdict, tokens = _strings(verdicts, "verdict"), samples["response_tokens"].to_numpy()
    columns = {name: items[name].to_numpy(zero_copy_only=False) for name in ("correct", "samples", "majority")}
    found: dict[str, dict[str, Any]] = {}
    for benchmark, group in groups.items():
        mine, said = item_names == benchmark, verdict[verdict_names == benchmark]
        correct, count = columns["correct"][mine], columns["samples"][mine]
        accuracy = item_accuracy(correct, count)
        found[benchmark] = {
            "group": group,
            "items": int(mine.sum()),
            "samples": len(said) // max(int(mine.sum()), 1),
            "accuracy": mean_or_missing(accuracy),
            "standard_error": clustered_standard_error(accuracy, item_names[mine]),
            "pass_at": {
                str(k): mean_or_missing(pass_at_k(correct, count, k)) for k in powers_of_two(int(count.max(initial=0)))
            },
            "majority": mean_or_missing(columns["majority"][mine].astype(np.float64)),
            "no_answer_rate": float(np.mean(said == Verdict.NO_ANSWER)),
            "truncated_rate": float(np.mean(said == Verdict.TRUNCATED)),
            "ungraded_rate": float(np.mean(np.isin(said, UNGRADED))),
            "response_tokens": float(tokens[sample_names == benchmark].mean()),
        }
    return found


def _group_average(summaries: dict[str, dict[str, Any]], group: str) -> float | None:
    return macro_average(entry["accuracy"] for entry in summaries.values() if entry["group"] == group)


def _check_complete(verdicts: pa.Table, samples: pa.Table, benchmarks: pa.Table) -> None:
    """Refuse verdicts that miss, repeat or add a response; both tables are sorted by item and sample."""
    keys = [list(zip(*(table[name].to_pylist() for name in _KEY), strict=True)) for table in (verdicts, samples)]
    if keys[0] != keys[1]:
        odd = sorted(set(keys[0]) ^ set(keys[1]))
        where = f"first at {odd[0]}" if odd else "one repeats a response"
        raise StageError(f"record: verdicts and samples differ, {where}; fix: grade the samples again")
    counts: dict[tuple[str, str], int] = {}
    for benchmark, item_id, sample in keys[0]:
        if sample != counts.get((benchmark, item_id), 0):
            raise StageError(f"record: {benchmark} {item_id}: samples are not 0..n-1, found {sample} out of order")
        counts[benchmark, item_id] = sample + 1
    wanted = set(zip(benchmarks["benchmark"].to_pylist(), benchmarks["item_id"].to_pylist(), strict=True))
    if counts.keys() != wanted:
        odd_item = sorted(counts.keys() ^ wanted)[0]
        raise StageError(f"record: responses and benchmarks have different items, first {odd_item}")
    if len(set(counts.values())) > 1:
        raise StageError(
            f"record: found {min(counts.values())} to {max(counts.values())} samples per item, allowed one number; "
            "fix: generate the missing responses"
        )


def _grader_version(folder: Path) -> str:
    info = json.loads((folder / artifacts.GRADE_INFO).read_text(encoding="utf-8"))
    if "grader_version" not in info:
        raise StageError(f"record: {artifacts.GRADE_INFO} names no grader_version; fix: grade the samples again")
    return str(info["grader_version"])


def _strings(table: pa.Table, name: str) -> NDArray[np.str_]:
    return np.asarray(table[name].to_pylist(), dtype=np.str_)
