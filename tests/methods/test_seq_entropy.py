import numpy as np
import pytest
from rollouts import make_groups

from methods.groups import Evidence
from methods.seq_entropy import SeqEntropy, SeqEntropyOptions

GROUPS = make_groups([["4", "5"]], lengths=np.array([[2, 4]]))
EVIDENCE = Evidence(log_probs=((np.array([-0.5, -1.5]), np.array([-0.5, -0.5, -1.0, -1.0])),))


def test_the_reward_is_the_mean_log_probability():
    assert SeqEntropy().rewards(GROUPS, np.zeros((1, 2)), EVIDENCE).tolist() == [[-1.0, -0.75]]


def test_the_sum_of_the_paper_prefers_the_shorter_response():
    method = SeqEntropy(SeqEntropyOptions(agg="sum"))
    assert method.rewards(GROUPS, np.zeros((1, 2)), EVIDENCE).tolist() == [[-2.0, -3.0]]


def test_an_unknown_aggregate_is_refused():
    with pytest.raises(ValueError, match="agg: found 'max', allowed mean, sum"):
        SeqEntropyOptions(agg="max")
