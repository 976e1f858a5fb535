"""A method that declares every kind of evidence and keeps what it was given: a test double for a real job.

It trains on half of each group, so that verl pads the batch, and admits nothing in step 2.
"""

import numpy as np

from methods.base import Method, Module
from methods.groups import EvidenceKind
from methods.registry import register

EMPTY_STEP = 2


@register
class AllEvidence(Method):
    """Rewards self-certainty and weighs groups by their hidden states."""

    name = "all_evidence"
    summary = "declares every kind of evidence"
    module = Module.CONTROL
    evidence = frozenset(EvidenceKind)

    def admit(self, groups, targets):
        mask = np.zeros(groups.lengths.shape, dtype=bool)
        if groups.step != EMPTY_STEP:
            mask[:, ::2] = True
        return mask

    def rewards(self, groups, verified, evidence):
        self.seen = evidence
        return np.array([[float(t.mean()) if len(t) else 0.0 for t in row] for row in evidence.self_certainty])

    def advantages(self, groups, advantages, evidence):
        for kind in ("entropy", "log_probs", "self_certainty", "hidden_states", "attention"):
            once, twice = getattr(self.seen, kind), getattr(evidence, kind)
            assert all(np.array_equal(a, b) for i, row in enumerate(once) for a, b in zip(row, twice[i], strict=True))
        norms = np.array(
            [max(float(np.abs(states).max(initial=0)) for states in row) for row in evidence.hidden_states]
        )
        return norms / norms.max()
