"""`venus new-method`, and the method in CONTRIBUTING.md: what they give works as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchmark.commands.scaffold import CHECKOUT, class_name, describe, new_method
from benchmark.errors import SuiteError

BUILT_IN = ("methods/my_vote.py", "configs/method/my_vote.yaml", "tests/methods/test_my_vote.py")


def python(*arguments, cwd=CHECKOUT, **environment):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path):
    """Lay out the folders that a checkout is recognised by."""
    for folder in ("methods", "tests"):
        (tmp_path / "checkout" / folder).mkdir(parents=True)
    (tmp_path / "checkout" / "methods" / "registry.py").touch()
    return tmp_path / "checkout"


def written(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_plugin_is_written_and_its_own_test_and_the_contract_pass(tmp_path):
    folder = tmp_path / "mine"
    result = python("-m", "benchmark.cli", "new-method", "my_vote", "--folder", folder)
    assert result.returncode == 0, result.stderr
    assert written(folder) == ["my_vote.py", "my_vote.yaml", "test_my_vote.py"]
    own = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_vote.py", cwd=folder)
    assert "4 passed" in own.stdout, own.stdout + own.stderr
    [command] = re.findall(r"python -m (pytest tests/contract .*)", result.stdout)
    contract = python("-m", *command.split(), "-q", "-p", "no:cacheprovider")
    assert contract.returncode == 0, contract.stdout + contract.stderr
    assert re.search(r"\d\d passed", contract.stdout)


def test_a_built_in_method_goes_where_methods_live_and_the_lines_for_the_list_are_told(checkout):
    made = new_method("my_vote", checkout=checkout)
    assert [str(path.relative_to(checkout)) for path in made.files] == list(BUILT_IN)
    text = describe(made)
    assert "`from methods.my_vote import MyVote`, and `MyVote,` in _BUILT_IN" in text
    assert text.count("written: ") == 3


def test_the_test_of_a_new_built_in_method_passes_before_it_is_listed(checkout):
    """Its module is found in a package path that has the new folder beside the real one."""
    new_method("my_vote", checkout=checkout)
    (checkout / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(CHECKOUT / 'tests' / 'support')!r})\n"
        f"import methods\nmethods.__path__.append({str(checkout / 'methods')!r})\n"
    )
    result = python("-m", "pytest", "-q", "-p", "no:cacheprovider", checkout / "tests", cwd=checkout)
    assert "4 passed" in result.stdout, result.stdout + result.stderr


def test_what_is_written_is_clean_and_its_options_are_the_defaults(checkout):
    files = [path for path in new_method("my_vote", checkout=checkout).files if path.suffix == ".py"]
    (checkout / "pyproject.toml").write_text((CHECKOUT / "pyproject.toml").read_text())
    for check in (["check"], ["format", "--check"]):
        result = python("-m", "ruff", *check, "--no-cache", *files, cwd=checkout)
        assert result.returncode == 0, result.stdout + result.stderr
    options = yaml.safe_load((checkout / "configs/method/my_vote.yaml").read_text())
    assert options == {"name": "my_vote", "options": {"min_share": 0.5}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MyVote", "found 'MyVote', allowed lower-case letters, digits and _, a letter first; fix: write it like"),
        ("my-vote", "found 'my-vote', allowed"),
        ("_vote", "found '_vote', allowed"),
        ("2votes", "found '2votes', allowed"),
        ("", "found '', allowed"),
        ("class", "found 'class', which is reserved"),
        ("base", "found 'base', which is reserved"),
        ("ttrl", "method name 'ttrl' is taken (built-in); fix: choose another name"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_with_nothing_written(tmp_path, name, expected):
    with pytest.raises(SuiteError) as caught:
        new_method(name, tmp_path / "mine")
    assert expected in str(caught.value)
    assert written(tmp_path) == []


@pytest.mark.parametrize("existing", BUILT_IN)
def test_a_file_that_exists_is_left_alone_and_nothing_is_written(checkout, existing):
    path = checkout / existing
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    before = written(checkout)
    with pytest.raises(SuiteError, match=r"allowed no such file; fix"):
        new_method("my_vote", checkout=checkout)
    assert path.read_text() == "precious"
    assert written(checkout) == before


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    with pytest.raises(SuiteError, match=r"is no checkout of venus; fix: write a plugin, with --folder PATH"):
        new_method("my_vote", checkout=tmp_path)
    assert written(tmp_path) == []


@pytest.mark.parametrize("name", ["options", "method", "targets", "rollout_groups", "module"])
def test_a_class_never_takes_a_name_that_its_own_file_uses(tmp_path, name):
    new_method(name, tmp_path)
    assert class_name(name).endswith("Method")
    result = python("-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py", cwd=tmp_path)
    assert "4 passed" in result.stdout, result.stdout + result.stderr


def test_a_mistake_on_the_command_line_is_one_line(tmp_path):
    result = python("-m", "benchmark.cli", "new-method", "My-Vote", "--folder", tmp_path / "mine")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("venus: method name: found 'My-Vote'")
    assert not (tmp_path / "mine").exists()


def test_the_method_in_the_contributing_guide_is_complete_and_keeps_the_contract(tmp_path):
    guide = (CHECKOUT / "CONTRIBUTING.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", guide.partition("## Add a method")[2].partition("\n## ")[0], re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    path = tmp_path / "clear_majority.py"
    path.write_text(code)
    plugin = ["--method-plugin", path, "-k", "clear_majority"]
    result = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/contract", *plugin)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"\d\d passed", result.stdout)


def test_every_path_that_the_guide_names_for_methods_exists():
    section = (CHECKOUT / "CONTRIBUTING.md").read_text().partition("## Add a method")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:methods|tests|benchmark|configs)/[a-z_/]+(?:\.py)?)`", section)
    assert named
    for path in named:
        assert Path(CHECKOUT / path).exists(), path


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_one_line_and_status_2(tmp_path, place):
    (tmp_path / "file").write_text("x")
    result = python("-m", "benchmark.cli", "new-method", "my_vote", "--folder", tmp_path / place)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert f"venus: found '{tmp_path / place}', where nothing can be written" in result.stderr
