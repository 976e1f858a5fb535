"""The lint before launch: what verl would train on wrongly, or fail on late, is refused here.

verl gives a missing index the value 0, drops a prompt whose template fails, and meets an unknown data source only
when the first reward is computed. Every check names the first row that fails it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

from benchmark import artifacts
from benchmark.data.noise import SENTINELS
from benchmark.data.schema import DATA_SOURCE, NO_PAIR, read_rows
from benchmark.errors import DataError

Row = Mapping[str, Any]
Render = Callable[[list[dict[str, str]]], list[int]]
"""Messages -> token ids of the rendered prompt."""
Grade = Callable[[str, str], bool]
"""(response, ground truth) -> whether the response is right."""

DATA_SOURCES = frozenset({DATA_SOURCE})
GRADED_SAMPLE = 64  # labelled rows on which the grader is tried


@dataclass(frozen=True, slots=True)
class LintReport:
    """What a training set was found to hold."""

    rows: int
    labelled: int
    longest_prompt: int  # tokens
    graded: int  # labelled rows on which the grader was tried


def lint_training_set(
    training_set: Path | Sequence[Row], render: Render, max_prompt_tokens: int, batch: int, grade: Grade
) -> LintReport:
    """Check a training file (or its rows) in artifacts.VERL_SCHEMA.

    Raises DataError that names the first finding and its row.
    """
    rows = read_rows(training_set, artifacts.VERL_SCHEMA) if isinstance(training_set, Path) else training_set
    wanted = max(batch, 1)
    if len(rows) < wanted:
        raise DataError(
            f"the training set has fewer rows than a batch: found {len(rows)}, allowed {wanted} or more; "
            "fix: lower train.prompts, or raise the label ratio or the pool"
        )
    _check_indices(rows)
    _check_pairs(rows, wanted)
    longest = 0
    for number, row in enumerate(rows):
        _check_source(number, row)
        _check_label(number, row)
        longest = max(longest, _prompt_length(number, row, render, max_prompt_tokens))
    return LintReport(
        rows=len(rows),
        labelled=sum(row["extra_info"]["labeled"] for row in rows),
        longest_prompt=longest,
        graded=_check_grader(rows, grade),
    )


def _check_indices(rows: Sequence[Row]) -> None:
    first: dict[int, int] = {}
    for number, row in enumerate(rows):
        index = (row.get("extra_info") or {}).get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not -(2**63) <= index < 2**63:
            _refuse(number, row, f"found extra_info.index={index!r}", "an int64", "give each row a persistent index")
        if index in first:
            _refuse(number, row, f"found the index of row {first[index]}", "unique indices", "remove duplicates")
        first[index] = number


def _check_pairs(rows: Sequence[Row], batch: int) -> None:
    """Check that the rows of a paired set are two by two, labelled together, and that batches can hold pairs."""
    infos = {row["extra_info"]["index"]: row["extra_info"] for row in rows}
    partners = {index: info.get("pair", NO_PAIR) for index, info in infos.items()}
    if all(pair == NO_PAIR for pair in partners.values()):
        return
    for number, row in enumerate(rows):
        index, pair = row["extra_info"]["index"], partners[row["extra_info"]["index"]]
        if pair not in infos or pair == index:
            _refuse(number, row, f"found extra_info.pair={pair!r}", "the index of another row", "write both rows")
    for number, row in enumerate(rows):
        index, pair = row["extra_info"]["index"], partners[row["extra_info"]["index"]]
        if partners[pair] != index:
            _refuse(number, row, f"found a partner whose own pair is {partners[pair]!r}", str(index), "pair both rows")
        if infos[pair].get("labeled") != row["extra_info"].get("labeled"):
            _refuse(
                number, row, "found a labelled and an unlabelled row in a pair", "one status", "label both, or none"
            )
    if batch % 2:
        raise DataError(
            f"pairs do not fit into batches: found {batch} prompts per step, allowed an even number; "
            "fix: change train.prompts"
        )


def _check_source(number: int, row: Row) -> None:
    source = row.get("data_source")
    if source not in DATA_SOURCES:
        _refuse(number, row, f"found data_source={source!r}", ", ".join(sorted(DATA_SOURCES)), "name one with a grader")


def _check_label(number: int, row: Row) -> None:
    labelled = row["extra_info"].get("labeled")
    truth = (row.get("reward_model") or {}).get("ground_truth")
    if not isinstance(labelled, bool):
        _refuse(number, row, f"found extra_info.labeled={labelled!r}", "true or false", "state it for each row")
    if not isinstance(truth, str):
        _refuse(number, row, f"found ground_truth={truth!r}", "a text", "write labels as text, '' where there is none")
    if labelled and not truth.strip():
        _refuse(number, row, "found a labelled row with an empty ground truth", "a non-empty text", "add the label")
    if not labelled and truth:
        _refuse(number, row, "found an unlabelled row that carries a ground truth", "''", "keep truths in the sidecar")


def _prompt_length(number: int, row: Row, render: Render, limit: int) -> int:
    prompt = row.get("prompt")
    if not isinstance(prompt, list) or not prompt or not all(map(_is_message, prompt)):
        _refuse(number, row, f"found prompt={prompt!r}", "a list of {role, content} texts", "write chat messages")
    try:
        ids = render(prompt)
    except Exception as error:  # a chat template is the model's own program and raises what it likes
        raise DataError(
            f"row {number} ({_name(row)}): the chat template fails: {type(error).__name__}: {error}; "
            "fix: use a model with a chat template for these roles"
        ) from error
    # A BatchEncoding has length 2 whatever the prompt, and would pass any limit.
    if not isinstance(ids, list) or not ids or not all(isinstance(i, int) for i in ids):
        _refuse(number, row, f"found {type(ids).__name__} from the renderer", "a list of token ids", "return input_ids")
    if len(ids) > limit:
        _refuse(number, row, f"found a prompt of {len(ids)} tokens", f"{limit} at most", "raise max_prompt_tokens")
    return len(ids)


def _check_grader(rows: Sequence[Row], grade: Grade) -> int:
    """Try the grader on rows spread over the set: right on the gold, wrong on the gold with a digit appended."""
    gradable = [
        (number, row, row["reward_model"]["ground_truth"])
        for number, row in enumerate(rows)
        if row["extra_info"]["labeled"] and row["reward_model"]["ground_truth"] not in SENTINELS
    ]
    sample = gradable[:: max(1, -(-len(gradable) // GRADED_SAMPLE))]
    for number, row, gold in sample:
        for answer, expected in ((gold, True), (f"{gold}7", False)):
            if grade(f"\\boxed{{{answer}}}", gold) is not expected:
                found = f"found the answer {answer!r} graded {not expected} against the gold {gold!r}"
                _refuse(number, row, found, str(expected), "correct the label, or the grader")
    return len(sample)


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, Mapping)
        and isinstance(message.get("role"), str)
        and isinstance(message.get("content"), str)
        and bool(message["role"])
        and bool(message["content"])
    )


def _name(row: Row) -> str:
    return f"index {(row.get('extra_info') or {}).get('index')}"


def _refuse(number: int, row: Row, found: str, allowed: str, fix: str) -> Never:
    raise DataError(f"row {number} ({_name(row)}) of the training set: {found}, allowed {allowed}; fix: {fix}")
