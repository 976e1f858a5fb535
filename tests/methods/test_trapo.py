import json
from dataclasses import replace

import numpy as np
import pytest
from rollouts import make_groups

from methods.groups import NoTarget, TargetSource
from methods.trapo import TraPO, TraPOOptions

RISING, FALLING, FLAT = (2, 3, 4, 6), (6, 4, 3, 2), (4, 4, 4, 4)  # rollouts of 8 that agree, per pass
READY = TraPOOptions(warm_up=0)


def group_with(agreeing):
    """Eight answers, `agreeing` of which are 1 and the others all different."""
    return ["1"] * agreeing + [str(k) for k in range(10, 18 - agreeing)]


def batch(rows, labelled, epoch):
    """One step that visits every item; `rows` maps an index to the rollouts that agree in each pass."""
    answers = [group_with(agreeing[epoch]) for agreeing in rows.values()]
    labels = ["1" if index in labelled else None for index in rows]
    return make_groups(answers, labels, index=np.array(list(rows)), step=epoch + 1, epoch=epoch)


def admitted_after(method, rows, labelled, passes=4):
    """Run whole passes and return the indices that the last one admits."""
    for epoch in range(passes):
        groups = batch(rows, labelled, epoch)
        admitted = method.admit(groups, method.targets(groups))
    return set(groups.index[admitted].tolist())


def rates(method):
    state = method.state_dict()
    return {int(k): v["entries"] for part in ("labelled", "unlabelled") for k, v in state[part].items()}


def test_pass_rates_are_against_the_label_or_the_own_majority():
    method = TraPO()
    rows = [["7", "4", "4", "4"], ["5", "5", "5", "6"], ["5", "5", "6", "6"], [None, None, None, None]]
    method.targets(make_groups(rows, ["7", None, None, None]))
    assert rates(method) == {100: [0.25], 101: [0.75], 102: [0.0], 103: [0.0]}


def test_targets_are_the_label_or_the_majority_of_this_visit():
    targets = TraPO().targets(make_groups([["4", "4", "5"], ["4", "4", "5"], ["4", "5", "6"]], ["7", None, None]))
    assert targets.values[:2] == ("7", "4")
    assert isinstance(targets.values[2], NoTarget)
    assert targets.sources == (TargetSource.GIVEN, TargetSource.PSEUDO, TargetSource.NONE)
    assert targets.confidence[1:] == pytest.approx([2 / 3, 1 / 3])


def test_only_labelled_items_are_trained_on_during_the_warm_up():
    rows = {1: (2, 3, 4, 4, 5, 5, 6, 6, 7), 2: (2, 3, 4, 4, 5, 5, 6, 6, 7)}
    assert admitted_after(TraPO(), rows, {1}, passes=8) == {1}  # passes 0 to 7
    assert admitted_after(TraPO(), rows, {1}, passes=9) == {1, 2}


def test_a_score_of_gamma_admits_and_a_lower_one_does_not():
    rows = {1: RISING, 2: RISING, 3: FALLING, 4: FLAT}
    assert admitted_after(TraPO(READY), rows, {1}) == {1, 2}


def test_the_best_share_of_a_batch_is_admitted_whatever_its_score():
    rows = {1: RISING} | dict.fromkeys(range(2, 32), FALLING) | {50: FLAT}
    # 31 unlabelled items: floor(.1 * 31) = 3 places; FLAT scores 0, the others below it, ties by index
    assert admitted_after(TraPO(READY), rows, {1}) == {1, 50, 2, 3}


@pytest.mark.parametrize(("unlabelled", "places"), [(1, 1), (9, 1), (20, 2), (30, 3), (70, 7)])
def test_the_share_is_rounded_down_to_at_least_one_item(unlabelled, places):
    rows = {1: RISING} | dict.fromkeys(range(2, 2 + unlabelled), FALLING)
    assert len(admitted_after(TraPO(READY), rows, {1})) == 1 + places


def test_without_labelled_items_nothing_is_admitted():
    assert admitted_after(TraPO(READY), {1: RISING, 2: RISING}, set()) == set()


def test_a_batch_without_labelled_items_uses_the_labelled_ones_seen_before():
    method = TraPO(READY)
    admitted_after(method, {1: RISING, 2: RISING}, {1})
    later = batch({2: RISING}, set(), 3)
    assert method.admit(later, method.targets(later)).tolist() == [True]


def test_an_item_with_fewer_visits_than_the_labelled_ones_is_not_admitted():
    method = TraPO(READY)
    admitted_after(method, {1: RISING}, {1}, passes=3)
    assert admitted_after(method, {1: RISING, 2: RISING}, {1}, passes=4) == {1, 2}  # four visits of 2, four of 1
    method = TraPO(READY)
    admitted_after(method, {1: RISING}, {1}, passes=4)
    late = batch({2: RISING}, set(), 3)
    assert method.admit(late, method.targets(late)).tolist() == [False]


def test_a_single_visit_admits_nothing_unlabelled():
    assert admitted_after(TraPO(READY), {1: RISING, 2: RISING}, {1}, passes=1) == {1}


def test_the_uncentred_form_also_admits_falling_pass_rates():
    rows = {1: RISING, 2: FALLING, 3: FLAT}
    assert admitted_after(TraPO(TraPOOptions(warm_up=0, tcs="uncentred")), rows, {1}) == {1, 2, 3}


@pytest.mark.parametrize(("update", "admitted"), [(False, {4}), (True, {3, 4})])
def test_an_admitted_item_can_count_as_reliable_for_the_rest_of_the_pass(update, admitted):
    zigzag = (2, 6, 2, 6)  # centred (-1, 1, -1, 1); correlation with RISING 3 / (2 * 2.958) = .507
    method = TraPO(TraPOOptions(warm_up=3, gamma=0.7, update_db=update))
    admitted_after(method, {1: RISING, 2: zigzag, 3: zigzag, 4: RISING}, {1}, passes=3)
    for step, rows in ((10, {1: RISING, 2: zigzag}), (11, {3: zigzag, 4: RISING})):
        groups = replace(batch(rows, {1}, 3), step=step)
        chosen = method.admit(groups, method.targets(groups))
    # 2 and 4 are the best of their batches; 3 scores .507 against RISING, (.507 + 1) / 2 = .754 against both
    assert set(groups.index[chosen].tolist()) == admitted


def test_reliable_items_are_forgotten_when_one_of_them_returns():
    method = TraPO(TraPOOptions(warm_up=0, update_db=True))
    admitted_after(method, {1: RISING, 2: RISING}, {1})
    assert method.state_dict()["trusted"] == [2]
    method.targets(make_groups([group_with(5)], index=np.array([2]), step=9, epoch=4))
    assert method.state_dict()["trusted"] == []


def test_a_duplicate_in_a_batch_adds_one_entry():
    method = TraPO(READY)
    rows = [group_with(6), group_with(6), group_with(3)]
    targets = method.targets(make_groups(rows, ["1", "1", None], index=np.array([5, 5, 6])))
    assert rates(method) == {5: [0.75], 6: [0.375]}
    assert targets.values == ("1", "1", "1")


def test_decisions_and_state_do_not_depend_on_the_order_of_prompts_or_rollouts():
    rng = np.random.default_rng(3)
    rows = {index: tuple(rng.integers(1, 8, 5)) for index in range(40)}
    one, other = TraPO(READY), TraPO(READY)
    for epoch in range(5):
        groups = batch(rows, set(range(5)), epoch)
        order = rng.permutation(len(groups))
        answers = [tuple(rng.permutation(np.array(groups.answers[b], dtype=object))) for b in order]
        labels = ["1" if index < 5 else None for index in groups.index[order]]
        shuffled = make_groups(answers, labels, index=groups.index[order], step=epoch + 1, epoch=epoch)
        admitted = one.admit(groups, one.targets(groups))
        assert other.admit(shuffled, other.targets(shuffled)).tolist() == admitted[order].tolist()
    assert 5 < admitted.sum() < 40
    assert json.dumps(one.state_dict()) == json.dumps(other.state_dict())


def test_a_resumed_run_decides_like_an_undisturbed_one():
    rows = {1: RISING, 2: RISING, 3: FALLING, 4: FLAT}
    options = TraPOOptions(warm_up=0, update_db=True)
    straight, resumed = TraPO(options), TraPO(options)
    for epoch in range(4):
        groups = batch(rows, {1}, epoch)
        expected = straight.admit(groups, straight.targets(groups))
        assert resumed.admit(groups, resumed.targets(groups)).tolist() == expected.tolist()
        saved = json.loads(json.dumps(resumed.state_dict()))
        resumed = TraPO(options)
        resumed.load_state_dict(saved)
        assert resumed.state_dict() == straight.state_dict()


def test_groups_without_answers_or_with_one_rollout_are_legal():
    method = TraPO(READY)
    for step in (1, 2):
        for groups in (make_groups([[None, None]], step=step), make_groups([["1"], ["2"]], ["1", None], step=step + 2)):
            assert method.admit(groups, method.targets(groups)).shape == (len(groups),)
    empty = make_groups([], step=9)
    assert method.admit(empty, method.targets(empty)).shape == (0,)


@pytest.mark.parametrize("wrong", [{"warm_up": -1}, {"top_p": 0.0}, {"gamma": float("nan")}, {"tcs": "pearson"}])
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found .*, allowed"):
        TraPOOptions(**wrong)
