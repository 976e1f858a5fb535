from dataclasses import replace

import numpy as np
import pytest
from rollouts import make_groups

from benchmark.errors import MethodError
from methods.geomin import GeoMin, GeoMinOptions
from methods.groups import Evidence, NoTarget, TargetSource

G, WIDTH = 8, 16
SMALL = GeoMinOptions(min_class=8, min_affinities=16)


def world(step, labelled=8, unlabelled=40, signal=3.0, wrong_share=0.5, seed=0):
    """One step in which 1 is always right and the majority of an unlabelled group may be wrong (answer 2).

    The first of two layers moves with correctness by `signal`, the second is noise. Returns the groups, the
    evidence and whether the majority of each group is right.
    """
    rng = np.random.default_rng([seed, step])
    right = np.concatenate([np.ones(labelled, bool), rng.random(unlabelled) >= wrong_share])
    answers = [rng.permutation(["1"] * (5 if ok else 3) + ["2"] * (3 if ok else 5)).tolist() for ok in right]
    labels = ["1"] * labelled + [None] * unlabelled
    index = 1000 * step + np.arange(len(labels))
    groups = make_groups(answers, labels, index=index, step=step)
    correct = np.array(groups.answers) == "1"
    states = rng.normal(size=(*correct.shape, 2, WIDTH)) + 20
    states[:, :, 0, 0] += signal * correct
    return groups, as_evidence(states.astype(np.float32)), right


def as_evidence(states):
    return Evidence(hidden_states=tuple(tuple(group) for group in states))


def weigh(method, groups, evidence):
    method.targets(groups)
    return method.advantages(groups, np.ones(groups.lengths.shape), evidence)


def shuffled(groups, evidence, rng):
    """Permute the prompts of a step, and the rollouts within each of them."""
    order = rng.permutation(len(groups))
    columns = np.array([rng.permutation(G) for _ in order])
    labels = [groups.labels[b] if groups.labelled[b] else None for b in order]
    pairs = list(zip(order, columns, strict=True))
    other = make_groups(
        [[groups.answers[b][g] for g in row] for b, row in pairs],
        labels,
        index=groups.index[order],
        rollout=np.array([groups.rollout[b][row] for b, row in pairs]),
        step=groups.step,
    )
    states = tuple(tuple(evidence.hidden_states[b][g] for g in row) for b, row in pairs)
    return other, Evidence(hidden_states=states), order


def test_targets_are_the_label_or_the_majority():
    targets = GeoMin().targets(make_groups([["4", "4", "5"], ["4", "4", "5"], ["4", "5", "6"]], ["7", None, None]))
    assert targets.values[:2] == ("7", "4")
    assert isinstance(targets.values[2], NoTarget)
    assert targets.sources == (TargetSource.GIVEN, TargetSource.PSEUDO, TargetSource.NONE)
    assert targets.confidence[1:] == pytest.approx([2 / 3, 1 / 3])


def test_groups_with_a_wrong_majority_are_filtered_and_those_with_a_right_one_kept():
    method = GeoMin(SMALL)
    for step in (1, 2, 3):
        groups, evidence, right = world(step)
        weights = weigh(method, groups, evidence)
    unlabelled = ~groups.labelled
    assert (weights[groups.labelled] == 1).all()
    assert (weights[unlabelled & right] > 0).mean() > 0.9
    assert (weights[unlabelled & ~right] == 0).mean() > 0.9
    assert method.report["two_modes"] == 1
    assert method.report["auroc_of_layer_0"] > 0.9
    assert method.report["chosen_layers"] >= 1


def test_the_decision_uses_the_labelled_rollouts_of_its_own_step():
    groups, evidence, _ = world(1)  # 8 x 5 correct and 8 x 3 incorrect rollouts, 40 unlabelled groups
    weights = weigh(GeoMin(SMALL), groups, evidence)
    assert (weights[~groups.labelled] > 0).any()


@pytest.mark.parametrize(
    ("options", "step"),
    [
        ({"min_class": 25}, {}),  # 24 incorrect labelled rollouts
        ({"min_affinities": 41}, {}),  # 40 unlabelled groups
        ({"min_auroc": 0.99}, {"signal": 0.5}),
        ({}, {"labelled": 0}),
    ],
)
def test_without_enough_to_go_by_only_labelled_items_are_trained_on(options, step):
    groups, evidence, _ = world(1, **step)
    weights = weigh(GeoMin(replace(SMALL, **options)), groups, evidence)
    assert weights.tolist() == groups.labelled.astype(float).tolist()


def test_the_thresholds_above_are_tight():
    groups, evidence, _ = world(1)
    weights = weigh(GeoMin(GeoMinOptions(min_class=24, min_affinities=40)), groups, evidence)
    assert weights.sum() > groups.labelled.sum()


def test_ties_have_weight_zero_and_no_affinity():
    groups, evidence, _ = world(1)
    answers = [*groups.answers[:-1], tuple(["1"] * 4 + ["2"] * 4)]
    method = GeoMin(SMALL)
    weights = weigh(method, replace(groups, answers=tuple(answers)), evidence)
    assert weights[-1] == 0
    assert method.report["recent_groups"] == 39


def test_weights_are_zero_the_reliability_or_one():
    method = GeoMin(replace(SMALL, mixture=False))  # ranks: (k + 1/2) / 40 for the k-th of 40 groups
    groups, evidence, _ = world(1)
    weights = np.sort(weigh(method, groups, evidence)[~groups.labelled])
    # below .5: 20 groups; .5 to .8: ranks 20.5 / 40 to 31.5 / 40; from .8: 32.5 / 40 on
    expected = [0.0] * 20 + [(k + 0.5) / 40 for k in range(20, 32)] + [1.0] * 8
    assert weights == pytest.approx(expected)


def test_the_fit_falls_back_to_all_rollouts_where_boundary_groups_are_too_few():
    groups, evidence, _ = world(1)
    answers = [("1",) * G if i < 4 else ("2",) * G if i < 8 else row for i, row in enumerate(groups.answers)]
    states = np.array(evidence.hidden_states)
    states[:4, :, 0, 0], states[4:8, :, 0, 0] = 24, 20
    method = GeoMin(SMALL)
    weights = weigh(method, replace(groups, answers=tuple(answers)), as_evidence(states))
    assert method.report["bank_boundary_rollouts"] == 0
    assert method.report["bank_rollouts"] == 64
    assert weights.sum() > groups.labelled.sum()


@pytest.mark.parametrize("options", [{}, {"mixture": False}, {"shared_kappa": False}, {"centred": False}])
def test_decisions_and_state_do_not_depend_on_the_order_of_prompts_or_rollouts(options):
    rng = np.random.default_rng(5)
    one, other = GeoMin(replace(SMALL, **options)), GeoMin(replace(SMALL, **options))
    for step in (1, 2):
        groups, evidence, _ = world(step, signal=1.5)
        moved, moved_evidence, order = shuffled(groups, evidence, rng)
        weights = weigh(one, groups, evidence)
        assert weigh(other, moved, moved_evidence).tobytes() == weights[order].tobytes()
    for name, array in one.state_dict().items():
        assert other.state_dict()[name].tobytes() == array.tobytes()


def test_an_index_that_occurs_twice_is_remembered_once():
    groups, evidence, _ = world(1)
    twice = [*range(len(groups)), 0, len(groups) - 1]
    labels = [groups.labels[b] if groups.labelled[b] else None for b in twice]
    doubled = make_groups([groups.answers[b] for b in twice], labels, index=groups.index[twice])
    states = tuple(evidence.hidden_states[b] for b in twice)
    one, other = GeoMin(SMALL), GeoMin(SMALL)
    weights = weigh(one, groups, evidence)
    assert weigh(other, doubled, Evidence(hidden_states=states)).tolist() == weights[twice].tolist()
    for name, array in one.state_dict().items():
        assert other.state_dict()[name].tobytes() == array.tobytes()


def test_a_resumed_run_decides_like_an_undisturbed_one():
    straight, resumed = GeoMin(SMALL), GeoMin(SMALL)
    for step in range(1, 13):
        groups, evidence, _ = world(step, signal=1.0)
        expected = weigh(straight, groups, evidence)
        assert weigh(resumed, groups, evidence).tobytes() == expected.tobytes()
        saved = {name: array.copy() for name, array in resumed.state_dict().items()}
        resumed = GeoMin(SMALL)
        resumed.load_state_dict(saved)


def test_rollouts_that_failed_take_no_part():
    groups, evidence, _ = world(1)
    states = [list(group) for group in evidence.hidden_states]
    answers = [list(row) for row in groups.answers]
    for b in (0, -1):
        states[b][0], answers[b][0] = np.zeros((0,), np.float32), None
    states[-2], answers[-2] = [np.zeros((0,), np.float32)] * G, [None] * G
    groups = replace(groups, answers=tuple(tuple(row) for row in answers))
    method = GeoMin(SMALL)
    weights = weigh(method, groups, Evidence(hidden_states=tuple(tuple(row) for row in states)))
    assert np.isfinite(weights).all()
    assert weights[-2] == 0
    assert method.report["bank_rollouts"] == 63


def test_a_step_in_which_every_rollout_failed_is_legal():
    method = GeoMin(SMALL)
    groups, evidence, _ = world(1)
    weigh(method, groups, evidence)
    failed = make_groups([[None] * G] * 2, ["1", None], step=2, lengths=np.zeros((2, G), dtype=np.int64))
    nothing = Evidence(hidden_states=((np.zeros((0,), np.float32),) * G,) * 2)
    assert weigh(method, failed, nothing).tolist() == [1, 0]


def test_hidden_states_that_are_not_finite_are_an_error_that_names_the_item():
    groups, evidence, _ = world(3)
    evidence.hidden_states[4][2][1, 5] = np.inf
    with pytest.raises(MethodError, match=r"item 3004 in step 3"):
        weigh(GeoMin(), groups, evidence)


def test_missing_hidden_states_are_an_error():
    groups, _, _ = world(1)
    with pytest.raises(MethodError, match="needs hidden states"):
        weigh(GeoMin(), groups, Evidence())


def test_the_report_is_rewritten_at_every_step():
    method = GeoMin(SMALL)
    groups, evidence, _ = world(1)
    weigh(method, groups, evidence)
    assert 0 < method.report["admitted_unlabelled_share"] < 1
    method.targets(groups)
    assert method.report == {}


@pytest.mark.parametrize(
    "wrong", [{"bank_steps": 0}, {"min_class": 0}, {"admit_from": 1.5}, {"variance_floor": 0.0}, {"separation": -1.0}]
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found .*, allowed"):
        GeoMinOptions(**wrong)
