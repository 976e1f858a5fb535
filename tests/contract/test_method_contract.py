"""What every method must keep, whatever it does: one test per rule, over all registered methods.

A rule that a method cannot break, because it does not use the surface in question, holds for it trivially; a rule
about something that a method does not declare is skipped, and says so.
"""

import copy
import json
from dataclasses import asdict, is_dataclass, replace
from functools import lru_cache

import numpy as np
import pytest
from training_steps import (
    BATCH,
    LABELLED_EACH,
    ROLLOUTS,
    STEPS,
    TRUTH,
    assert_same,
    assert_same_state,
    draw_evidence,
    draw_step,
    epoch_items,
    map_evidence,
    run_step,
    take_prompts,
    take_rollouts,
    training_steps,
)

from benchmark.errors import HiddenTruthError, MethodError
from benchmark.training.method_state import load_state, save_state
from methods.base import LabelNeed, surfaces_used
from methods.groups import GivenLabels, NoTarget, TargetSource
from methods.plugins import name_problem
from methods.registry import build_method

SUM_ORDER = 1e-9  # rollouts in another order are added up in another order
UNLABELLED = [item for item in range(40) if item % LABELLED_EACH]
LABELLED = [item for item in range(40) if not item % LABELLED_EACH]


def trained(cls):
    """Return a method after the steps of a run, so that its warm-ups are over and its histories are filled."""
    return copy.deepcopy(_trained(cls))


@lru_cache(maxsize=64)
def _trained(cls):
    method = cls()
    for step in training_steps(cls):
        run_step(method, step)
    return method


def next_step(cls, items, **changes):
    return draw_step(cls, items, STEPS + 1, **changes)


def unlabelled_group_of(cls, answers, **changes):
    """Draw the step after a run, with the answers of its first (unlabelled) group written out."""
    step = next_step(cls, UNLABELLED[:8], lengths=np.full((8, ROLLOUTS), 3), **changes)
    groups = replace(step.groups, answers=(tuple(answers), *step.groups.answers[1:]))
    if groups.partner is not None:  # the partner's answers are those that count
        groups = replace(groups, answers=(tuple(answers),) * len(groups))
    if groups.teacher_answers is not None:
        asked = len(groups.teacher_answers[0])
        teacher = tuple(answers[: asked - asked // 2] + answers[len(answers) - asked // 2 :])  # a tie stays a tie
        groups = replace(groups, teacher_answers=(teacher,) * len(groups))
    return replace(step, groups=groups, evidence=draw_evidence(groups, cls.evidence))


# ------------------------------------------------------------------------------------ declaration


def test_it_declares_what_the_runner_must_know(name, cls):
    assert cls.name == name
    assert name_problem(name) is None
    assert cls.version >= 1
    assert cls.summary
    assert "\n" not in cls.summary
    assert cls.module
    assert cls.__doc__
    assert surfaces_used(cls) or not cls.evidence, "evidence is collected for surfaces only"


def test_its_options_are_frozen_have_defaults_and_are_json(name, cls):
    assert is_dataclass(cls.Options)
    assert cls.Options.__dataclass_params__.frozen
    options = asdict(cls.Options())
    assert json.loads(json.dumps(options)) == options
    assert build_method(name, options).options == cls.Options()


def test_it_declares_state_exactly_if_it_has_any(name, cls):
    assert_same_state({**cls().state_dict()}, {**cls().state_dict()})
    assert bool(trained(cls).state_dict()) == cls.stateful


# -------------------------------------------------------------------------------------- the truth


def test_a_labelled_prompt_keeps_its_label_its_verified_reward_and_its_weight(name, cls):
    if cls.label_need is LabelNeed.IGNORED:
        pytest.skip("it has no labelled prompts")
    method = cls()
    for step in training_steps(cls):
        outcome = run_step(method, step)
        verified = outcome.decision.verified
        for i in np.flatnonzero(step.groups.labelled):
            target, source = outcome.decision.targets.values[i], outcome.decision.targets.sources[i]
            if source is TargetSource.REFINED:
                assert cls.refines_labels
            else:
                assert (target, source) == (step.groups.labels[i], TargetSource.GIVEN)
            present = step.groups.lengths[i] > 0
            if len(set(verified[i, present])) > 1:  # without a difference there is nothing to learn from it
                np.testing.assert_array_equal(outcome.admitted[i], present)
            np.testing.assert_array_equal(outcome.rewards[i], verified[i])
            assert outcome.weights[i] == 1


def test_a_method_that_ignores_labels_gives_the_same_rewards_without_them(name, cls):
    if cls.label_need is not LabelNeed.IGNORED:
        pytest.skip("it reads labels")
    labelled, method = cls(), cls()
    for step in training_steps(cls):
        size = len(step.groups)
        bare = replace(step.groups, labelled=np.zeros(size, dtype=bool), labels=GivenLabels([None] * size))
        first, second = run_step(labelled, step), run_step(method, replace(step, groups=bare))
        np.testing.assert_array_equal(first.admitted, second.admitted)
        np.testing.assert_array_equal(first.rewards, second.rewards)
        np.testing.assert_array_equal(first.weights, second.weights)


def test_it_reads_the_hidden_truth_exactly_if_it_declares_so(name, cls):
    step = next_step(cls, epoch_items(1))
    hidden = replace(step, groups=replace(step.groups, oracle=None))
    if cls.uses_hidden_truth:
        with pytest.raises(HiddenTruthError):
            run_step(cls(), hidden)
    else:
        run_step(cls(), hidden)
    run_step(cls(), step)


@pytest.mark.parametrize(
    "answers",
    [
        ["4"] * 4 + ["5"] * 4,
        [None] * ROLLOUTS,
        ["", " "] * 4,
        ["NO_TARGET", "none"] * 4,
    ],
    ids=["tie", "no answer", "blank", "words"],
)
def test_without_a_target_no_answer_is_right(name, cls, answers):
    step = unlabelled_group_of(cls, answers)
    if cls.uses_hidden_truth and TRUTH in answers:
        pytest.skip("the truth is among the answers")
    outcome = run_step(trained(cls), step)
    assert isinstance(outcome.decision.targets.values[0], NoTarget)
    assert outcome.decision.targets.sources[0] is TargetSource.NONE
    assert not outcome.decision.verified[0].any()


# -------------------------------------------------------------------------------------- symmetry


def test_the_order_of_the_prompts_changes_nothing_but_the_order(name, cls):
    method, permuted = cls(), cls()
    rng = np.random.default_rng(1)
    for step in training_steps(cls):
        order = rng.permutation(len(step.groups))
        expected, found = run_step(method, step), run_step(permuted, take_prompts(step, order))
        back = np.argsort(order)
        assert_same(reordered(found, back), expected, SUM_ORDER)
        assert_same_state(permuted.state_dict(), method.state_dict())


def test_the_order_of_the_rollouts_changes_nothing_but_the_order(name, cls):
    method, permuted = cls(), cls()
    rng = np.random.default_rng(2)
    for step in training_steps(cls):
        size = len(step.groups)
        orders = rng.permuted(np.tile(np.arange(ROLLOUTS), (size, 1)), axis=1)
        expected, found = run_step(method, step), run_step(permuted, take_rollouts(step, orders))
        back = np.argsort(orders, axis=1)
        assert_same(reordered(found, np.arange(size), back), expected, SUM_ORDER)
        assert_same_state(permuted.state_dict(), method.state_dict(), SUM_ORDER)


def reordered(outcome, prompts, rollouts=None):
    """Put the prompts of an outcome, then the rollouts of its groups, into another order."""

    def rows(values):
        values = values[prompts]
        return values if rollouts is None else np.take_along_axis(values, rollouts, axis=1)

    targets = outcome.decision.targets
    targets = replace(
        targets,
        values=tuple(targets.values[i] for i in prompts),
        sources=tuple(targets.sources[i] for i in prompts),
        confidence=targets.confidence[prompts],
    )
    decision = replace(
        outcome.decision,
        targets=targets,
        admitted=rows(outcome.decision.admitted),
        verified=rows(outcome.decision.verified),
    )
    return replace(
        outcome,
        decision=decision,
        admitted=rows(outcome.admitted),
        rewards=rows(outcome.rewards),
        weights=outcome.weights[prompts],
    )


# -------------------------------------------------------------------------------------- histories


def test_an_item_that_is_twice_in_a_batch_is_remembered_once(name, cls):
    method, doubled = cls(), cls()
    for step in training_steps(cls):
        size = len(step.groups)
        order = [*range(size), *range(0, size, 3)]
        run_step(method, step)
        outcome = run_step(doubled, take_prompts(step, order))
        copies = reordered(outcome, np.arange(size, len(order)))
        assert_same(copies, reordered(outcome, np.arange(0, size, 3)))
        assert_same_state(doubled.state_dict(), method.state_dict())


def test_a_resumed_run_continues_as_if_it_had_never_stopped(name, cls, tmp_path):
    steps = training_steps(cls)
    method, resumed = cls(), cls()
    for number, step in enumerate(steps):
        expected, found = run_step(method, step), run_step(resumed, step)
        assert_same(found, expected)
        folder = tmp_path / str(number)
        folder.mkdir()
        save_state(folder, resumed.state_dict())
        resumed = cls()
        resumed.load_state_dict(load_state(folder))
        assert_same_state(resumed.state_dict(), method.state_dict())


def test_its_state_is_a_snapshot(name, cls, tmp_path):
    steps = training_steps(cls)
    method = cls()
    for step in steps[:6]:
        run_step(method, step)
    taken = method.state_dict()
    save_state(tmp_path, taken)
    for step in steps[6:]:
        run_step(method, step)
    assert_same_state({**taken}, load_state(tmp_path))


# ------------------------------------------------------------------------------------ edge batches


@pytest.mark.parametrize("experienced", [False, True], ids=["first step", "after a run"])
@pytest.mark.parametrize(
    ("items", "changes"),
    [
        (epoch_items(1), {"answers": ((None,) * ROLLOUTS,) * BATCH}),
        (epoch_items(1), {"answers": (("4",) * ROLLOUTS,) * BATCH}),
        (epoch_items(1), {"answers": (("4", "5") * (ROLLOUTS // 2),) * BATCH}),
        (epoch_items(1), {"lengths": np.zeros((BATCH, ROLLOUTS), dtype=np.int64)}),
        (epoch_items(1), {"lengths": np.ones((BATCH, ROLLOUTS), dtype=np.int64)}),
        (LABELLED, {}),
        (UNLABELLED, {}),
        (LABELLED[:2], {}),
        (UNLABELLED[:2], {}),
        ([], {}),
    ],
    ids=[
        "no answers",
        "unanimous",
        "ties",
        "all failed",
        "one token each",
        "labelled only",
        "unlabelled only",
        "two labelled",
        "two unlabelled",
        "no prompts",
    ],
)
def test_a_batch_at_the_edge_is_legal_and_so_is_the_next(name, cls, items, changes, experienced):
    method = trained(cls) if experienced else cls()
    run_step(method, next_step(cls, items, **changes))
    outcome = run_step(method, draw_step(cls, epoch_items(2), STEPS + 2))
    assert np.isfinite(outcome.rewards).all()


@pytest.mark.parametrize("experienced", [False, True], ids=["first step", "after a run"])
def test_a_group_of_one_rollout_is_legal(name, cls, experienced):
    step = next_step(cls, epoch_items(1))
    groups = replace(
        step.groups,
        answers=tuple(row[:1] for row in step.groups.answers),
        lengths=step.groups.lengths[:, :1],
        rollout=step.groups.rollout[:, :1],
    )
    single = replace(step, groups=groups, evidence=draw_evidence(groups, cls.evidence))
    outcome = run_step(trained(cls) if experienced else cls(), single)
    assert outcome.rewards.shape == (len(groups), 1)


# --------------------------------------------------------------------------------------- evidence


def test_a_failed_rollout_scores_no_more_than_any_other_of_its_group(name, cls):
    if "rewards" not in surfaces_used(cls) or not cls.evidence:
        pytest.skip("its rewards need no evidence")
    lengths = np.full((8, ROLLOUTS), 3)
    lengths[:, 5] = 0
    outcome = run_step(cls(), next_step(cls, UNLABELLED[:8], lengths=lengths))
    assert np.isfinite(outcome.rewards).all()
    assert (outcome.rewards[:, [5]] <= outcome.rewards).all()


@pytest.mark.parametrize("items", [LABELLED[1:5], UNLABELLED[1:5]], ids=["labelled", "unlabelled"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_evidence_that_is_not_finite_stops_the_method_and_names_the_item(name, cls, bad, items):
    if not cls.evidence:
        pytest.skip("it asks for no evidence")
    step = next_step(cls, items, lengths=np.full((len(items), ROLLOUTS), 3))
    admitted = run_step(cls(), step).admitted
    b, g = (int(i) for i in np.argwhere(admitted)[-1])
    spoilt = map_evidence(step.evidence, lambda i, j, value: np.full_like(value, bad) if (i, j) == (b, g) else value)
    message = rf"not finite.*item {int(step.groups.index[b])}\b.*step {STEPS + 1}\b"
    with pytest.raises(MethodError, match=message):
        run_step(cls(), replace(step, evidence=spoilt))


def scores_means_of_tokens(cls):
    """Say whether a score is the mean of what its own tokens say: a method that declares `agg` can be a sum instead."""
    return "rewards" in surfaces_used(cls) and getattr(cls.Options(), "agg", None) == "mean"


def test_a_mean_over_tokens_does_not_depend_on_the_length(name, cls):
    if not scores_means_of_tokens(cls):
        pytest.skip("its rewards are no means over tokens")
    step = next_step(cls, epoch_items(1))
    longer = replace(
        step,
        groups=replace(step.groups, lengths=3 * step.groups.lengths),
        evidence=map_evidence(step.evidence, lambda b, g, value: np.repeat(value, 3)),
    )
    assert_same(run_step(cls(), longer), run_step(cls(), step), SUM_ORDER)


def test_a_mean_over_tokens_does_not_depend_on_the_tokens_of_others(name, cls):
    if not scores_means_of_tokens(cls):
        pytest.skip("its rewards are no means over tokens")
    step = next_step(cls, UNLABELLED[:8], lengths=np.full((8, ROLLOUTS), 3))
    lengths = step.groups.lengths.copy()
    lengths[:, 1:] = 6
    others = replace(
        step,
        groups=replace(step.groups, lengths=lengths),
        evidence=map_evidence(step.evidence, lambda b, g, value: value if g == 0 else np.tile(value + 1, 2)),
    )
    expected, found = run_step(cls(), step), run_step(cls(), others)
    np.testing.assert_array_equal(found.rewards[:, 0], expected.rewards[:, 0])
    assert (found.rewards[:, 1:] != expected.rewards[:, 1:]).all()
