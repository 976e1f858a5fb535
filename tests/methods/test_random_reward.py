from dataclasses import replace

import numpy as np
import pytest
from rollouts import make_groups

from methods.base import LabelNeed, Module
from methods.groups import Evidence
from methods.random_reward import RandomReward, RandomRewardOptions


def tossed(groups, **options):
    method = RandomReward(RandomRewardOptions(**options))
    return method.rewards(groups, np.full(groups.lengths.shape, 9.0), Evidence())


def many(prompts=200, rollouts=50, **fields):
    return make_groups([["4"] * rollouts] * prompts, **fields)


def test_half_of_the_rollouts_are_rewarded_whatever_they_answer():
    # 10,000 tosses: the share has a standard deviation of .005
    found = tossed(many())
    assert set(np.unique(found)) == {0.0, 1.0}
    assert abs(found.mean() - 0.5) < 0.025


def test_labels_and_answers_play_no_part():
    groups = many(4, 8)
    labelled = make_groups([[str(g) for g in range(8)]] * 4, labels=["4"] * 4)
    assert tossed(labelled).tolist() == tossed(groups).tolist()
    assert RandomReward.label_need is LabelNeed.IGNORED
    assert RandomReward.module is Module.CONTROL


def test_permuting_prompts_and_rollouts_permutes_the_rewards():
    groups = many(6, 8)
    prompts, rollouts = [3, 5, 0, 1, 4, 2], [7, 0, 2, 1, 6, 5, 3, 4]
    moved = replace(groups, index=groups.index[prompts], rollout=groups.rollout[prompts][:, rollouts])
    assert tossed(moved).tolist() == tossed(groups)[prompts][:, rollouts].tolist()


def test_a_step_can_be_repeated_and_the_next_one_is_tossed_anew():
    assert tossed(many()).tolist() == tossed(many()).tolist()
    for other in (tossed(many(step=2)), tossed(many(), seed=1)):
        assert abs((other == tossed(many())).mean() - 0.5) < 0.025


def test_the_coin_can_be_loaded():
    assert tossed(many(), probability=0.0).max() == 0
    assert tossed(many(), probability=1.0).min() == 1


def test_a_failed_rollout_is_never_rewarded():
    lengths = np.full((200, 50), 5)
    lengths[:, 0] = 0
    found = tossed(many(lengths=lengths), probability=1.0)
    assert found[:, 0].max() == 0
    assert found[:, 1:].min() == 1


@pytest.mark.parametrize("options", [{"probability": 1.5}, {"probability": float("nan")}, {"seed": 0.5}])
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match="allowed"):
        RandomRewardOptions(**options)
