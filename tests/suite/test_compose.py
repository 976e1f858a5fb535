"""Profiles: composition by Hydra, typed sections, and overrides that are refused in one line."""

import json

import pytest

from benchmark.errors import UserError
from benchmark.suite.compose import compose_profile


def test_the_micro_profile_composes_into_specifications():
    profile = compose_profile("micro")
    assert (profile.data.source, profile.data.pool) == ("micro", 1536)
    assert profile.eval.benchmarks[0] == "add"
    assert json.loads(profile.model.recipe)["hidden"] == 64
    assert profile.cluster.lanes >= 1


def test_overrides_reach_every_section():
    overrides = [
        "train.steps=2",
        "data.pool=192",
        "eval.samples=4",
        "cluster.lanes=1",
        "model.recipe.hidden=32",
        "eval.benchmarks=[add,sub]",
    ]
    profile = compose_profile("micro", overrides)
    assert (profile.train.steps, profile.data.pool, profile.eval.samples, profile.cluster.lanes) == (2, 192, "4", 1)
    assert json.loads(profile.model.recipe)["hidden"] == 32
    assert profile.eval.benchmarks == ("add", "sub")


def test_a_group_can_be_exchanged():
    profile = compose_profile("micro", ["train=paper", "train.steps=3"])
    assert (profile.train.backend, profile.train.steps) == ("gpu", 3)


def test_a_whole_number_for_a_float_is_the_same_value():
    assert compose_profile("micro", ["train.temperature=1"]) == compose_profile("micro", ["train.temperature=1.0"])


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("train.stpes=2", "unknown key 'stpes'; did you mean 'steps'?"),
        ("trian.steps=2", "unknown key 'trian'; did you mean 'train'?"),
        ("model.recipe.hiden=2", "unknown key 'hiden'; did you mean 'hidden'?"),
        ("train=papper", "unknown option of the group 'train' 'papper'; did you mean 'paper'?"),
        ("train.steps=abc", "train.steps: found 'abc', allowed a whole number"),
        ("train.steps=1.5", "train.steps: found 1.5, allowed a whole number"),
        ("train.steps=true", "train.steps: found True, allowed a whole number"),
        ("train.steps=null", "train.steps: found None, allowed a whole number"),
        ("train.steps=0", "train.steps: found 0, allowed 1 or more"),
        ("train.temperature=nan", "train.temperature: found nan, allowed a finite number"),
        ("eval.benchmarks=add", "eval.benchmarks: found 'add', allowed a list of names"),
        ("train.steps=1,2", "Ambiguous value"),
        ("train.steps=[1", "cannot be composed"),
        ("train.steps", "not of the form key=value"),
        ("+train.extra=1", "not of the form key=value"),
        ("~train", "not of the form key=value"),
        ("profile=paper", "unknown key 'profile'"),
    ],
)
def test_each_wrong_override_is_one_line(override, expected):
    with pytest.raises(UserError) as caught:
        compose_profile("micro", [override])
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_profile_gets_the_nearest_name():
    with pytest.raises(UserError, match="did you mean 'micro'"):
        compose_profile("mirco")


def test_a_missing_configuration_folder_is_explained(tmp_path):
    with pytest.raises(UserError, match="no configuration folder"):
        compose_profile("micro", configs=tmp_path / "configs")


def test_values_with_special_characters_survive(tmp_path):
    """Hydra's grammar has its own quoting; a value that is quoted arrives as it is."""
    profile = compose_profile("micro", ["cluster.address='10.0.0.1:6379'"])
    assert profile.cluster.address == "10.0.0.1:6379"
