"""Active noise that is drawn anew at each visit: the wrong label of a row is one of its group's own answers.

The authors of OLR (arXiv 2604.03993) corrupt labels this way. It needs the truth, so it happens on the runner's
side, before a method sees the groups. Difference to their code: an answer counts as wrong if it is not
equivalent to the truth, not merely written differently.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.data.noise import NO_CORRECT_ANSWER, REDRAWN
from benchmark.evaluation.equivalence import same
from benchmark.evaluation.voting import cluster
from benchmark.training.groups import TrainingRow
from methods.groups import GivenLabels, RolloutGroups


def with_redrawn_labels(
    groups: RolloutGroups, rows: Mapping[int, TrainingRow], truth: Mapping[int, str], seed: int
) -> RolloutGroups:
    """Return the groups with the labels of this visit; they are the same where no row is marked to be redrawn."""
    labels = [rows[int(index)].label for index in groups.index]
    if REDRAWN not in labels:
        return groups
    for i, (label, index) in enumerate(zip(labels, map(int, groups.index), strict=True)):
        if label == REDRAWN:
            labels[i] = wrong_answer(groups.answers[i], truth[index], f"{seed}/{index}/{groups.step}")
    return replace(groups, labels=GivenLabels(labels))


def wrong_answer(answers: Sequence[str | None], truth: str, key: str) -> str:
    """Draw one of the distinct wrong answers of a group, uniformly; without one, a label that matches nothing."""
    wrong = sorted(found.answer for found in cluster(answers) if not same(found.answer, truth))
    if not wrong:
        return NO_CORRECT_ANSWER
    draw = hashlib.sha256(f"redraw/{key}".encode()).digest()
    return wrong[int.from_bytes(draw[:8], "big") % len(wrong)]
