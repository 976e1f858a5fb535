"""Each rule of the contract stops a method that breaks it, and the drawn steps give the rules something to act on."""

import numpy as np
import pytest
import test_method_contract as contract
from training_steps import STEPS, TRUTH, epoch_items, label_of, run_step, training_steps

from benchmark.errors import MethodError
from methods.base import Method, Module
from methods.groups import NO_TARGET, EvidenceKind, Targets, TargetSource
from methods.pseudo_labels import majority_targets
from methods.registry import method_class


class Broken(Method):
    """The base of methods that each break one rule."""

    name = "broken"
    summary = "breaks one rule"
    module = Module.CONTROL

    def targets(self, groups):
        return majority_targets(groups)


class Remembers(Broken):
    stateful = True

    def __init__(self, options=None):
        super().__init__(options)
        self.shares = {}

    def targets(self, groups):
        targets = super().targets(groups)
        for index, share in zip(groups.index, targets.confidence, strict=True):
            if np.isfinite(share):
                self.visit(str(index), float(share), groups.step)
        return targets

    def visit(self, index, share, step):
        if (step, share) not in self.shares.setdefault(index, []):
            self.shares[index].append((step, share))

    def state_dict(self):
        return {"shares": {key: [list(visit) for visit in self.shares[key]] for key in sorted(self.shares)}}

    def load_state_dict(self, state):
        self.shares = {key: [tuple(visit) for visit in visits] for key, visits in state["shares"].items()}


class Scores(Broken):
    evidence = frozenset({EvidenceKind.LOG_PROBS})

    class Options:
        agg = "mean"

    def rewards(self, groups, verified, evidence):
        scores = np.array([[self.score(tokens) for tokens in row] for row in evidence.log_probs])
        scores = np.where(groups.lengths > 0, scores.reshape(verified.shape), -100.0)
        return np.where(groups.labelled[:, None], verified, scores)

    def score(self, tokens):
        if not np.isfinite(tokens).all():
            raise MethodError("evidence log_probs is not finite")
        return tokens.mean() if len(tokens) else -100.0


class ReplacesLabels(Broken):
    def targets(self, groups):
        return Targets(("4",) * len(groups), (TargetSource.PSEUDO,) * len(groups), np.ones(len(groups)))


class DropsLabelledPrompts(Broken):
    def admit(self, groups, targets):
        return ~groups.labelled


class WeighsLabelledPromptsDown(Broken):
    def advantages(self, groups, advantages, evidence):
        return np.full(len(groups), 0.5)


class ChangesWhatItIsGiven(Broken):
    def rewards(self, groups, verified, evidence):
        verified[~groups.labelled] = 0.5
        return verified


class ReadsTheTruth(Broken):
    def targets(self, groups):
        assert groups.truth
        return super().targets(groups)


class ReadsLabelsThatWereNotGiven(Broken):
    def targets(self, groups):
        assert list(groups.labels)
        return super().targets(groups)


class DeclaresTheTruthForNothing(Broken):
    uses_hidden_truth = True


class LetsTheFirstAnswerWin(Broken):
    def targets(self, groups):
        kept = super().targets(groups)
        values = [
            kept.values[i] if groups.labelled[i] else next((answer for answer in row if answer), NO_TARGET)
            for i, row in enumerate(groups.answers)
        ]
        sources = [
            TargetSource.GIVEN if given else TargetSource.NONE if value is NO_TARGET else TargetSource.PSEUDO
            for given, value in zip(groups.labelled, values, strict=True)
        ]
        return Targets(tuple(values), tuple(sources), kept.confidence)


class AdmitsTheFirstHalfOfTheBatch(Broken):
    def admit(self, groups, targets):
        return groups.labelled | (np.arange(len(groups)) < len(groups) // 2)


class DrawsByPosition(Broken):
    def rewards(self, groups, verified, evidence):
        drawn = np.random.default_rng(groups.step).random(verified.shape)
        return np.where(groups.labelled[:, None], verified, drawn)


class DrawsFromGlobalNumbers(Broken):
    def rewards(self, groups, verified, evidence):
        return np.where(groups.labelled[:, None], verified, np.random.random(verified.shape))


class RemembersEveryCopy(Remembers):
    def visit(self, index, share, step):
        self.shares.setdefault(index, []).append((step, share))


class RemembersInTheOrderOfTheBatch(Remembers):
    def state_dict(self):
        return {"shares": {key: [list(visit) for visit in visits] for key, visits in self.shares.items()}}


class ForgetsOnResume(Remembers):
    def load_state_dict(self, state):
        self.shares = {}


class RoundsOnSave(Remembers):
    def advantages(self, groups, advantages, evidence):
        visits = [self.shares.get(str(index), []) for index in groups.index]
        return np.array([np.mean([share for _, share in row]) if row else 1.0 for row in visits])

    def state_dict(self):
        return {"shares": {key: [[s, round(x, 2)] for s, x in self.shares[key]] for key in sorted(self.shares)}}


class ReturnsItsLiveState(Remembers):
    def state_dict(self):
        return {"shares": self.shares}


class HidesItsState(Remembers):
    stateful = False


class DividesByTheUnlabelled(Broken):
    def admit(self, groups, targets):
        share = 1 / int((~groups.labelled).sum())
        return np.full(len(groups), share > 0)


class RewardsFailedRollouts(Scores):
    def rewards(self, groups, verified, evidence):
        return np.where(groups.lengths == 0, 1.0, super().rewards(groups, verified, evidence))


class HasNoScoreForFailedRollouts(Scores):
    def rewards(self, groups, verified, evidence):
        return np.where(groups.lengths == 0, np.nan, super().rewards(groups, verified, evidence))


class OverlooksEvidenceThatIsNotFinite(Scores):
    def score(self, tokens):
        return super().score(np.nan_to_num(tokens))


class NamesNoItem(Scores):
    pass


class AddsTokensUp(Scores):
    def score(self, tokens):
        return tokens.sum()


class ComparesWithTheBatch(Scores):
    def rewards(self, groups, verified, evidence):
        scores = super().rewards(groups, verified, evidence)
        return np.where(groups.labelled[:, None], verified, scores - scores.mean())


LABELLED_RULE = "test_a_labelled_prompt_keeps_its_label_its_verified_reward_and_its_weight"
TRUTH_RULE = "test_it_reads_the_hidden_truth_exactly_if_it_declares_so"
NO_TARGET_RULE = "test_without_a_target_no_answer_is_right"
PROMPTS_RULE = "test_the_order_of_the_prompts_changes_nothing_but_the_order"
ROLLOUTS_RULE = "test_the_order_of_the_rollouts_changes_nothing_but_the_order"
TWICE_RULE = "test_an_item_that_is_twice_in_a_batch_is_remembered_once"
RESUME_RULE = "test_a_resumed_run_continues_as_if_it_had_never_stopped"
EDGE_RULE = "test_a_batch_at_the_edge_is_legal_and_so_is_the_next"
EVIDENCE_RULE = "test_evidence_that_is_not_finite_stops_the_method_and_names_the_item"
FAILED_RULE = "test_a_failed_rollout_scores_no_more_than_any_other_of_its_group"
SPOILT = {"bad": np.nan, "items": contract.UNLABELLED[1:5]}


@pytest.mark.parametrize(
    ("cls", "rule", "arguments"),
    [
        (ReplacesLabels, LABELLED_RULE, {}),
        (DropsLabelledPrompts, LABELLED_RULE, {}),
        (WeighsLabelledPromptsDown, LABELLED_RULE, {}),
        (ChangesWhatItIsGiven, LABELLED_RULE, {}),
        (ReadsTheTruth, TRUTH_RULE, {}),
        (ReadsLabelsThatWereNotGiven, TRUTH_RULE, {}),
        (DeclaresTheTruthForNothing, TRUTH_RULE, {}),
        (LetsTheFirstAnswerWin, NO_TARGET_RULE, {"answers": ["4"] * 4 + ["5"] * 4}),
        (LetsTheFirstAnswerWin, ROLLOUTS_RULE, {}),
        (AdmitsTheFirstHalfOfTheBatch, PROMPTS_RULE, {}),
        (DrawsByPosition, PROMPTS_RULE, {}),
        (DrawsByPosition, ROLLOUTS_RULE, {}),
        (DrawsFromGlobalNumbers, RESUME_RULE, {}),
        (RemembersInTheOrderOfTheBatch, PROMPTS_RULE, {}),
        (RemembersEveryCopy, TWICE_RULE, {}),
        (ForgetsOnResume, RESUME_RULE, {}),
        (RoundsOnSave, RESUME_RULE, {}),
        (ReturnsItsLiveState, "test_its_state_is_a_snapshot", {}),
        (HidesItsState, "test_it_declares_state_exactly_if_it_has_any", {}),
        (DividesByTheUnlabelled, EDGE_RULE, {"items": contract.LABELLED, "changes": {}, "experienced": False}),
        (RewardsFailedRollouts, FAILED_RULE, {}),
        (HasNoScoreForFailedRollouts, FAILED_RULE, {}),
        (OverlooksEvidenceThatIsNotFinite, EVIDENCE_RULE, SPOILT),
        (NamesNoItem, EVIDENCE_RULE, SPOILT),
        (AddsTokensUp, "test_a_mean_over_tokens_does_not_depend_on_the_length", {}),
        (ComparesWithTheBatch, "test_a_mean_over_tokens_does_not_depend_on_the_tokens_of_others", {}),
    ],
)
def test_a_method_that_breaks_a_rule_is_caught(cls, rule, arguments, tmp_path):
    if rule in (RESUME_RULE, "test_its_state_is_a_snapshot"):
        arguments = {**arguments, "tmp_path": tmp_path}
    with pytest.raises((AssertionError, MethodError, ValueError, ZeroDivisionError, pytest.fail.Exception)):
        getattr(contract, rule)("broken", cls, **arguments)


@pytest.mark.parametrize("cls", [Broken, Remembers, Scores])
def test_what_the_broken_methods_are_built_from_is_not_broken(cls, tmp_path):
    contract.test_a_labelled_prompt_keeps_its_label_its_verified_reward_and_its_weight("broken", cls)
    contract.test_the_order_of_the_prompts_changes_nothing_but_the_order("broken", cls)
    contract.test_the_order_of_the_rollouts_changes_nothing_but_the_order("broken", cls)
    contract.test_an_item_that_is_twice_in_a_batch_is_remembered_once("broken", cls)
    contract.test_its_state_is_a_snapshot("broken", cls, tmp_path)


def test_the_drawn_items_are_visited_unequally_often_and_some_labels_are_wrong():
    visits = np.zeros(40, dtype=int)
    for epoch in range(1, STEPS + 1):
        visits[epoch_items(epoch)] += 1
    assert visits.min() < visits.max()
    assert [label_of(item) for item in contract.LABELLED].count(TRUTH) == 7  # of 10
    assert {label_of(item) for item in contract.UNLABELLED} == {None}


def test_the_drawn_steps_outlast_the_warm_ups_of_the_methods_that_have_one():
    def last(name):
        cls = method_class(name)
        method = cls()
        *_, outcome = [run_step(method, step) for step in training_steps(cls)]
        return outcome

    unlabelled = np.array([label_of(int(item)) is None for item in epoch_items(STEPS)])
    assert last("trapo").admitted[unlabelled].any()
    assert 0 < last("geomin").weights[unlabelled].mean() < 1
    assert TargetSource.REFINED in last("olr").decision.targets.sources
