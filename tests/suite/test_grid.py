"""Expansion of suites: order, exclusion, de-duplication, and what cannot be run."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.errors import UserError
from benchmark.suite.compose import compose_profile
from benchmark.suite.file import SuiteFile
from benchmark.suite.grid import expand, reference_cell
from benchmark.suite.spec import BASE, NoiseKind
from methods.base import LabelNeed, Method
from methods.registry import _METHODS, register

PROFILE = compose_profile("micro")  # pool 1536, batch 32


def suite(*cells, exclude=(), seeds=(0,), reference=None):
    return SuiteFile.model_validate(
        {
            "name": "sample",
            "version": 1,
            "title": "",
            "profile": "micro",
            "seeds": list(seeds),
            "reference": reference or {"method": "grpo", "label_ratio": 1.0},
            "cells": list(cells),
            "exclude": list(exclude),
        }
    )


def found(*cells, profile=PROFILE, **fields):
    return [
        (cell.method.name, cell.supervision.label_ratio, cell.seed) for cell in expand(suite(*cells, **fields), profile)
    ]


@pytest.fixture
def label_blind():
    class LabelBlind(Method):
        name = "label_blind"
        summary = "never reads a label"
        label_need = LabelNeed.IGNORED

    register(LabelBlind)
    yield "label_blind"
    del _METHODS["label_blind"]


def test_rows_expand_in_order_with_seeds_innermost():
    assert found({"method": ["grpo", "ttrl"], "label_ratio": [0.1, 1.0]}, seeds=(3, 1)) == [
        ("grpo", 0.1, 3),
        ("grpo", 0.1, 1),
        ("grpo", 1.0, 3),
        ("grpo", 1.0, 1),
        ("ttrl", 0.1, 3),
        ("ttrl", 0.1, 1),
        ("ttrl", 1.0, 3),
        ("ttrl", 1.0, 1),
    ]


def test_the_seeds_of_a_row_replace_those_of_the_suite():
    assert found({"method": "ttrl", "label_ratio": 0.0, "seeds": [7]}, seeds=(0, 1)) == [("ttrl", 0.0, 7)]


def test_equal_rows_give_one_cell():
    row = {"method": "ttrl", "label_ratio": 0.1}
    assert len(found(row, row, {"method": "ttrl", "label_ratio": [0.1, 0.1]})) == 1


def test_the_base_model_has_one_cell_whatever_the_axes_say():
    assert found({"method": BASE, "label_ratio": [0.0, 0.5], "pool": [64, 128], "seeds": [4, 5]}) == [(BASE, 0.0, 0)]


def test_a_method_that_ignores_labels_has_one_cell_per_seed(label_blind):
    row = {"method": label_blind, "label_ratio": [0.0, 0.1, 1.0], "noise": "inactive", "noise_ratio": [0.0, 0.5]}
    assert found(row, seeds=(0, 1)) == [(label_blind, 0.0, 0), (label_blind, 0.0, 1)]


def test_a_noise_ratio_of_zero_is_no_noise():
    cells = expand(suite({"method": "grpo", "label_ratio": 1.0, "noise": "inactive", "noise_ratio": [0, 0.5]}), PROFILE)
    assert [(cell.supervision.noise_kind, cell.supervision.noise_ratio) for cell in cells] == [
        (NoiseKind.NONE, 0.0),
        (NoiseKind.INACTIVE, 0.5),
    ]


def test_an_exclusion_drops_exactly_what_it_states():
    row = {"method": ["grpo", "ttrl"], "label_ratio": [0.1, 1.0]}
    assert found(row, exclude=[{"method": "ttrl", "label_ratio": 1.0}]) == [
        ("grpo", 0.1, 0),
        ("grpo", 1.0, 0),
        ("ttrl", 0.1, 0),
    ]
    assert found(row, exclude=[{"seeds": [1]}], seeds=(0, 1)) == found(row)


def test_an_exclusion_makes_a_senseless_combination_legal():
    row = {"method": ["grpo", "ttrl"], "label_ratio": [0.0, 1.0]}
    assert len(found(row, exclude=[{"method": "grpo", "label_ratio": 0.0}])) == 3


def test_pool_and_steps_are_axes():
    cells = expand(suite({"method": "ttrl", "label_ratio": 0.0, "pool": [64, 128], "steps": [2, 3]}), PROFILE)
    assert [(cell.data.pool, cell.train.steps) for cell in cells] == [(64, 2), (64, 3), (128, 2), (128, 3)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"method": "ttrl", "label_ratio": 0.0, "train": {"stepz": 2}}, "unknown cells[0] (ttrl): setting of training"),
        (
            {"method": "ttrl", "label_ratio": 0.0, "train": {"steps": "two"}},
            "train.steps: found 'two', allowed",
        ),
        ({"method": "ttrl", "label_ratio": 0.0, "train": {"estimator": "gae"}}, "unknown train.estimator 'gae'"),
        (
            {"method": "ttrl", "label_ratio": 0.1, "train": {"labelled_share": 1.5}},
            "train.labelled_share: found 1.5, allowed 1 at most",
        ),
        (
            {"method": "ttrl", "label_ratio": 0.0, "train": {"labelled_share": 0.25}},
            "asks for 8 labelled and 24 unlabelled rows per batch, allowed 0 and 1536",
        ),
        (
            {"method": "ttrl", "label_ratio": 0.1, "selection": {"scorer": "random", "annotate": 0.1}},
            "found label_ratio beside a selection",
        ),
        ({"method": "ttrl", "selection": {"scorer": "randum", "annotate": 0.1}}, "did you mean 'random'"),
        (
            {"method": "ttrl", "selection": {"scorer": "random", "annotate": 0.7, "discard": 0.4}},
            "found annotate 0.7 and discard 0.4, allowed 1 together",
        ),
        (
            {"method": "trapo_v2", "label_ratio": 0.1, "options": {"rounds": 7}, "steps": 6},
            "found 7 rounds, allowed 1 to 6",
        ),
        (
            {"method": "trapo_v2", "selection": {"scorer": "random", "annotate": 0.3}},
            "found a selection beside rounds of changing labels",
        ),
        (
            {"method": "co_rewarding_i", "label_ratio": 0.0, "train": {"prompts": 31}},
            "found a batch of 31 prompts, allowed an even number",
        ),
        ({"method": "grpo", "label_ratio": 0.0}, "learns from labels only"),
        ({"method": "grpo"}, "label_ratio is missing"),
        ({"method": "labeled_only", "label_ratio": 0.01}, "batch of 32 prompts, allowed at most the 15 labelled rows"),
        ({"method": "ttrl", "label_ratio": 0.0, "pool": 31}, "allowed at most the 31 rows of the pool"),
        ({"method": "ttrl", "label_ratio": 0.0, "noise": "inactive", "noise_ratio": 0.5}, "on unlabelled rows"),
        ({"method": "ttrl", "label_ratio": 0.1, "noise": "inactive"}, "has no noise_ratio"),
        ({"method": "ttrl", "label_ratio": 0.1, "noise_ratio": 0.5}, "without a kind"),
        ({"method": "ttrl", "label_ratio": 0.1, "options": {"vote": 3}}, "unknown option of method 'ttrl' 'vote'"),
        ({"method": BASE, "options": {"vote": 3}}, "has no options"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(row, expected):
    with pytest.raises(UserError) as caught:
        expand(suite(row), PROFILE)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_of_a_pool_of_unknown_size_are_not_judged():
    profile = replace(PROFILE, data=replace(PROFILE.data, pool=0))
    assert found({"method": "labeled_only", "label_ratio": 0.01}, profile=profile) == [("labeled_only", 0.01, 0)]


def test_settings_of_training_are_axes_and_enter_the_cell():
    cells = expand(suite({"method": "ttrl", "label_ratio": 0.0, "train": {"estimator": ["grpo", "rloo"]}}), PROFILE)
    assert [cell.train.estimator for cell in cells] == ["grpo", "rloo"]
    assert cells[0] == expand(suite({"method": "ttrl", "label_ratio": 0.0}), PROFILE)[0]


def test_a_selection_chooses_the_labels_and_needs_a_probe():
    row = {"method": "ttrl", "selection": {"scorer": ["entropy", "random"], "annotate": 0.293, "discard": [0.0, 0.421]}}
    cells = expand(suite(row), PROFILE)
    assert [(cell.selection.scorer, cell.selection.discard) for cell in cells] == [
        ("entropy", 0.0),
        ("entropy", 0.421),
        ("random", 0.0),
        ("random", 0.421),
    ]
    assert {cell.supervision.label_ratio for cell in cells} == {0.293}
    assert all(cell.probe == PROFILE.probe for cell in cells)
    assert [cell.selection.evidence for cell in cells[::2]] == [("entropy",), ()]


def test_a_scorer_that_needs_more_responses_than_the_probe_samples_is_refused():
    profile = compose_profile("micro", ["probe.samples=4"])
    row = {"method": "ttrl", "selection": {"scorer": "consistency", "annotate": 0.3}}
    with pytest.raises(UserError, match=r"needs 8 probe responses per question, found probe\.samples 4"):
        expand(suite(row), profile)


def test_only_cells_that_need_a_probe_have_one():
    rows = [
        {"method": "grpo", "label_ratio": 1.0, "noise": kind, "noise_ratio": 0.5}
        for kind in NoiseKind
        if kind != "none"
    ]
    probed = {cell.supervision.noise_kind for cell in expand(suite(*rows), PROFILE) if cell.probe}
    assert probed == {NoiseKind.ACTIVE_FIXED}


def test_rounds_come_from_the_options_of_a_method():
    row = {"method": "trapo_v2", "label_ratio": 0.1, "options": {"rounds": [2, 6]}}
    cells = expand(suite(row), PROFILE)
    assert [cell.method.rounds for cell in cells] == [2, 6]
    assert all(cell.probe for cell in cells)


def test_a_method_that_uses_the_truth_is_allowed_in_the_suite_of_controls_only():
    row = {"method": "oracle_vote", "label_ratio": 0.0}
    with pytest.raises(UserError, match="uses the hidden truth: found it in suite 'sample', allowed 'controls' only"):
        expand(suite(row), PROFILE)
    controls = suite(row).model_copy(update={"name": "controls"})
    assert len(expand(controls, PROFILE)) == 1


def test_an_empty_grid_and_an_idle_exclusion_are_refused():
    row = {"method": "ttrl", "label_ratio": 0.0}
    with pytest.raises(UserError, match="empty grid"):
        expand(suite(row, exclude=[{"method": "ttrl"}]), PROFILE)
    with pytest.raises(UserError, match="empty grid"):
        expand(suite(), PROFILE)
    with pytest.raises(UserError, match=r"exclude\[0\] matches no cell"):
        expand(suite(row, exclude=[{"method": "grpo"}]), PROFILE)


def test_the_reference_is_an_arm_of_the_suite():
    cells = expand(suite({"method": "grpo", "label_ratio": [0.5, 1.0]}, seeds=(1, 2)), PROFILE)
    chosen = reference_cell(suite(), PROFILE, cells)
    assert (chosen.method.name, chosen.supervision.label_ratio, chosen.seed) == ("grpo", 1.0, 1)
    with pytest.raises(UserError, match="none of the suite's cells"):
        reference_cell(suite(reference={"method": "ttrl", "label_ratio": 0.0}), PROFILE, cells)
    with pytest.raises(UserError, match="names 2 arms"):
        reference_cell(suite(reference={"method": "grpo", "label_ratio": [0.5, 1.0]}), PROFILE, cells)


@settings(deadline=None)  # other work on the machine is no failure
@given(
    st.lists(st.sampled_from([0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=4),
    st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True),
)
def test_the_number_of_cells_is_the_number_of_distinct_combinations(ratios, seeds):
    cells = found({"method": ["grpo", "ttrl", BASE], "label_ratio": ratios}, seeds=seeds)
    assert len(cells) == len(set(cells)) == 2 * len(set(ratios)) * len(seeds) + 1
