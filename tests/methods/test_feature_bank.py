import numpy as np
import pytest
from rollouts import make_groups

from benchmark.errors import MethodError
from methods.feature_bank import FeatureBank, step_features

CORRECT = np.array([[True, False], [True, True]])


def numbered(groups, value=lambda index, rollout: 10 * index + rollout):
    """One layer of width 2 per rollout, filled with a number that names the rollout."""
    return tuple(
        tuple(np.full((1, 2), value(int(i), int(r)), dtype=np.float32) for r in rollouts)
        for i, rollouts in zip(groups.index, groups.rollout, strict=True)
    )


def labelled_step(step, index=(1, 2)):
    return make_groups([["4", "5"], ["4", "4"]], ["4", "4"], index=np.array(index), step=step)


def held(bank):
    return list(zip(bank.rows.step.tolist(), bank.rows.features[:, 0, 0].tolist(), strict=True))


def add(bank, groups, correct=CORRECT):
    bank.add(groups, step_features(groups, numbered(groups)), correct)


def test_rollouts_are_stacked_by_index_and_rollout_number():
    groups = make_groups([["a", "b"], ["c", "d"]], index=np.array([7, 3]), rollout=np.array([[1, 0], [0, 1]]))
    found = step_features(groups, numbered(groups))
    assert found.values[:, 0, 0].tolist() == [30, 31, 70, 71]
    assert found.row.tolist() == [1, 1, 0, 0]
    assert found.column.tolist() == [0, 1, 1, 0]


def test_rollouts_without_hidden_states_are_left_out():
    groups = make_groups([["a", "b"]], index=np.array([3]))
    found = step_features(groups, ((np.zeros((0,), np.float32), np.ones((1, 2), np.float32)),))
    assert found.column.tolist() == [1]
    none = step_features(groups, ((np.zeros((0,), np.float32),) * 2,))
    assert none.values.shape == (0, 0, 0)


def test_a_value_that_is_not_finite_names_its_item():
    groups = make_groups([["a", "b"], ["c", "d"]], index=np.array([7, 3]), step=4)
    hidden = numbered(groups, lambda index, rollout: np.nan if (index, rollout) == (7, 1) else 1.0)
    with pytest.raises(MethodError, match=r"not finite: .* item 7 in step 4"):
        step_features(groups, hidden)


def test_the_bank_keeps_labelled_rollouts_with_their_outcome():
    bank = FeatureBank(steps=8, cap=100)
    add(bank, make_groups([["4", "5"], ["4", "4"]], ["4", None], index=np.array([1, 2])))
    assert held(bank) == [(1, 10), (1, 11)]
    assert bank.rows.correct.tolist() == [True, False]


def test_a_group_with_both_outcomes_is_a_boundary_group():
    bank = FeatureBank(steps=8, cap=100)
    add(bank, labelled_step(1))
    assert bank.rows.mixed.tolist() == [True, True, False, False]
    assert bank.rows.smaller_class() == 1


def test_rollouts_are_forgotten_after_their_steps():
    bank = FeatureBank(steps=2, cap=100)
    for step in (1, 2, 3):
        add(bank, labelled_step(step))
    assert [step for step, _ in held(bank)] == [2] * 4 + [3] * 4
    add(bank, make_groups([["4", "5"]] * 2, step=9))
    assert len(bank.rows) == 0


def test_the_newest_rollouts_stay_within_the_cap():
    bank = FeatureBank(steps=8, cap=5)
    add(bank, labelled_step(1))
    add(bank, labelled_step(2))
    assert held(bank) == [(1, 21), (2, 10), (2, 11), (2, 20), (2, 21)]


def test_a_step_that_is_seen_again_replaces_itself():
    bank = FeatureBank(steps=8, cap=100)
    add(bank, labelled_step(1))
    add(bank, labelled_step(1))
    assert len(bank.rows) == 4


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_an_index_that_occurs_twice_is_added_once_whatever_the_order(order):
    rows, states = [["4", "4"], ["5", "4"]], [np.full((1, 2), 2.0, np.float32), np.full((1, 2), 1.0, np.float32)]
    groups = make_groups([rows[b] for b in order], ["4", "4"], index=np.array([6, 6]))
    found = step_features(groups, tuple((states[b],) * 2 for b in order))
    bank = FeatureBank(steps=8, cap=100)
    bank.add(groups, found, np.array([[True, True], [False, True]])[order])
    assert held(bank) == [(1, 2.0), (1, 2.0)]  # the one whose answers come first: 4 4 before 5 4


def test_the_bank_survives_a_checkpoint_bit_for_bit():
    bank, restored = FeatureBank(8, 100), FeatureBank(8, 100)
    restored.restore(bank.as_state())
    assert len(restored.rows) == 0
    add(bank, labelled_step(1))
    restored.restore(bank.as_state())
    for name, array in bank.as_state().items():
        assert restored.as_state()[name].tobytes() == array.tobytes()
        assert restored.as_state()[name].dtype == array.dtype
