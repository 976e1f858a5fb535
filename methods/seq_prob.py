"""Sequence probability: the reward is the probability of the whole sampled response.

    r(y) = pi(y | x) = exp(sum_t log pi(y_t | y_<t))

RECONSTRUCTION of the idea of RLSC (arXiv 2506.06395): maximise the chance that two samples of the policy agree,
E_y pi(y | x), whose policy gradient weighs each sample by its own probability under the policy that produced it. The
paper's loss is replaced by GRPO, which standardises that weight within the group.

How it differs from `seq_entropy`: the probability is exp of its summed score, so both rank the rollouts of a group
alike, but here nearly all of the advantage goes to the likeliest one, while the logarithm spreads it out
over the group. There is no mean over tokens: short responses win.

Trade-off: the probability of a long response is so small that 1e-6, which GRPO adds to the standard deviation, drowns
it (below about -745 nats it even underflows to 0), and the group carries no gradient. `relative` divides by the
largest probability of the group, which changes nothing after standardisation except that it still works there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.base import Method, Module, SourceConfidence
from methods.groups import Evidence, EvidenceKind, RolloutGroups
from methods.intrinsic_rewards import token_scores, with_verified_labels


@dataclass(frozen=True, slots=True)
class SeqProbOptions:
    """What the probability is measured against."""

    relative: bool = False  # divide by the largest probability of the group

    def __post_init__(self) -> None:
        if not isinstance(self.relative, bool):
            raise ValueError(f"relative: found {self.relative!r}, allowed true, false")


class SeqProb(Method):
    """Probability of a rollout as the reward of an unlabelled item."""

    name = "seq_prob"
    summary = "probability of the whole response as reward (after RLSC)"
    module = Module.CONSTRUCTION
    paper = "2506.06395"
    confidence = SourceConfidence.RECONSTRUCTION
    evidence = frozenset({EvidenceKind.LOG_PROBS})
    Options = SeqProbOptions
    options: SeqProbOptions

    def rewards(self, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence) -> NDArray[np.float64]:
        """Verified reward if labelled, else the probability of the response, [B, G] in [0, 1]."""
        log_probs = token_scores(groups, evidence, EvidenceKind.LOG_PROBS, "sum")
        if self.options.relative:
            best = np.where(np.isnan(log_probs), -np.inf, log_probs).max(axis=1, keepdims=True, initial=-np.inf)
            log_probs = log_probs - np.where(np.isinf(best), 0.0, best)
        return with_verified_labels(groups, verified, np.exp(log_probs))
