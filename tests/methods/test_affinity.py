import math

import numpy as np
import pytest
from rollouts import make_groups

from methods.affinity import RecentAffinities, group_affinity
from methods.feature_bank import step_features


def found_of(present):
    groups = make_groups([["a"] * len(row) for row in present])
    state, nothing = np.ones((1, 2), np.float32), np.zeros((0,), np.float32)
    return step_features(groups, tuple(tuple(state if yes else nothing for yes in row) for row in present))


def test_the_affinity_is_the_mean_log_sigmoid_of_the_fits():
    found = found_of([[True, True, True]])
    affinity = group_affinity(np.array([2.0, 1.0, -3.0]), found, np.array([[True, True, False]]))
    # majority: log sigmoid(2) = -.126928, log sigmoid(1) = -.313262; minority: log sigmoid(3) = -.048587
    assert affinity == pytest.approx([-0.488777 / 3], abs=1e-6)


def test_a_group_that_looks_the_wrong_way_round_has_a_low_affinity():
    found = found_of([[True, True], [True, True]])
    affinity = group_affinity(np.array([4.0, -4.0, -4.0, 4.0]), found, np.array([[True, False], [True, False]]))
    assert affinity == pytest.approx([-math.log1p(math.exp(-4)), -math.log1p(math.exp(4))])


def test_rollouts_that_failed_are_left_out_of_the_mean():
    found = found_of([[True, False], [False, False]])
    affinity = group_affinity(np.array([1.0]), found, np.array([[True, False], [False, False]]))
    assert affinity[0] == pytest.approx(-math.log1p(math.exp(-1)))
    assert np.isnan(affinity[1])


def test_extreme_scores_stay_finite():
    assert np.isfinite(group_affinity(np.array([-1e6]), found_of([[True]]), np.array([[True]]))).all()


def test_affinities_are_kept_by_step_and_index_for_a_number_of_steps():
    recent = RecentAffinities(steps=2)
    recent.add(1, np.array([5]), np.array([-9.0]))
    recent.add(2, np.array([4, 3]), np.array([-0.4, -0.3]))
    recent.add(3, np.array([8, 2]), np.array([-0.8, -0.2]))
    assert recent.values.tolist() == [-0.3, -0.4, -0.2, -0.8]
    recent.add(3, np.array([2]), np.array([-0.1]))  # a step that is seen again replaces itself
    assert recent.values.tolist() == [-0.3, -0.4, -0.1]


def test_affinities_survive_a_checkpoint():
    recent, restored = RecentAffinities(steps=2), RecentAffinities(steps=2)
    recent.add(1, np.array([5]), np.array([-0.1]))
    restored.restore(recent.as_state())
    for each in (recent, restored):
        each.add(2, np.array([1]), np.array([-0.2]))
    assert recent.values.tolist() == restored.values.tolist() == [-0.1, -0.2]
