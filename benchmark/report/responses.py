"""The graded responses of a cell as arrays, checked to belong together, and their votes.

Names and ids become integers once, so that a million responses are aggregated in well under a second. What is
refused here is what would make a figure look right and be wrong: a response twice, a verdict without its response, a
question of another evaluation. Questions with fewer responses than planned are kept, and flagged in the record.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmark.errors import StageError
from benchmark.evaluation.equivalence import canonical
from benchmark.evaluation.grader import Verdict

VERDICTS = tuple(Verdict)
UNGRADED = (Verdict.GOLD_INVALID, Verdict.TIMEOUT, Verdict.ERROR)
"""Verdicts that say that a response was not judged; their share is shown."""
UNSCORED = (Verdict.GOLD_INVALID,)
"""Verdicts that are nobody's fault but the question's: such responses leave n. A response that the grader cannot get
through counts as not correct, or an answer could improve a score by being unreadable."""
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Questions, arrays [Q] sorted by benchmark and item, and their responses, arrays [N] sorted by question."""

    benchmark: NDArray[np.str_]  # [Q]
    group: NDArray[np.str_]
    item_id: NDArray[np.str_]
    item: Codes  # [N] position of the question
    verdict: Codes  # position in VERDICTS
    answer: Codes  # which answer is stated, -1 for none; equal numbers are the same answer
    second: Codes  # verdict of the second grader, -1 where it gave none
    key: Codes  # question and sample in one number, ascending

    def has(self, *verdicts: Verdict) -> NDArray[np.bool_]:
        """Say for each response whether it has one of the verdicts, [N]."""
        return np.isin(self.verdict, [VERDICTS.index(verdict) for verdict in verdicts])

    def per_item(self, which: NDArray[np.bool_]) -> Codes:
        """Count the marked responses of each question, [Q]."""
        return np.bincount(self.item[which], minlength=len(self.item_id)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """The scored responses of each question by the answer that they state."""

    right: Codes  # [Q] responses that are correct
    silent: Codes  # [Q] responses that state no answer
    item: Codes  # [C] question of each answer, ascending
    votes: Codes  # [C] responses that state it
    judged_right: Codes  # [C] those of them that are correct


def responses_of(verdicts: pa.Table, benchmarks: pa.Table) -> Responses:
    """Read the verdicts of a cell (VERDICTS_SCHEMA, BENCHMARKS_SCHEMA), in any order.

    Raises StageError where a response occurs twice, or the questions are not those of the benchmarks.
    """
    questions = benchmarks.select(["benchmark", "item_id", "group"]).sort_by(
        [("benchmark", "ascending"), ("item_id", "ascending")]
    )
    item, key = _locate(verdicts, questions)
    order = np.argsort(key, kind="stable")
    key = key[order]
    repeated = np.flatnonzero(key[1:] == key[:-1])
    if len(repeated):
        row = int(order[repeated[0]])
        raise StageError(f"record: verdicts and samples differ, one repeats a response: {_name(verdicts, row)}")
    present = np.bincount(item, minlength=len(questions)) > 0
    if not present.all():
        row = questions.slice(int(np.argmin(present)), 1).to_pylist()[0]
        odd = (row["benchmark"], row["item_id"])
        raise StageError(f"record: responses and benchmarks have different items, first {odd}")
    found = verdicts.take(pa.array(order))
    second = found["second"] if "second" in found.column_names else pa.nulls(len(found), pa.string())
    return Responses(
        _strings(questions, "benchmark"),
        _strings(questions, "group"),
        _strings(questions, "item_id"),
        item[order],
        _verdict_codes(found["verdict"], required=True),
        _answer_codes(_stated(found)),
        _verdict_codes(second, required=False),
        key,
    )


def tokens_of(samples: pa.Table, benchmarks: pa.Table, responses: Responses) -> Codes:
    """Return the length of each response in tokens, [N], in the order of `responses`.

    Raises StageError where a sample has no verdict or a verdict no sample.
    """
    questions = benchmarks.select(["benchmark", "item_id"]).sort_by(
        [("benchmark", "ascending"), ("item_id", "ascending")]
    )
    _, key = _locate(samples, questions)
    order = np.argsort(key, kind="stable")
    if not np.array_equal(key[order], responses.key):
        odd = sorted(set(key.tolist()) ^ set(responses.key.tolist()))
        where = "one repeats a response"
        if odd:
            place, sample = divmod(odd[0], _SAMPLES)
            where = f"first at {(*questions.slice(place, 1).to_pylist()[0].values(), sample)}"
        raise StageError(f"record: verdicts and samples differ, {where}; fix: grade the samples again")
    return np.asarray(samples["response_tokens"].to_numpy()[order], dtype=np.int64)


def votes_of(responses: Responses) -> Votes:
    """Count the votes; a response that leaves n has none."""
    right = responses.has(Verdict.CORRECT)
    voting = ~responses.has(*UNSCORED) & (responses.answer >= 0)
    spread = int(responses.answer.max(initial=0)) + 1
    cluster = responses.item[voting] * spread + responses.answer[voting]
    clusters, place = np.unique(cluster, return_inverse=True)
    return Votes(
        responses.per_item(right),
        responses.per_item(~responses.has(*UNSCORED) & (responses.answer < 0)),
        clusters // spread,
        np.bincount(place, minlength=len(clusters)).astype(np.int64),
        np.bincount(place[right[voting]], minlength=len(clusters)).astype(np.int64),
    )


def majority_of_all(votes: Votes) -> NDArray[np.float64]:
    """Return the expected correctness of the majority answer of all responses by question, ties split evenly, [Q]."""
    lead = np.zeros(len(votes.right), dtype=np.int64)
    np.maximum.at(lead, votes.item, votes.votes)
    leading = votes.votes == lead[votes.item]
    tied = np.bincount(votes.item[leading], minlength=len(lead))
    share = votes.judged_right[leading] / votes.votes[leading]
    return np.bincount(votes.item[leading], weights=share, minlength=len(lead)) / np.maximum(tied, 1)


_SAMPLES = 1 << 20  # samples per question that a key can tell apart


def _locate(table: pa.Table, questions: pa.Table) -> tuple[Codes, Codes]:
    """Return the question of each row, and its key; raises StageError for a question that is not there."""
    names, ids = (pc.unique(questions[name]) for name in ("benchmark", "item_id"))

    def codes(rows: pa.Table) -> Codes:
        first, second = (
            pc.fill_null(pc.index_in(rows[column], value_set=known), -1).to_numpy().astype(np.int64)
            for column, known in (("benchmark", names), ("item_id", ids))
        )
        return np.where((first < 0) | (second < 0), -1, first * len(ids) + second)

    wanted, given = codes(questions), codes(table)
    order = np.argsort(wanted, kind="stable")
    place = np.minimum(np.searchsorted(wanted[order], given), max(len(wanted) - 1, 0))
    item = order[place] if len(order) else np.zeros(0, dtype=np.int64)
    unknown = np.flatnonzero(wanted[item] != given) if len(order) else np.arange(len(given))
    if len(unknown):
        odd = _name(table, int(unknown[0]))[:2]
        raise StageError(f"record: responses and benchmarks have different items, first {odd}")
    sample = table["sample"].to_numpy().astype(np.int64)
    odd_sample = np.flatnonzero((sample < 0) | (sample >= _SAMPLES))
    if len(odd_sample):
        raise StageError(f"record: sample number of {_name(table, int(odd_sample[0]))}, allowed 0 to {_SAMPLES - 1}")
    return item, item * _SAMPLES + sample


def _strings(table: pa.Table, column: str) -> NDArray[np.str_]:
    return np.asarray(table[column].to_pylist(), dtype=np.str_)


def _name(table: pa.Table, row: int) -> tuple[Any, ...]:
    return tuple(table[name][row].as_py() for name in ("benchmark", "item_id", "sample"))


def _verdict_codes(column: pa.ChunkedArray | pa.Array, *, required: bool) -> Codes:
    known = pa.array([verdict.value for verdict in VERDICTS])
    codes: Codes = pc.fill_null(pc.index_in(column, value_set=known), -1).to_numpy().astype(np.int64)
    unknown = np.flatnonzero((codes < 0) & (np.asarray(column.is_valid()) if not required else True))
    if len(unknown):
        found, allowed = column[int(unknown[0])].as_py(), ", ".join(VERDICTS)
        raise StageError(f"record: verdict {found!r}, allowed {allowed}; fix: grade the samples again")
    return codes


def _stated(verdicts: pa.Table) -> pa.ChunkedArray:
    """Return what each response votes for: the label of its option, in mathematics its answer."""
    return pc.coalesce(verdicts["choice"], verdicts["extracted"])


def _answer_codes(column: pa.ChunkedArray) -> Codes:
    """Number the answers as `benchmark.evaluation.voting` groups them; each spelling is looked at once."""
    encoded = column.combine_chunks().dictionary_encode()
    numbers: dict[Any, int] = {}
    meaning = [canonical(text) for text in encoded.dictionary.to_pylist()]
    codes = [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in meaning]
    indices = pc.fill_null(encoded.indices, len(codes)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*codes, -1], dtype=np.int64)[indices])
