"""The benchmarks, as data, and the stage that writes their items.

ID benchmarks ask what the policy is trained on, OOD benchmarks ask for the same skills in forms that it
has met in pre-training only.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from benchmark import artifacts
from benchmark.data.micro.splits import benchmark_items
from benchmark.data.schema import write_rows
from benchmark.errors import DataError, unknown_name
from benchmark.stage import StageJob


class Group(StrEnum):
    """The group over which benchmarks are averaged."""

    ID = "id"
    """In distribution: the kind of question that is trained on."""
    OOD = "ood"
    """Out of distribution: a kind of question that reinforcement learning never sees."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark of the micro world; its name is the family of its questions."""

    name: str
    group: Group
    description: str


MICRO_BENCHMARKS = (
    Benchmark("add", Group.ID, "sums of two numbers of up to three digits"),
    Benchmark("sub", Group.ID, "differences of two numbers of up to three digits"),
    Benchmark("mul", Group.ID, "products of a digit and a number up to 99"),
    Benchmark("chain", Group.ID, "two operations with precedence"),
    Benchmark("mod", Group.ID, "remainders by divisors from 3 to 12"),
    Benchmark("cmp", Group.ID, "the largest of two or three numbers, or the middle of three"),
    Benchmark("words", Group.OOD, "sums, differences and products of numbers in words"),
    Benchmark("long", Group.OOD, "sums, differences and products with longer operands"),
    Benchmark("compose", Group.OOD, "the remainder of a sum or product"),
)

SOURCES = ("micro",)


def micro_benchmark(name: str) -> Benchmark:
    """Return a micro benchmark by its name.

    Raises UnknownNameError, with the nearest name.
    """
    for benchmark in MICRO_BENCHMARKS:
        if benchmark.name == name:
            return benchmark
    raise unknown_name("benchmark", name, (benchmark.name for benchmark in MICRO_BENCHMARKS))


def run(job: StageJob) -> None:
    """Write benchmarks.parquet.

    Parameters: source, benchmarks (names) and items (per benchmark). Raises UnknownNameError for another name
    and DataError for another source, a name given twice, or more items than there are.
    """
    source, names = job.params["source"], list(job.params["benchmarks"])
    if source not in SOURCES:
        raise DataError(
            f"benchmark source: found {source!r}, allowed {', '.join(SOURCES)}; fix: choose another eval configuration"
        )
    write_rows(job.out / artifacts.BENCHMARKS, micro_rows(names, int(job.params["items"])), artifacts.BENCHMARKS_SCHEMA)


def micro_rows(names: Sequence[str], items: int) -> list[dict[str, Any]]:
    """Build the rows of artifacts.BENCHMARKS_SCHEMA for micro benchmarks, in the order of `names`."""
    if not names or len(set(names)) != len(names):
        raise DataError(
            f"benchmarks: found {', '.join(names) or 'none'}, allowed distinct names; fix: correct the list"
        )
    return [
        {
            "benchmark": benchmark.name,
            "group": benchmark.group.value,
            "item_id": item_id(benchmark.name, question.text),
            "question": question.text,
            "gold": question.answer,
            "kind": "math",
        }
        for benchmark in map(micro_benchmark, names)
        for question in benchmark_items(benchmark.name, items)
    ]


def item_id(benchmark: str, question: str) -> str:
    """Return the id of an item: 16 hexadecimal characters of the sha256 of its benchmark and text."""
    return hashlib.sha256(f"{benchmark}\n{question}".encode()).hexdigest()[:16]
