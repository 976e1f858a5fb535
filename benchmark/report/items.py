"""Scores by benchmark question: the smallest thing that statistics look at."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmark import artifacts
from benchmark.report.metrics import item_accuracy

GROUPS = ("id", "ood")
"""Groups of benchmarks that are averaged, in the order of the tables."""
GROUP_SIZES = {"id": 6, "ood": 3}
"""Benchmarks of each group behind an average that is called ID or OOD in a publication."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemScores:
    """One row per question of one evaluated cell, all arrays [Q], sorted by benchmark and item."""

    benchmark: NDArray[np.str_]
    group: NDArray[np.str_]
    item_id: NDArray[np.str_]
    correct: NDArray[np.int64]  # c
    samples: NDArray[np.int64]  # n that were judged

    def __len__(self) -> int:
        return len(self.item_id)

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """avg@n by item, NaN where nothing was judged."""
        return item_accuracy(self.correct, self.samples)

    def of_group(self, group: str) -> "ItemScores":
        """Keep the questions of the benchmarks of one group."""
        return self._where(self.group == group)

    def _where(self, keep: NDArray[np.bool_]) -> "ItemScores":
        return ItemScores(
            self.benchmark[keep], self.group[keep], self.item_id[keep], self.correct[keep], self.samples[keep]
        )


def item_scores(benchmark: Any, group: Any, item_id: Any, correct: Any, samples: Any) -> ItemScores:
    """Build the scores from equally long columns in any order."""
    names, ids = np.asarray(benchmark, dtype=np.str_), np.asarray(item_id, dtype=np.str_)
    order = np.lexsort((ids, names))
    return ItemScores(
        names[order],
        np.asarray(group, dtype=np.str_)[order],
        ids[order],
        np.asarray(correct, dtype=np.int64)[order],
        np.asarray(samples, dtype=np.int64)[order],
    )


def read_items(path: Path) -> ItemScores:
    """Read items.parquet of a record stage."""
    table = pq.read_table(path / artifacts.ITEMS if path.is_dir() else path)
    return item_scores(*(table[name].to_pylist() for name in ("benchmark", "group", "item_id", "correct", "samples")))
