"""What all rewards made of token statistics have in common."""

from dataclasses import replace

import numpy as np
import pytest
from rollouts import make_evidence, make_groups

from benchmark.errors import MethodError
from methods.groups import Evidence, EvidenceKind
from methods.intrinsic_rewards import token_scores, with_verified_labels
from methods.self_certainty import SelfCertainty
from methods.seq_entropy import SeqEntropy, SeqEntropyOptions
from methods.seq_prob import SeqProb, SeqProbOptions
from methods.tok_entropy import TokEntropy, TokEntropyOptions

METHODS = [
    SelfCertainty(),
    TokEntropy(),
    TokEntropy(TokEntropyOptions(agg="sum")),
    SeqEntropy(),
    SeqEntropy(SeqEntropyOptions(agg="sum")),
    SeqProb(),
    SeqProb(SeqProbOptions(relative=True)),
]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}-{method.options}")
LENGTHS = np.array([[3, 20, 0, 7], [1, 300, 5, 9], [0, 0, 0, 0]])


def ragged_groups(labels=(None, None, None), **fields):
    return make_groups([["4", "4", None, "5"]] * 3, labels, lengths=LENGTHS, **fields)


def rewards(method, groups, evidence=None, verified=None):
    evidence = make_evidence(groups, method.evidence) if evidence is None else evidence
    verified = np.zeros(groups.lengths.shape) if verified is None else verified
    return method.rewards(groups, verified, evidence)


@every_method
def test_labelled_items_are_rewarded_for_being_right(method):
    groups = ragged_groups(labels=["4", None, "4"])
    verified = np.array([[1.0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    found = rewards(method, groups, verified=verified)
    assert found[[0, 2]].tolist() == verified[[0, 2]].tolist()
    assert (found[1] != 0).all()


@every_method
def test_a_rollout_without_tokens_scores_as_the_worst_of_its_group(method):
    found = rewards(method, ragged_groups())
    assert found[0, 2] == found[0, [0, 1, 3]].min()
    assert np.unique(found[0, [0, 1, 3]]).size == 3


@every_method
def test_a_group_without_any_token_scores_zero(method):
    assert rewards(method, ragged_groups())[2].tolist() == [0, 0, 0, 0]


@every_method
def test_permuting_prompts_and_rollouts_permutes_the_rewards_bit_for_bit(method):
    groups = ragged_groups()
    kind = next(iter(method.evidence)).value
    values = getattr(make_evidence(groups, method.evidence), kind)
    prompts, rollouts = [2, 0, 1], [3, 1, 0, 2]
    permuted = make_groups(
        [[groups.answers[b][g] for g in rollouts] for b in prompts],
        index=groups.index[prompts],
        lengths=LENGTHS[prompts][:, rollouts],
    )
    moved = Evidence(**{kind: tuple(tuple(values[b][g] for g in rollouts) for b in prompts)})
    expected = rewards(method, groups, Evidence(**{kind: values}))[prompts][:, rollouts]
    assert rewards(method, permuted, moved).tolist() == expected.tolist()


@every_method
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_evidence_that_is_not_finite_names_the_item(method, value):
    groups = ragged_groups(index=np.array([11, 22, 33]), step=7)
    evidence = make_evidence(groups, method.evidence)
    getattr(evidence, next(iter(method.evidence)).value)[1][0][0] = (
        value  # the rollout with one token, after a failed one
    )
    with pytest.raises(MethodError, match=r"is not finite: found .* at item 22 in step 7"):
        rewards(method, groups, evidence)


@every_method
def test_evidence_that_was_not_recorded_is_named(method):
    with pytest.raises(MethodError, match="is absent in step 1; fix"):
        rewards(method, ragged_groups(), Evidence())


@every_method
def test_a_step_without_prompts_has_no_rewards(method):
    groups = make_groups([])
    assert rewards(method, groups).shape == (0, 0)


def test_the_mean_is_over_the_tokens_of_one_rollout_alone():
    groups = make_groups([["4", "5"]], lengths=np.array([[2, 3]]))
    evidence = Evidence(entropy=((np.array([1.0, 2.0]), np.array([4.0, 4.0, 1.0])),))
    assert token_scores(groups, evidence, EvidenceKind.ENTROPY, "mean").tolist() == [[1.5, 3.0]]
    assert token_scores(groups, evidence, EvidenceKind.ENTROPY, "sum").tolist() == [[3.0, 9.0]]


@pytest.mark.parametrize("method", [SelfCertainty(), TokEntropy(), SeqEntropy()], ids=lambda method: method.name)
def test_saying_everything_twice_leaves_a_mean_reward_as_it_is(method):
    groups = ragged_groups()
    kind = next(iter(method.evidence)).value
    values = getattr(make_evidence(groups, method.evidence), kind)
    twice = Evidence(**{kind: tuple(tuple(np.repeat(tokens, 2) for tokens in row) for row in values)})
    longer = replace(groups, lengths=2 * LENGTHS)
    assert rewards(method, longer, twice) == pytest.approx(rewards(method, groups, Evidence(**{kind: values})))


def test_a_missing_score_becomes_the_smallest_of_its_own_group():
    groups = make_groups([["4", "5", "6"], ["4", "5", "6"]])
    scores = np.array([[-1.0, np.nan, -3.0], [np.nan, np.nan, np.nan]])
    assert with_verified_labels(groups, np.zeros((2, 3)), scores).tolist() == [[-1.0, -3.0, -3.0], [0, 0, 0]]
