import numpy as np
import pytest
from rollouts import make_groups

from benchmark.errors import MethodError
from methods.base import TrainingRows
from methods.co_rewarding_i import CoRewardingI
from methods.groups import NoTarget, TargetSource
from methods.verification import verify


def paired(answers, index, partner, labels=None):
    return make_groups(answers, labels, index=np.array(index), partner=np.array(partner))


def test_the_views_of_a_question_vote_for_each_other():
    groups = paired([["4", "4", "5"], ["5", "5", "4"]], index=[10, 11], partner=[11, 10])
    targets = CoRewardingI().targets(groups)
    assert targets.values == ("5", "4")
    assert targets.sources == (TargetSource.PSEUDO, TargetSource.PSEUDO)
    assert targets.confidence == pytest.approx([2 / 3, 2 / 3])
    assert verify(groups, targets).tolist() == [[0, 0, 1], [0, 0, 1]]


def test_a_labelled_row_keeps_its_label_and_still_votes_for_its_paraphrase():
    groups = paired([["4", "4"], ["5", "5"]], index=[10, 11], partner=[11, 10], labels=["9", None])
    targets = CoRewardingI().targets(groups)
    assert targets.values == ("9", "4")
    assert targets.sources == (TargetSource.GIVEN, TargetSource.PSEUDO)


@pytest.mark.parametrize("partner", [-1, 99])
def test_a_row_whose_paraphrase_is_not_in_the_batch_has_no_target(partner):
    targets = CoRewardingI().targets(paired([["4", "4"]], index=[10], partner=[partner]))
    assert isinstance(targets.values[0], NoTarget)
    assert targets.sources == (TargetSource.NONE,)


def test_a_tie_or_silence_on_the_paraphrase_gives_no_target():
    groups = paired([["4", "4"], ["5", "6"], ["7", "7"], [None, None]], [10, 11, 12, 13], [11, 10, 13, 12])
    targets = CoRewardingI().targets(groups)
    assert [isinstance(value, NoTarget) for value in targets.values] == [True, False, True, False]
    assert targets.confidence.tolist() == [0.5, 1.0, 0.0, 1.0]


def test_all_rows_of_a_repeated_paraphrase_vote_in_whatever_order_they_stand():
    answers = {"x": ["1", "1", "1"], "first": ["4", "4", "6"], "second": ["5", "5", "6"], "third": ["4", "7", "8"]}
    # 4 three times of 9; the row that comes first would say 4 or 5, or nothing
    for order in (["first", "second", "third"], ["second", "third", "first"], ["third", "first", "second"]):
        rows = [answers["x"], *(answers[name] for name in order)]
        targets = CoRewardingI().targets(paired(rows, index=[10, 11, 11, 11], partner=[11, 10, 10, 10]))
        assert targets.values == ("4", "1", "1", "1")
        assert targets.confidence[0] == pytest.approx(3 / 9)


def test_the_order_of_the_prompts_changes_nothing():
    forward = paired([["4", "4"], ["5", "5"], ["6", "6"], ["7", "7"]], [10, 11, 12, 13], [11, 10, 13, 12])
    backward = paired([["7", "7"], ["6", "6"], ["5", "5"], ["4", "4"]], [13, 12, 11, 10], [12, 13, 10, 11])
    assert CoRewardingI().targets(forward).values == CoRewardingI().targets(backward).values[::-1]


def test_rows_without_pairs_are_refused():
    with pytest.raises(MethodError, match="needs pairs: found no partners in step 1; fix"):
        CoRewardingI().targets(make_groups([["4", "4"]]))


def test_it_asks_for_paired_rows():
    assert CoRewardingI.rows is TrainingRows.PAIRED
