"""A method that uses every surface, evidence and state: the test double of a future method, run in a real job.

It trains on half of each group, only on labelled prompts and those unlabelled ones whose majority is clear, adds a
little confidence to the reward, and halves the weight of pseudo labels. Step 2 admits nothing.
"""

import numpy as np

from methods.base import Method, Module
from methods.groups import EvidenceKind, TargetSource
from methods.registry import register
from methods.ttrl import TTRL

EMPTY_STEP = 2


@register
class AllSurfaces(Method):
    """Every surface at once."""

    name = "all_surfaces"
    summary = "uses every surface"
    module = Module.CONTROL
    stateful = True
    evidence = frozenset({EvidenceKind.ENTROPY, EvidenceKind.LOG_PROBS})

    def __init__(self, options=None):
        super().__init__(options)
        self.visits: dict[str, int] = {}
        self.pseudo: dict[int, bool] = {}

    def targets(self, groups):
        targets = TTRL().targets(groups)
        for index, source in zip(groups.index, targets.sources, strict=True):
            self.visits[str(index)] = self.visits.get(str(index), 0) + 1
            self.pseudo[int(index)] = source is TargetSource.PSEUDO
        return targets

    def admit(self, groups, targets):
        if groups.step == EMPTY_STEP:
            return np.zeros(len(groups), dtype=bool)
        clear = groups.labelled | (np.nan_to_num(targets.confidence) >= 0.5)
        mask = np.zeros(groups.lengths.shape, dtype=bool)
        mask[:, ::2] = clear[:, None]
        return mask

    def rewards(self, groups, verified, evidence):
        scores = verified.copy()
        for i, row in enumerate(evidence.log_probs):
            for j, tokens in enumerate(row):
                if len(tokens):
                    assert len(tokens) == len(evidence.entropy[i][j]) == groups.lengths[i, j]
                    scores[i, j] += 0.01 * float(tokens.mean())
        return scores

    def advantages(self, groups, advantages, evidence):
        return np.array([0.5 if self.pseudo[int(index)] else 1.0 for index in groups.index])

    def state_dict(self):
        return {"visits": dict(sorted(self.visits.items()))}

    def load_state_dict(self, state):
        self.visits = dict(state["visits"])
