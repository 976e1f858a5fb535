"""Rollout groups for tests, from nothing but the answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from methods.groups import Evidence, EvidenceKind, GivenLabels, RolloutGroups

Answers = Sequence[Sequence[str | None]]
WIDTH, LAYERS = 8, 4  # of the hidden states that `make_evidence` draws


def make_groups(answers: Answers, labels: Sequence[str | None] | None = None, **fields: Any) -> RolloutGroups:
    """Build groups [B, G]; without labels every item is unlabelled, and indices count from 100."""
    labels = [None] * len(answers) if labels is None else labels
    size = (len(answers), len(answers[0]) if answers else 0)
    defaults: dict[str, Any] = {
        "index": np.arange(100, 100 + size[0]),
        "labelled": np.array([label is not None for label in labels], dtype=bool),
        "labels": GivenLabels(labels),
        "answers": tuple(tuple(row) for row in answers),
        "lengths": np.full(size, 5),
        "rollout": np.tile(np.arange(size[1]), (size[0], 1)),
        "step": 1,
        "epoch": 0,
    }
    return RolloutGroups(**defaults | fields)


def make_evidence(groups: RolloutGroups, kinds: frozenset[EvidenceKind], seed: int = 0) -> Evidence:
    """Draw evidence of the declared kinds, ragged as the lengths of the rollouts say."""
    rng = np.random.default_rng(seed)

    def ragged(low: float, high: float) -> Any:
        return tuple(tuple(rng.uniform(low, high, int(n)) for n in row) for row in groups.lengths)

    drawn: dict[EvidenceKind, Any] = {
        EvidenceKind.ENTROPY: ragged(0, 2),
        EvidenceKind.LOG_PROBS: ragged(-3, 0),
        EvidenceKind.SELF_CERTAINTY: ragged(0, 3),
        EvidenceKind.ATTENTION: ragged(0, 1),
        EvidenceKind.HIDDEN_STATES: tuple(
            tuple(rng.normal(size=(LAYERS, WIDTH)).astype(np.float32) for _ in row) for row in groups.lengths
        ),
    }
    return Evidence(**{kind.value: drawn[kind] for kind in kinds})
