"""Steps of training for the contract of methods: drawn from hashes, run as the trainer runs them.

What a rollout says depends on its item, step and number alone, so that a permuted or longer batch holds the
same rollouts. Forty items in batches of 32, one batch per epoch, so that 12 steps are 12 epochs, each of which drops 8
items (drop_last): long enough for the warm-ups of the built-in methods to end, and histories get unequal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rollouts import LAYERS, WIDTH, make_groups

from benchmark.training.supervision import Decision, advantage_weights, decide, transform_rewards
from methods.base import Method, TrainingRows, surfaces_used
from methods.groups import Evidence, EvidenceKind, GivenLabels, NoTarget, RolloutGroups

STEPS = 12
POOL, BATCH, ROLLOUTS = 40, 32, 8
LABELLED_EACH = 4  # every fourth item is labelled
WRONGLY_LABELLED = (4, 12, 20)
PARAPHRASE = 1000  # added to the index of a question, it is the index of its paraphrase
WRONG = ("5", "6", "7.0", "1/2")
TRUTH = "4"


@dataclass(frozen=True, slots=True)
class Step:
    """What the trainer hands to a method in one step."""

    groups: RolloutGroups
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method made of a step."""

    decision: Decision
    admitted: NDArray[np.bool_]  # [B, G] admitted, and not failed
    rewards: NDArray[np.float64]  # [B, G]
    weights: NDArray[np.float64]  # [B]


@lru_cache(maxsize=64)
def training_steps(cls: type[Method]) -> tuple[Step, ...]:
    """Return the STEPS steps of a run of a method; nothing in them can be changed, so they are drawn once."""
    return tuple(draw_step(cls, epoch_items(step), step) for step in range(1, STEPS + 1))


def epoch_items(epoch: int) -> list[int]:
    """Return the items of the one batch of an epoch, in their order."""
    return [int(item) for item in np.random.default_rng(epoch).permutation(POOL)[:BATCH]]


def draw_step(cls: type[Method], items: Sequence[int], step: int, **changes: Any) -> Step:
    """Draw a step with what a method declares to need: pairs, a teacher, the truth, evidence.

    `changes` replace fields of the groups before evidence is drawn.
    """
    if cls.rows is TrainingRows.PAIRED:
        half = items[: len(items) // 2]
        items = [index for item in half for index in (item, item + PARAPHRASE)]
    labels = [label_of(index) for index in items]
    answers = [[_answer(index, step, g) for g in range(ROLLOUTS)] for index in items]
    lengths = [[_length(index, step, g) for g in range(ROLLOUTS)] for index in items]
    rows = [
        [answer if length else None for answer, length in zip(*row, strict=True)]
        for row in zip(answers, lengths, strict=True)
    ]
    drawn: dict[str, Any] = {
        "index": np.array(items, dtype=np.int64),
        "lengths": np.array(lengths, dtype=np.int64).reshape(len(items), ROLLOUTS),
        "rollout": np.tile(np.arange(ROLLOUTS), (len(items), 1)),
        "step": step,
        "epoch": step - 1,
    }
    groups = with_declared_fields(cls, replace(make_groups(rows, labels, **drawn), **changes))
    return Step(frozen(groups), draw_evidence(groups, cls.evidence))


def with_declared_fields(cls: type[Method], groups: RolloutGroups) -> RolloutGroups:
    """Add what a method declares to need beside the rollouts: partners, answers of the teacher, the truth."""
    index = [int(item) for item in groups.index]
    added: dict[str, Any] = {}
    if cls.rows is TrainingRows.PAIRED:
        partner = [item - PARAPHRASE if item >= PARAPHRASE else item + PARAPHRASE for item in index]
        added["partner"] = np.array(partner, dtype=np.int64)
    teacher = cls().teacher
    if teacher is not None:
        numbers = range(ROLLOUTS, ROLLOUTS + teacher.rollouts)
        added["teacher_answers"] = tuple(tuple(_answer(item, groups.step, g) for g in numbers) for item in index)
    if cls.uses_hidden_truth:
        added["oracle"] = (TRUTH,) * len(index)
    return replace(groups, **added)


def draw_evidence(groups: RolloutGroups, kinds: frozenset[EvidenceKind]) -> Evidence:
    """Draw the declared evidence of every rollout, ragged as the lengths say; none of a rollout that failed."""

    def of_rollout(kind: EvidenceKind, b: int, g: int) -> NDArray[Any]:
        length = int(groups.lengths[b, g])
        numbers = (int(groups.index[b]), groups.step, int(groups.rollout[b, g]), list(EvidenceKind).index(kind))
        rng = np.random.default_rng(numbers)
        if kind is EvidenceKind.HIDDEN_STATES:
            if not length:
                return np.zeros((0, 0), dtype=np.float32)
            right = groups.answers[b][g] == TRUTH  # so that there is something to tell apart
            return rng.normal(size=(LAYERS, WIDTH)).astype(np.float32) + np.float32(1 if right else -1)
        low, high = {EvidenceKind.LOG_PROBS: (-3, 0), EvidenceKind.ATTENTION: (0, 1)}.get(kind, (0, 3))
        return rng.uniform(low, high, length)

    def of_step(kind: EvidenceKind) -> tuple[tuple[NDArray[Any], ...], ...]:
        size = range(groups.lengths.shape[1])
        return tuple(tuple(frozen(of_rollout(kind, b, g)) for g in size) for b in range(len(groups)))

    return Evidence(**{kind.value: of_step(kind) for kind in kinds})


def run_step(method: Method, step: Step) -> Outcome:
    """Call the surfaces as the trainer does: in order, and rewards and advantages only if something is admitted."""
    groups, used = step.groups, surfaces_used(method)
    decision = decide(method, groups)
    admitted = decision.admitted & (groups.lengths > 0)
    rewards, weights = frozen(decision.verified), np.ones(len(groups))
    if admitted.any():
        evidence = map_evidence(
            step.evidence, lambda b, g, value: value if admitted[b, g] else value[(slice(0),) * value.ndim]
        )
        if "rewards" in used:
            rewards = transform_rewards(method, groups, rewards, evidence)
        if "advantages" in used:
            weights = advantage_weights(method, groups, frozen(grpo_advantages(rewards, admitted)), evidence)
    return Outcome(decision, admitted, rewards, weights)


def grpo_advantages(rewards: NDArray[np.float64], admitted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Standardise rewards [B, G] over the admitted rollouts of each group; 0 for the others and for a group of one."""
    advantages = np.zeros_like(rewards)
    for row, scores, chosen in zip(advantages, rewards, admitted, strict=True):
        if chosen.sum() > 1:
            row[chosen] = (scores[chosen] - scores[chosen].mean()) / (scores[chosen].std(ddof=1) + 1e-6)
    return advantages


def map_evidence(evidence: Evidence, change: Any) -> Evidence:
    """Return evidence with every array replaced by `change(b, g, array)`."""
    kinds = {field.name: getattr(evidence, field.name) for field in fields(Evidence)}
    return Evidence(
        **{
            kind: tuple(tuple(change(b, g, value) for g, value in enumerate(row)) for b, row in enumerate(rows))
            for kind, rows in kinds.items()
            if rows is not None
        }
    )


def take_prompts(step: Step, order: Sequence[int]) -> Step:
    """Return the step with the prompts at the positions `order`, which may repeat some and leave some out."""
    groups = step.groups
    labels = [groups.labels[i] if groups.labelled[i] else None for i in order]
    teacher, oracle = groups.teacher_answers, groups.oracle
    taken = replace(
        groups,
        index=groups.index[order],
        labelled=groups.labelled[order],
        labels=GivenLabels(labels),
        answers=tuple(groups.answers[i] for i in order),
        lengths=groups.lengths[order],
        rollout=groups.rollout[order],
        partner=None if groups.partner is None else groups.partner[order],
        teacher_answers=None if teacher is None else tuple(teacher[i] for i in order),
        oracle=None if oracle is None else tuple(oracle[i] for i in order),
    )
    return Step(frozen(taken), _take_evidence(step.evidence, [(i, range(groups.lengths.shape[1])) for i in order]))


def take_rollouts(step: Step, orders: NDArray[np.int64]) -> Step:
    """Return the step with the rollouts of each group in the order `orders` [B, G]; a teacher's are reversed."""
    groups = step.groups
    teacher = groups.teacher_answers
    taken = replace(
        groups,
        answers=tuple(tuple(row[g] for g in order) for row, order in zip(groups.answers, orders, strict=True)),
        lengths=np.take_along_axis(groups.lengths, orders, axis=1),
        rollout=np.take_along_axis(groups.rollout, orders, axis=1),
        teacher_answers=None if teacher is None else tuple(row[::-1] for row in teacher),
    )
    return Step(frozen(taken), _take_evidence(step.evidence, list(enumerate(orders))))


def assert_same(first: Outcome, second: Outcome, tolerance: float = 0.0) -> None:
    """Compare two outcomes; `tolerance` is for sums in another order, never for a decision."""
    found, expected = first.decision, second.decision
    assert [_plain(value) for value in found.targets.values] == [_plain(value) for value in expected.targets.values]
    assert found.targets.sources == expected.targets.sources
    np.testing.assert_array_equal(first.admitted, second.admitted)
    np.testing.assert_array_equal(found.verified, expected.verified)
    for one, other in (
        (found.targets.confidence, expected.targets.confidence),
        (first.rewards, second.rewards),
        (first.weights, second.weights),
    ):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def assert_same_state(found: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Compare two states: kinds, shapes, and values bit for bit unless there is a tolerance."""
    assert type(found) is type(expected)
    if isinstance(found, Mapping):
        assert list(found) == list(expected)
        for key in found:
            assert_same_state(found[key], expected[key], tolerance)
    elif isinstance(found, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same_state(one, other, tolerance)
    elif isinstance(found, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        if tolerance and found.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        else:
            assert found.tobytes() == expected.tobytes()
    elif isinstance(found, float) and tolerance:
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    else:
        assert found == expected


def frozen(value: Any) -> Any:
    """Make an array, or the arrays of groups, read-only: a method must not change what it is given."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    else:
        for field in fields(value):
            if isinstance(getattr(value, field.name), np.ndarray):
                getattr(value, field.name).flags.writeable = False
    return value


def label_of(index: int) -> str | None:
    """Return the label that was given with an item, some of them wrong; None for an unlabelled item."""
    item = index % PARAPHRASE
    if item % LABELLED_EACH:
        return None
    return WRONG[0] if item in WRONGLY_LABELLED else TRUTH


def _answer(index: int, step: int, rollout: int) -> str | None:
    rng = np.random.default_rng((index, step, rollout, 77))
    skill = 0.2 + 0.6 * (index % 7) / 6 * step / STEPS  # items are learnt at different speeds
    if rng.random() < skill:
        return TRUTH
    return None if rng.random() < 0.1 else str(rng.choice(WRONG))


def _length(index: int, step: int, rollout: int) -> int:
    rng = np.random.default_rng((index, step, rollout, 78))
    return 0 if rng.random() < 0.03 else int(rng.integers(1, 9))


def _take_evidence(evidence: Evidence, chosen: Sequence[tuple[int, Sequence[int]]]) -> Evidence:
    kinds = {field.name: getattr(evidence, field.name) for field in fields(Evidence)}
    return Evidence(
        **{
            kind: tuple(tuple(rows[b][g] for g in order) for b, order in chosen)
            for kind, rows in kinds.items()
            if rows is not None
        }
    )


def _plain(value: Any) -> Any:
    return None if isinstance(value, NoTarget) else value
