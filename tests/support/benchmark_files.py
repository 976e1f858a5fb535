"""Small benchmarks written by hand, and the real files where they are present."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.data.data_files import data_directory
from benchmark.evaluation.benchmarks.items import content_hash
from benchmark.evaluation.benchmarks.loaders import examine
from benchmark.evaluation.benchmarks.table import Benchmark, Group, Kind

MATH = Benchmark("integers", Group.ID, "three sums", items=3, integers=True, file="integers.jsonl")
CHOICE = Benchmark(
    "quiz", Group.OOD, "two questions", items=2, kind=Kind.MULTIPLE_CHOICE, file="quiz.jsonl", usual_options=4
)

MATH_ROWS = (
    {"id": "i-0", "question": "What is $1+1$?", "answer": "2"},
    {"id": "i-1", "question": "What is $2+2$?", "answer": "4"},
    {"id": "i-2", "question": "What is $3+3$?", "answer": "6"},
)
CHOICE_ROWS = (
    {"id": "q-0", "question": "Which is a colour?", "choices": ["red", "two", "bread", "left"], "answer": "A"},
    {"id": "q-1", "question": "Which is a number?", "choices": ["blue", "five", "milk", "right"], "answer": "B"},
)


def changed(rows, position=0, **changes):
    """Return rows with one of them changed."""
    return [row | changes if number == position else dict(row) for number, row in enumerate(rows)]


def pinned(benchmark, rows):
    """Return the benchmark with the content hash of rows."""
    return replace(benchmark, content_hash=content_hash(benchmark.name, examine(benchmark, rows).items))


def real_file(name: str) -> Path:
    """Return a real data file, or skip the test with the reason."""
    path = data_directory() / name
    if not path.is_file():
        pytest.skip(f"real data are absent: no {name} below VENUS_DATA or ../shared/data")
    return path
