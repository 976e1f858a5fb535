"""How labels are corrupted: which labelled rows, and what they say instead of the truth.

Masks are nested across noise ratios and exact in size, where published noise files draw each row on its own (OLR's
nominal 50% is 387 of 800). The kinds are those of OLR (arXiv 2604.03993): `inactive`, a label that no rollout
equals, and `active`, a wrong answer that the policy gives, drawn once from the base policy or anew at every visit.

Trade-off taken: a row for which the base policy gave no wrong answer cannot carry one. The next row of the nested order
takes its place, so that the number of corrupted rows stays exact as long as there are enough, and in those rows
alone the mask of `active_fixed` differs from that of the other kinds. Questions that the base policy always answers
correctly are thus never corrupted that way; how many were passed over is recorded.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from benchmark.data.content import seeded_rank
from benchmark.data.labels import lowest_share
from benchmark.errors import DataError
from benchmark.evaluation.equivalence import Canonical, canonical, normalise, same
from benchmark.suite.spec import NoiseKind

NO_CORRECT_ANSWER = "__no_correct_answer__"
"""The inactive wrong label: a text that no response is graded equal to."""
REDRAWN = "__redrawn_at_each_visit__"
"""The label of an `active_redraw` row: the trainer replaces it, at every visit, by a wrong answer of the group."""
SENTINELS = frozenset({NO_CORRECT_ANSWER, REDRAWN})
"""Labels that are no answers."""


@dataclass(frozen=True, slots=True)
class CorruptedLabels:
    """The labels by index, and what was done to them."""

    labels: dict[int, str]
    noisy: frozenset[int]
    without_candidate: int  # rows of the nominal mask that have no wrong answer to carry


def corrupt(
    labels: Mapping[int, str],
    kind: NoiseKind,
    ratio: float,
    seed: int,
    wrong_answers: Mapping[int, Sequence[str]] | None = None,
) -> CorruptedLabels:
    """Corrupt round(ratio * N) of N labels (index -> truth), or fewer where too few have a wrong answer.

    `wrong_answers` (index -> wrong answers of the base policy, repeated as often as it gave them) serve
    `active_fixed` and are needed by it. Raises DataError where they are missing, for a ratio outside [0, 1], and
    for a ratio above 0 without a kind of noise.
    """
    if kind is NoiseKind.NONE:
        if ratio:
            raise DataError(f"noise ratio without a kind of noise: found {ratio}, allowed 0; fix: set noise_kind")
        return CorruptedLabels(dict(labels), frozenset(), 0)
    noisy = lowest_share("noise", list(labels), ratio, seed)
    if kind is not NoiseKind.ACTIVE_FIXED:
        sentinel = NO_CORRECT_ANSWER if kind is NoiseKind.INACTIVE else REDRAWN
        return CorruptedLabels({i: sentinel if i in noisy else truth for i, truth in labels.items()}, noisy, 0)
    if wrong_answers is None:
        raise DataError(
            "noise active_fixed without answers of the base policy: found no probe, allowed one of the pool; "
            "fix: give the supervise stage the input probe"
        )
    without = frozenset(index for index in noisy if not wrong_answers.get(index))
    able = [index for index in labels if wrong_answers.get(index)]
    able.sort(key=lambda index: seeded_rank("noise", seed, index))  # a prefix is nested: its order knows no ratio
    noisy = frozenset(able[: len(noisy)])
    drawn = {index: draw_answer(wrong_answers[index], seed, index) for index in noisy}
    return CorruptedLabels({**labels, **drawn}, noisy, len(without))


def wrong_answers_of(truth: Mapping[int, str], answers: Mapping[int, Sequence[str | None]]) -> dict[int, list[str]]:
    """Pick the answers (by index) that differ in value from the truth; no answer is no wrong answer."""
    return {
        index: [answer for answer in answers[index] if answer and normalise(answer) and not same(answer, right)]
        for index, right in truth.items()
    }


def draw_answer(answers: Sequence[str], seed: int, index: int) -> str:
    """Draw one answer with the frequency of its value among `answers`, whose order does not matter.

    The draw depends on seed and index only. Returns the most frequent normalised spelling of the value. Raises
    IndexError where there is no answer.
    """
    spellings: defaultdict[Canonical, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        value = canonical(answer)
        if value is not None:
            spellings[value][normalise(answer)] += 1
    texts = sorted((min(found, key=lambda text: (-found[text], text)), found.total()) for found in spellings.values())
    tickets = [text for text, count in texts for _ in range(count)]
    uniform = Fraction(int.from_bytes(hashlib.sha256(f"wrong answer/{seed}/{index}".encode()).digest(), "big"), 2**256)
    return tickets[int(uniform * len(tickets))]
