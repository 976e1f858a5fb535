"""Intuitor: the policy's self-certainty is the reward (RLIF, arXiv 2505.19590, section 3).

    r(o) = 1/|o| sum_t KL(U || p_t) = -1/(|o| V) sum_t sum_v log(V p_t(v))

in nats, over the valid tokens of the response, under the policy that produced it. U is the uniform
distribution over the vocabulary, and the direction matters: KL(U || p), which punishes every token that the policy
rules out, not KL(p || U), which is log V minus the entropy (that would be `tok_entropy`).

Trade-off: the scorer is the moving policy, since the paper finds that a frozen one is gamed after about 100 steps; the
moving one can still collapse, and the divergence penalty is the main stabiliser.
"""

import numpy as np
from numpy.typing import NDArray

from methods.base import Method, Module
from methods.groups import Evidence, EvidenceKind, RolloutGroups
from methods.intrinsic_rewards import token_scores, with_verified_labels


class SelfCertainty(Method):
    """Mean self-certainty of a rollout as the reward of an unlabelled item."""

    name = "self_certainty"
    summary = "mean self-certainty of the policy as reward (Intuitor)"
    module = Module.CONSTRUCTION
    paper = "2505.19590"
    evidence = frozenset({EvidenceKind.SELF_CERTAINTY})

    def rewards(self, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence) -> NDArray[np.float64]:
        """Verified reward if labelled, else the mean of KL(U || p_t), [B, G]."""
        return with_verified_labels(groups, verified, token_scores(groups, evidence, EvidenceKind.SELF_CERTAINTY))
