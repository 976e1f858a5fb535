"""EM-RL on sequences: the reward is the log-probability of the sampled response (arXiv 2505.15134).

    r_seq(y) = sum_t log pi(y_t | y_<t)

in nats, a one-sample estimate of the negative entropy of the trajectory. The paper writes the sum, the authors' code
takes the mean over the valid tokens, which is the default here: the sum rewards short outputs. DE-Venus
(section 4.1) runs it under GRPO with G = 8 as "Seq-entropy", where the paper uses RLOO with groups of 4.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.base import Method, Module
from methods.groups import Evidence, EvidenceKind, RolloutGroups
from methods.intrinsic_rewards import require_aggregate, token_scores, with_verified_labels


@dataclass(frozen=True, slots=True)
class SeqEntropyOptions:
    """How the tokens of a response are aggregated."""

    agg: str = "mean"  # or "sum"

    def __post_init__(self) -> None:
        require_aggregate(self.agg)


class SeqEntropy(Method):
    """Log-probability of a rollout as the reward of an unlabelled item."""

    name = "seq_entropy"
    summary = "log-probability of the response as reward (EM-RL, sequence level)"
    module = Module.CONSTRUCTION
    paper = "2505.15134"
    evidence = frozenset({EvidenceKind.LOG_PROBS})
    Options = SeqEntropyOptions
    options: SeqEntropyOptions

    def rewards(self, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence) -> NDArray[np.float64]:
        """Verified reward if labelled, else the aggregated log-probability, [B, G]."""
        log_probs = token_scores(groups, evidence, EvidenceKind.LOG_PROBS, self.options.agg)
        return with_verified_labels(groups, verified, log_probs)
