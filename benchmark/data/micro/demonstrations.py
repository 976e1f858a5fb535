"""Pre-training answers, part of them wrong, and where they are wrong.

Whether a demonstration follows the misconception is a draw whose logit depends on the level, on the family
and on two digits of the operands (the habits), so that the base policy has a pass rate of its own
for every question. Slips in single steps and careless final answers come on top, independently.
"""

import math
import random
from collections.abc import Set
from dataclasses import dataclass

from benchmark.data.micro.procedures import exact
from benchmark.data.micro.questions import FAMILIES, ID_FAMILIES, LEVELS, Question, draw
from benchmark.data.micro.splits import Part, part


@dataclass(frozen=True, slots=True)
class Corruption:
    """How often, per level 0, 1, 2, a demonstration is wrong; the defaults are recipe v3."""

    misconception_logit: tuple[float, ...] = (-2.6, -1.5, -0.4)
    habit_weight: float = 0.8
    slip: tuple[float, ...] = (0.10, 0.36, 0.40)  # probability of "+1" in each step
    comparison_slip_factor: float = 0.6
    careless: float = 0.03  # probability that the boxed answer differs from the last step
    ood_logit: tuple[tuple[str, float], ...] = (("words", 0.9), ("long", 0.1), ("compose", 0.1))


V3 = Corruption()

# Shares of the families in pre-training.
_WEIGHTS = dict(
    zip(
        FAMILIES,
        [0.79 * weight / 6.9 for weight in (1, 1, 1, 1.3, 1.5, 1.1)]
        + [0.21 * share / 0.20 for share in (0.06, 0.08, 0.06)],
        strict=True,
    )
)


class Habits:
    """Standard normal tables, per skill, over the first digit of the first and the last digit of the last operand."""

    def __init__(self, corruption: Corruption = V3, seed: int = 7) -> None:
        rng = random.Random(seed)
        self.corruption = corruption
        self._ood = dict(corruption.ood_logit)
        self._first = {skill: [rng.gauss(0, 1) for _ in range(10)] for skill in ID_FAMILIES}
        self._last = {skill: [rng.gauss(0, 1) for _ in range(10)] for skill in ID_FAMILIES}

    def misconception_rate(self, question: Question) -> float:
        """Return the probability that a demonstration of the question follows the misconception."""
        first, last = int(str(question.operands[0])[0]), question.operands[-1] % 10
        habit = self._first[question.skill][first] + self._last[question.skill][last]
        logit = self.corruption.misconception_logit[question.level] + self._ood.get(question.family, 0.0)
        return 1 / (1 + math.exp(-logit - self.corruption.habit_weight * habit))


def worked_answer(question: Question, steps: tuple[str, ...], answer: str) -> str:
    """Write an answer as the model is to write it: steps and the boxed result."""
    written = (question.reading, *steps) if question.reading else steps
    return ";".join(written) + ";\\boxed{" + answer + "}"


def correct_demonstration(question: Question) -> str:
    """Return the worked answer without any error."""
    work = question.solve()
    return worked_answer(question, work.steps, str(work.answer))


def demonstration(question: Question, habits: Habits, rng: random.Random) -> str:
    """Draw one demonstration of a question, with the errors of `habits.corruption`."""
    corruption = habits.corruption
    wrong = rng.random() < habits.misconception_rate(question)
    slip = corruption.slip[question.level] * (corruption.comparison_slip_factor if question.skill == "cmp" else 1)

    def slipping(value: int) -> int:
        return value + 1 if rng.random() < slip else value

    work = question.solve(wrong=wrong, step=slipping if slip else exact)
    answer = str(work.answer)
    if rng.random() < corruption.careless:
        answer = _careless(answer, rng)
    return worked_answer(question, work.steps, answer)


def draw_demonstrations(
    count: int, seed: int, corruption: Corruption = V3, forbidden: Set[str] = frozenset()
) -> list[tuple[str, str]]:
    """Draw (question text, worked answer) pairs for pre-training.

    Questions that could be a panel or benchmark item, whatever the sizes of those, never occur; nor do
    the texts of `forbidden`.
    """
    rng = random.Random(seed)
    habits = Habits(corruption)
    families, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        family = rng.choices(families, weights)[0]
        question = draw(family, rng.choice(LEVELS), rng)
        if part(question.text) is Part.TRAIN and question.text not in forbidden:
            pairs.append((question.text, demonstration(question, habits, rng)))
    return pairs


def _careless(answer: str, rng: random.Random) -> str:
    """Swap the last two digits, or miss by a little: wrong answers that scatter."""
    if len(answer.lstrip("-")) > 1 and answer[-1] != answer[-2] and rng.random() < 0.25:
        return answer[:-2] + answer[-1] + answer[-2]
    return str(int(answer) + rng.choice((-1, 1, -2, 2, -10, 10, 3, 5)))
