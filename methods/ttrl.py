"""TTRL: the majority answer of a group is its target (arXiv 2504.16084, section 3).

For a prompt with rollouts y_1..y_G the pseudo label is the answer that most of them give, and the
reward of y_i is 1 if its answer equals it. It is rebuilt at every step and never stored. Labelled
items keep their given label (the semi-supervised form of DE-Venus, section 4.1).

With `train_samples` all G rollouts vote and only the first of them are trained on (the authors vote with 64 and
train on 32), which buys a steadier vote without a larger update. Labelled items are subsampled too, so that every
group of a step has the same size.

Deliberate differences to the authors' code: answers are counted in equivalence classes instead of as
strings (option `vote_key`), a tie gives no target instead of the first string seen, and rollouts without an
answer stay in the denominator of the confidence.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.base import Method, Module
from methods.groups import RolloutGroups, Targets
from methods.pseudo_labels import majority_targets, require_vote_key


@dataclass(frozen=True, slots=True)
class TTRLOptions:
    """How the vote is counted and who is trained on."""

    train_samples: int = 0  # rollouts per prompt that are trained on, the first of the group; 0 = all
    vote_key: str = "equivalence"  # or "string"

    def __post_init__(self) -> None:
        if not isinstance(self.train_samples, int) or self.train_samples < 0:
            raise ValueError(f"train_samples: found {self.train_samples!r}, allowed whole numbers from 0 (0 = all)")
        require_vote_key(self.vote_key)


class TTRL(Method):
    """Majority vote over the group of an unlabelled prompt."""

    name = "ttrl"
    summary = "majority answer of the group as pseudo label"
    module = Module.CONSTRUCTION
    paper = "2504.16084"
    Options = TTRLOptions
    options: TTRLOptions

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the unique majority answer, else no target."""
        return majority_targets(groups, vote_key=self.options.vote_key)

    def admit(self, groups: RolloutGroups, targets: Targets) -> NDArray[np.bool_]:
        """Train on the first `train_samples` rollouts of every group, [B, G]."""
        if self.options.train_samples == 0:
            return np.ones(groups.rollout.shape, dtype=np.bool_)
        return groups.rollout < self.options.train_samples
