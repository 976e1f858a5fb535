"""Benchmarks on a dataset hub: their names there, and how their rows are read.

The content hash of the benchmark decides, as for a file: a hub copy in another wording, spacing or size is refused,
with both figures. Revisions are "main" because of that; a pinned one may be given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.data.sources import hub_rows


@dataclass(frozen=True, slots=True)
class HubSource:
    """A dataset on the hub and the names of its columns."""

    dataset: str
    config: str | None = None
    split: str = "test"
    revision: str = "main"
    id: str = "id"
    question: str = "question"
    gold: str = "answer"
    gold_after: str = ""  # the gold is what follows this mark
    wrong: tuple[str, ...] = ()  # columns of the wrong options; the right one is the gold


def read_hub_rows(source: HubSource) -> list[dict[str, Any]]:
    """Fetch the rows of a benchmark in the columns of local files.

    Raises DataError where the dataset cannot be fetched.
    """
    rows = hub_rows(source.dataset, source.revision, source.split, source.config)
    return [_local_row(source, row, number) for number, row in enumerate(rows)]


def _local_row(source: HubSource, row: Mapping[str, Any], number: int) -> dict[str, Any]:
    found = {"id": row.get(source.id, number), "question": row.get(source.question), "answer": row.get(source.gold)}
    if isinstance(found["answer"], list):  # OlympiadBench: a list of one text
        found["answer"] = ", ".join(map(str, found["answer"]))
    if source.gold_after and found["answer"] is not None:
        found["answer"] = str(found["answer"]).rpartition(source.gold_after)[2].strip().replace(",", "")
    options = row.get("choices", row.get("options"))
    if source.wrong:
        found |= {"choices": [row.get(name) for name in (source.gold, *source.wrong)], "answer": "A"}
    elif isinstance(options, Mapping):  # ARC: texts and labels
        found |= {"choices": options.get("text"), "choice_labels": options.get("label")}
    elif options is not None:
        found |= {"choices": options}
    return found | {name: row[name] for name in ("answer_index", "error") if name in row}
