"""EM-RL on tokens: the reward is the negative entropy of the next-token distributions (arXiv 2505.15134).

    r_tok(y) = - sum_t H(pi(. | y_<t))

in nats. The paper writes the sum, the authors' code takes the mean over the valid tokens, which is the default here:
the sum rewards short outputs. DE-Venus (section 4.1) runs it under GRPO with G = 8 as "Tok-entropy", where
the paper uses RLOO with groups of 4. Known end: the policy repeats itself, since repetition has no entropy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.base import Method, Module
from methods.groups import Evidence, EvidenceKind, RolloutGroups
from methods.intrinsic_rewards import require_aggregate, token_scores, with_verified_labels


@dataclass(frozen=True, slots=True)
class TokEntropyOptions:
    """How the tokens of a response are aggregated."""

    agg: str = "mean"  # or "sum"

    def __post_init__(self) -> None:
        require_aggregate(self.agg)


class TokEntropy(Method):
    """Negative token entropy of a rollout as the reward of an unlabelled item."""

    name = "tok_entropy"
    summary = "negative token entropy as reward (EM-RL, token level)"
    module = Module.CONSTRUCTION
    paper = "2505.15134"
    evidence = frozenset({EvidenceKind.ENTROPY})
    Options = TokEntropyOptions
    options: TokEntropyOptions

    def rewards(self, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence) -> NDArray[np.float64]:
        """Verified reward if labelled, else minus the aggregated token entropy, [B, G]."""
        entropy = token_scores(groups, evidence, EvidenceKind.ENTROPY, self.options.agg)
        return with_verified_labels(groups, verified, -entropy)
