import numpy as np
import pytest
from rollouts import make_groups

from methods.groups import Evidence
from methods.seq_entropy import SeqEntropy, SeqEntropyOptions
from methods.seq_prob import SeqProb, SeqProbOptions


def standardised(scores):
    return (scores - scores.mean()) / (scores.std(ddof=1) + 1e-6)


def reward_of(log_probs, method=None):
    groups = make_groups([["4"] * len(log_probs)], lengths=np.array([[len(row) for row in log_probs]]))
    evidence = Evidence(log_probs=(tuple(np.array(row) for row in log_probs),))
    return (method or SeqProb()).rewards(groups, np.zeros(groups.lengths.shape), evidence)[0]


def test_the_reward_is_the_product_of_the_token_probabilities():
    assert reward_of([np.log([0.5, 0.5]), np.log([0.9, 0.8, 0.5])]) == pytest.approx([0.25, 0.36])


def test_the_likeliest_rollout_takes_nearly_all_of_the_advantage_while_the_logarithm_spreads_it():
    # sums -1, -3, -5: probabilities .3679, .0498, .0067 (mean .1415, std .1972) against -1, -3, -5 (mean -3, std 2)
    rows = [[-1.0], [-3.0], [-5.0]]
    assert standardised(reward_of(rows)) == pytest.approx([1.148, -0.465, -0.683], abs=1e-3)
    logarithm = reward_of(rows, SeqEntropy(SeqEntropyOptions(agg="sum")))
    assert standardised(logarithm) == pytest.approx([1, 0, -1], abs=1e-5)


def test_long_responses_vanish_unless_measured_against_the_best_of_their_group():
    rows = [[-1.0] * 1000, [-1.001] * 1000]  # exp(-1000) is 0 in float64; the second is exp(-1) of the first
    assert reward_of(rows).tolist() == [0, 0]
    assert reward_of(rows, SeqProb(SeqProbOptions(relative=True))) == pytest.approx([1, np.exp(-1)], rel=1e-6)


def test_measuring_against_the_best_changes_no_advantage_of_short_responses():
    rows = [[-0.1, -0.2], [-0.5], [-0.3, -0.1, -0.2]]
    relative = reward_of(rows, SeqProb(SeqProbOptions(relative=True)))
    assert standardised(relative) == pytest.approx(standardised(reward_of(rows)), abs=1e-4)


def test_relative_must_be_true_or_false():
    with pytest.raises(ValueError, match="relative: found 'false', allowed true, false"):
        SeqProbOptions(relative="false")
