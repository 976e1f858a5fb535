"""`venus methods` and `--plugin`, in a process of their own."""

import json
import subprocess
import sys

import pytest
from venus_command import run_venus

SUITE = """
name: sample
version: 1
title: A sample
profile: micro
seeds: [0]
reference: {method: grpo, label_ratio: 1.0}
cells:
  - {method: grpo, label_ratio: 1.0}
  - {method: mine, label_ratio: 0.5, options: {share: 0.25}}
"""
METHOD = '''
"""Mine, in a file."""
from dataclasses import dataclass
from methods.base import Method, Module

@dataclass(frozen=True, slots=True)
class Options:
    share: float = 0.5

class Mine(Method):
    """A method of one's own."""
    name = "mine"
    version = 3
    summary = "does nothing"
    module = Module.CONTROL
    Options = Options
'''


@pytest.fixture
def venus(tmp_path):
    (tmp_path / "my.py").write_text(METHOD)
    (tmp_path / "sample.yaml").write_text(SUITE)

    def venus(*arguments, **environment):
        return run_venus(*arguments, cwd=tmp_path, store=tmp_path / "store", **environment)

    return venus


def refused(result, *expected):
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    for text in expected:
        assert text in result.stderr


def test_the_list_has_a_row_for_every_method(venus):
    from methods.registry import method_names

    result = venus("methods")
    assert result.returncode == 0, result.stderr
    first_words = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert [word for word in first_words if word in method_names()] == list(method_names())
    assert "origin" not in result.stdout  # all are built in
    assert "origin" in venus("methods", "--plugin", "my.py").stdout
    assert max(map(len, result.stdout.splitlines())) <= 120


@pytest.mark.parametrize("width", [120, 100, 80, 60, 45])
def test_no_width_cuts_a_name_or_what_is_shown_of_it(width):
    from io import StringIO

    from rich.console import Console

    from benchmark.commands.method_catalogue import methods_data, methods_table

    data, console = methods_data(), Console(width=width, file=StringIO())
    console.print(methods_table(data, width))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    for row in data["methods"] + data["scorers"]:
        assert {row["name"], row["paper"] or "-"} <= words
    shown = lines[1].split()
    left_out = {"module", "surfaces", "evidence", "state", "labels", "source"} - set(shown)
    told = " ".join(" ".join(lines).split())
    assert ("left out at this width: " in told) == bool(left_out)
    assert all(f"{heading}, " in told or f"{heading};" in told for heading in left_out)


def test_on_a_narrow_terminal_names_are_folded_and_not_cut():
    from benchmark.commands.method_catalogue import methods_data, methods_table

    table = methods_table(methods_data(), 20)
    assert [(column.header, column.overflow, column.no_wrap) for column in table.columns] == [("method", "fold", False)]


def test_the_file_of_a_plugin_is_folded_so_that_names_are_whole():
    from io import StringIO

    from rich.console import Console

    from benchmark.commands.method_catalogue import methods_data, methods_table

    data, console = methods_data(), Console(width=80, file=StringIO())
    data["methods"][0]["origin"] = "plugin /" + "long/" * 20 + "my.py"
    console.print(methods_table(data, 80))
    words = set(console.file.getvalue().split())
    assert {row["name"] for row in data["methods"] + data["scorers"]} <= words
    lines = console.file.getvalue().splitlines()
    place = lines[1].index("origin")
    assert data["methods"][0]["origin"].replace(" ", "") in "".join(line[place:].strip() for line in lines)


def test_scorers_of_active_selection_are_listed_with_a_prefix(venus):
    from methods.selection import scorer_names

    listed = {scorer["name"]: scorer for scorer in json.loads(venus("methods", "--json").stdout)["scorers"]}
    assert sorted(listed) == [f"selection:{name}" for name in scorer_names()]
    assert listed["selection:pivot_trace"]["evidence"] == ["attention"]
    assert listed["selection:difficulty"]["label_need"] == "required"
    text = venus("methods", "selection:consistency").stdout
    assert text.startswith("selection:consistency: disagreement")
    refused(venus("methods", "selection:entrophy"), "unknown scorer 'entrophy'; did you mean 'entropy'?")


def test_the_list_for_machines_is_strict_json(venus):
    methods = {method["name"]: method for method in json.loads(venus("methods", "--json").stdout)["methods"]}
    assert methods["ttrl"]["surfaces"] == ["targets", "admit"]
    assert methods["ttrl"]["paper"] == "2504.16084"
    assert methods["grpo"]["surfaces"] == []
    assert methods["grpo"]["label_need"] == "required"
    assert {method["origin"] for method in methods.values()} == {"built-in"}


def test_one_method_is_shown_with_its_options_and_what_its_class_says(venus):
    text = venus("methods", "mine", "--plugin", "my.py").stdout
    assert "mine (version 3): does nothing" in text
    assert "  share = 0.5" in text
    assert "A method of one's own." in text
    data = json.loads(venus("methods", "mine", "--plugin", "my.py", "--json").stdout)
    assert data["options"] == {"share": 0.5}
    assert data["documentation"] == "A method of one's own."
    assert data["module_documentation"] == "Mine, in a file."
    assert data["confidence"] == "code"


def test_a_plugin_is_listed_with_its_file(venus, tmp_path):
    methods = json.loads(venus("methods", "--plugin", "my.py", "--json").stdout)["methods"]
    assert [method["origin"] for method in methods if method["name"] == "mine"] == [f"plugin {tmp_path / 'my.py'}"]


def test_a_suite_with_a_method_of_a_plugin_is_planned(venus):
    result = venus("plan", "sample.yaml", "--plugin", "my.py")
    assert result.returncode == 0, result.stderr
    assert "mine (share=0.25), 50% labels" in result.stdout
    assert "cells: 2, 2 pending" in result.stdout


def test_without_its_plugin_such_a_suite_is_refused(venus):
    refused(venus("plan", "sample.yaml"), "cells[1].method: unknown method 'mine'")


def test_the_variable_stands_for_the_option(venus, tmp_path):
    result = venus("plan", "sample.yaml", VENUS_PLUGINS=str(tmp_path / "my.py"))
    assert "mine (share=0.25), 50% labels" in result.stdout


def test_a_cell_is_identified_by_the_name_and_the_version_of_a_plugin_not_by_its_file(venus, tmp_path):
    def cell():
        plan = json.loads(venus("plan", "sample.yaml", "--plugin", "my.py", "--json").stdout)
        return [cell["id"] for cell in plan["cells"] if cell["label"].startswith("mine")]

    first = cell()
    (tmp_path / "my.py").write_text(METHOD + "\n# a remark\n")
    assert cell() == first
    (tmp_path / "my.py").write_text(METHOD.replace("version = 3", "version = 4"))
    assert cell() != first


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("methods", "ttlr"), "unknown method 'ttlr'; did you mean 'ttrl'?"),
        (("methods", "foo"), "unknown method 'foo'; allowed: co_rewarding_i, "),
        (("methods", "foo"), ", selection:entropy, "),
        (
            ("methods", "--plugin", "missing.py"),
            "missing.py': found no file, allowed a Python file; fix: check the path",
        ),
        (("plan", "quick", "--plugin", "sample.yaml"), "found 'sample.yaml', allowed a name that ends in .py"),
    ],
)
def test_a_mistake_is_one_line(venus, arguments, expected):
    refused(venus(*arguments), expected)


def test_a_broken_plugin_is_one_line_with_the_line_of_the_file(venus, tmp_path):
    (tmp_path / "bad.py").write_text("x = 1\nimport no_such_module\n")
    refused(venus("run", "quick", "--plugin", "bad.py"), "bad.py: line 2: ModuleNotFoundError: No module named")
    assert not (tmp_path / "store").exists()


def test_listing_methods_imports_nothing_heavy(venus, tmp_path):
    script = tmp_path / "listing.py"
    script.write_text(
        "import sys\nimport benchmark.cli\nsys.argv = ['venus', 'methods', '--json']\n"
        "try:\n    benchmark.cli.main()\nexcept SystemExit as ending:\n    assert not ending.code\n"
        "heavy = {'torch', 'ray', 'transformers', 'verl', 'sklearn', 'scipy', 'pandas'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), file=sys.stderr)\n"
    )
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert result.stderr.strip() == "heavy: []"
