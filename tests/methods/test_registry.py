import pytest

from benchmark.errors import SuiteError, UnknownNameError
from methods.base import LabelNeed, Method, TrainingRows, surfaces_used
from methods.registry import build_method, method_class, method_names, register


def test_the_built_in_methods_are_listed():
    assert {"grpo", "labeled_only", "ttrl"} <= set(method_names())


def test_an_unknown_method_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'ttrl'"):
        method_class("ttlr")


def test_an_unknown_option_is_refused():
    with pytest.raises(UnknownNameError, match="option of method 'ttrl'"):
        build_method("ttrl", {"votes": 64})


def test_a_name_cannot_be_taken_twice():
    class Impostor(Method):
        name = "ttrl"
        summary = "another"

    with pytest.raises(SuiteError, match=r"is taken by methods\.ttrl\.TTRL"):
        register(Impostor)


@pytest.mark.parametrize("name", method_names())
def test_every_method_declares_what_the_runner_needs(name):
    cls = method_class(name)
    assert cls.summary
    assert cls.version >= 1
    assert cls.label_need in LabelNeed
    assert cls.rows in TrainingRows


def test_plain_grpo_uses_no_surface_and_ttrl_one():
    assert surfaces_used(method_class("grpo")) == frozenset()
    assert surfaces_used(method_class("ttrl")) == {"targets"}
