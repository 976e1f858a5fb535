"""What a method remembers of each item: one entry per visit, keyed by the persistent index.

A visit is all rollouts of an item in one training step. An index that occurs twice in a batch is one
visit whose rollouts are pooled, so that neither duplicates nor the order of a batch reach a history; a
last batch that is dropped leaves no entry.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from benchmark.evaluation.equivalence import same
from benchmark.evaluation.voting import Vote, vote
from methods.groups import RolloutGroups

Entry = TypeVar("Entry", float, str | None)


@dataclass(frozen=True, slots=True)
class Visit:
    """The answers of one item in one step."""

    answers: tuple[str | None, ...]  # [G], more where the index occurs more than once
    labelled: bool

    def vote(self) -> Vote:
        """Return the majority vote of the answers."""
        return vote(self.answers)

    def pass_rate(self, target: str) -> float:
        """Return the share of the answers that equal the target, in [0, 1]."""
        counts = Counter(self.answers)
        return sum(count for answer, count in counts.items() if same(answer, target)) / len(self.answers)


def visits(groups: RolloutGroups) -> dict[int, Visit]:
    """Return the visit of each distinct item of the batch, by rising index."""
    found: dict[int, Visit] = {}
    for i in sorted(range(len(groups)), key=lambda position: int(groups.index[position])):
        index = int(groups.index[i])
        earlier = found[index].answers if index in found else ()
        found[index] = Visit(earlier + groups.answers[i], bool(groups.labelled[i]))
    return found


class Histories(Generic[Entry]):
    """One list of entries per item; at most one entry per item and step.

    The entries are numbers or texts (None where a visit had none to give), all of which JSON keeps bit for bit.
    """

    __slots__ = ("_entries", "_last_step")

    def __init__(self) -> None:
        self._entries: dict[int, list[Entry]] = {}
        self._last_step: dict[int, int] = {}

    def append(self, index: int, step: int, entry: Entry) -> None:
        """Add the entry of a visit; a second one of the same step, or an earlier one, is ignored."""
        last = self._last_step.get(index)
        if last is None or step > last:
            self._entries.setdefault(index, []).append(entry)
            self._last_step[index] = step

    def __getitem__(self, index: int) -> tuple[Entry, ...]:
        """Return the entries of an item, oldest first; empty where it was never visited."""
        return tuple(self._entries.get(index, ()))

    def __iter__(self) -> Iterator[int]:
        """Iterate over the items by rising index, whatever the order of their visits."""
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def as_state(self) -> dict[str, Any]:
        """Return JSON data for a checkpoint."""
        return {str(index): {"step": self._last_step[index], "entries": list(self._entries[index])} for index in self}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Histories[Entry]":
        """Rebuild what `as_state` returned."""
        histories = cls()
        for key, item in state.items():
            histories._entries[int(key)] = list(item["entries"])
            histories._last_step[int(key)] = int(item["step"])
        return histories
