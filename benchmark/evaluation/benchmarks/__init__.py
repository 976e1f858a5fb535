"""The benchmarks, as data (`table`), the loaders that fail closed (`loaders`), and the stage that writes their items.

ID benchmarks ask what the policy is trained on, OOD benchmarks ask for other skills. To add one, add a row to
`table`, run `venus data check`, and copy the content hash that it prints.
"""

from benchmark.evaluation.benchmarks.stage import benchmark_rows, run
from benchmark.evaluation.benchmarks.table import (
    BENCHMARKS,
    MICRO_BENCHMARKS,
    PUBLIC_BENCHMARKS,
    Benchmark,
    Contamination,
    Group,
    Kind,
    benchmark_named,
)

__all__ = [
    "BENCHMARKS",
    "MICRO_BENCHMARKS",
    "PUBLIC_BENCHMARKS",
    "Benchmark",
    "Contamination",
    "Group",
    "Kind",
    "benchmark_named",
    "benchmark_rows",
    "run",
]
