import numpy as np
from rollouts import make_groups

from methods.base import LabelNeed
from methods.format_reward import FormatReward
from methods.groups import Evidence


def test_any_answer_is_rewarded_and_none_is_not():
    groups = make_groups([["4", None, "nonsense", ""], [None, None, "  ", "9"]])
    rewards = FormatReward().rewards(groups, np.zeros((2, 4)), Evidence())
    assert rewards.tolist() == [[1, 0, 1, 0], [0, 0, 0, 1]]


def test_a_wrong_answer_to_a_labelled_item_is_rewarded_too():
    groups = make_groups([["4", "5", None]], labels=["5"])
    assert FormatReward().rewards(groups, np.array([[0.0, 1, 0]]), Evidence()).tolist() == [[1, 1, 0]]
    assert FormatReward.label_need is LabelNeed.IGNORED


def test_a_step_without_prompts_has_no_rewards():
    assert FormatReward().rewards(make_groups([]), np.zeros((0, 0)), Evidence()).shape == (0, 0)
