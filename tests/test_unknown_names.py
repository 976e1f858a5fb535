"""The message about a name that is not known."""

import pytest

from benchmark.errors import unknown_name

SUITES = ("compose", "controls", "quick")


def test_what_is_allowed_is_set_apart_from_what_was_found():
    assert str(unknown_name("suite", "nope", ["b", "a"])) == "unknown suite 'nope'; allowed: a, b"
    assert str(unknown_name("suite", "nope", [])) == "unknown suite 'nope'; allowed: (none)"


def test_a_close_name_is_suggested():
    expected = "unknown suite 'quikc'; did you mean 'quick'? allowed: compose, controls, quick"
    assert str(unknown_name("suite", "quikc", SUITES)) == expected


@pytest.mark.parametrize("found", ["nope", "foo", "plan", ""])
def test_a_name_that_is_like_no_other_is_given_no_suggestion(found):
    assert "did you mean" not in str(unknown_name("suite", found, SUITES))
