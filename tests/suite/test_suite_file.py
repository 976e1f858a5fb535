"""Suite files: every mistake is one line that names the place and the nearest allowed name."""

import pytest

from benchmark.errors import UserError
from benchmark.suite.file import SUITES, load_suite, parse_suite, suite_names

GOOD = """
name: sample
version: 1
title: A sample
profile: micro
seeds: [0, 1]
reference: {method: grpo, label_ratio: 1.0}
cells:
  - {method: grpo, label_ratio: 1.0}
  - {method: ttrl, label_ratio: [0, 0.1]}
"""


def message(text: str) -> str:
    with pytest.raises(UserError) as caught:
        parse_suite(text, "sample.yaml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_shipped_suite_is_valid_and_named_after_its_file():
    assert "quick" in suite_names()
    for name in suite_names(SUITES):
        assert load_suite(name).name == name


def test_a_value_becomes_an_axis_whether_or_not_it_is_a_list():
    suite = parse_suite(GOOD, "sample.yaml")
    assert suite.cells[0].label_ratio == (1.0,)
    assert suite.cells[1].label_ratio == (0.0, 0.1)
    assert suite.cells[1].method == ("ttrl",)


def test_a_suite_is_found_by_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    assert load_suite(str(path)).name == "sample"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("quikc", "did you mean 'quick'"), ("absent/file.yaml", "no suite file at 'absent/file.yaml'")],
)
def test_an_unknown_suite_is_refused(name, expected):
    with pytest.raises(UserError, match=expected):
        load_suite(name)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[0, 1]", "[1, 1]", "seeds: found duplicate seed 1"),
        ("[0, 1]", "[]", "seeds: found an empty list, so the grid is empty"),
        ("[0, 1]", "[-1]", "seeds: found -1, allowed 0 to 2147483647"),
        ("[0, 1]", "[true]", "seeds[0]: Input should be a valid integer, found True"),
        ("method: ttrl", "method: ttlr", "cells[1].method: unknown method 'ttlr'; did you mean 'ttrl'?"),
        ("[0, 0.1]", "[0, 1.1]", "cells[1].label_ratio: found 1.1, allowed 0 to 1"),
        ("[0, 0.1]", "-0.1", "cells[1].label_ratio: found -0.1, allowed 0 to 1"),
        ("[0, 0.1]", "ten", "cells[1].label_ratio[0]: Input should be a valid number, found 'ten'"),
        ("[0, 0.1]", "[]", "cells[1].label_ratio: found an empty list"),
        ("ttrl, label_ratio", "ttrl, lable_ratio", "cells[1]: unknown key 'lable_ratio'; did you mean 'label_ratio'?"),
        ("seeds:", "seads:", "unknown key 'seads'; did you mean 'seeds'?"),
        ("title: A sample", "", "title: key is missing"),
        ("name: sample", "name: ../sample", "name: String should match pattern"),
        ("[0, 0.1]}", "[0.1], noise: inactiv}", "did you mean 'inactive'?"),
        ("[0, 0.1]}", "[0.1], noise: inactive, noise_ratio: 2}", "cells[1].noise_ratio: found 2, allowed 0 to 1"),
        ("[0, 0.1]}", "[0.1], pool: 0}", "cells[1].pool: found 0, allowed 1 or more"),
        ("cells:", "cells: [", "not YAML"),
    ],
)
def test_each_mistake_is_one_line_that_names_its_place(old, new, expected):
    assert old in GOOD
    found = message(GOOD.replace(old, new))
    assert found.startswith("sample.yaml: ")
    assert expected in found


@pytest.mark.parametrize("text", ["", "3", "- a", "\x00", b"\xff\xfe\x00"])
def test_what_is_no_mapping_is_refused(text):
    assert message(text).startswith("sample.yaml: ")
