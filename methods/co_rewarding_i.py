"""Co-rewarding-I: a question and its paraphrase vote for each other (arXiv 2508.00410, section 3.2).

A batch holds x and a paraphrase x' as two rows with G rollouts each. The target of x is the majority of the answers
on x', and the other way round, so that a policy that is consistent in its error on one wording is not
rewarded for it. Labelled rows keep their given label.

Advantages are standardised per view, as in the paper, without any code here: x and x' are rows of their own, and
GRPO standardises within a row. The loss is the sum over both.

Deliberate differences to the authors' code: equivalence classes instead of strings, no target on a tie
(`methods.pseudo_labels`). Where a batch holds the paraphrase more than once, the answers of all its
rows vote: taking one of the rows would make the target depend on their order.
"""

from collections import defaultdict

from benchmark.errors import MethodError
from methods.base import Method, Module, TrainingRows
from methods.groups import RolloutGroups, Targets
from methods.pseudo_labels import majority_targets


class CoRewardingI(Method):
    """Crossed majority votes between a question and its paraphrase."""

    name = "co_rewarding_i"
    summary = "majority answer on the paraphrase as pseudo label (Co-rewarding-I)"
    module = Module.CONSTRUCTION
    paper = "2508.00410"
    rows = TrainingRows.PAIRED

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the majority on the partner; no target without a partner in the batch.

        Raises MethodError where the batch has no pairs at all.
        """
        if groups.partner is None:
            raise MethodError(
                f"method {self.name!r} needs pairs: found no partners in step {groups.step}; "
                "fix: train on rows that were paired with their paraphrases"
            )
        answers: defaultdict[int, tuple[str | None, ...]] = defaultdict(tuple)
        for index, given in zip(groups.index.tolist(), groups.answers, strict=True):
            answers[index] += given
        return majority_targets(groups, [answers.get(partner, ()) for partner in groups.partner.tolist()])
