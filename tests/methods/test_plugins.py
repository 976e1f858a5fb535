"""Methods from plugin files and distributions: how they are found, and what a broken one says."""

import os
import pickle
import sys
from pathlib import Path

import pytest

from benchmark.errors import SuiteError, UnknownNameError
from benchmark.suite.spec import BASE
from methods import registry
from methods.plugins import GROUP, RESERVED, VARIABLE
from methods.registry import build_method, method_class, method_names, method_origin, use_plugins

METHOD = '''
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


@pytest.fixture(autouse=True)
def fresh_registry(monkeypatch):
    """Let each test register what it likes."""
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))
    monkeypatch.setattr(registry, "_ORIGINS", dict(registry._ORIGINS))
    monkeypatch.setattr(registry, "_LOADED", set(registry._LOADED))
    monkeypatch.setenv(VARIABLE, "")


@pytest.fixture
def write(tmp_path):
    def write(text, name="my.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_subclass_of_method_in_a_plugin_file_is_registered_by_its_name(write):
    path = write(METHOD)
    use_plugins([str(path)])
    assert "mine" in method_names()
    assert method_class("mine").version == 3
    assert build_method("mine", {"share": 0.25}).options.share == 0.25
    assert method_origin("mine") == f"plugin {path}"
    assert method_origin("ttrl") == "built-in"


def test_a_decorated_class_is_registered_once(write):
    use_plugins(
        [str(write("from methods.registry import register\n" + METHOD.replace("class Mine", "@register\nclass Mine")))]
    )
    assert method_names().count("mine") == 1


def test_the_variable_alone_finds_a_plugin_when_its_name_is_asked_for(write, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(write(METHOD)))
    assert "mine" not in registry._METHODS
    assert method_class("mine").name == "mine"


def test_built_in_methods_are_found_without_loading_plugins(write, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(write("raise RuntimeError('loaded')")))
    assert method_class("ttrl").name == "ttrl"
    with pytest.raises(SuiteError, match="loaded"):
        method_names()


def test_files_are_listed_with_absolute_paths_for_the_processes_of_jobs(write, monkeypatch, tmp_path):
    write(METHOD)
    write(METHOD.replace('"mine"', '"other"'), "other.py")
    monkeypatch.chdir(tmp_path)
    use_plugins(["my.py"])
    use_plugins(["other.py", "my.py"])
    assert os.environ[VARIABLE] == os.pathsep.join([str(tmp_path / "my.py"), str(tmp_path / "other.py")])


def test_two_files_of_one_name_live_side_by_side(write, tmp_path):
    (tmp_path / "apart").mkdir()
    first, second = write(METHOD), write(METHOD.replace('"mine"', '"other"'), "apart/my.py")
    use_plugins([str(first), str(second)])
    assert {"mine", "other"} <= set(method_names())
    assert method_class("mine").__module__ != method_class("other").__module__


def test_a_class_of_a_plugin_can_be_pickled_and_its_folder_stays_clean(write, tmp_path):
    use_plugins([str(write(METHOD))])
    assert pickle.loads(pickle.dumps(method_class("mine"))) is method_class("mine")
    assert [path.name for path in tmp_path.iterdir()] == ["my.py"]


def test_what_a_plugin_only_imports_is_not_taken_for_its_own(write):
    use_plugins([str(write("from methods.ttrl import TTRL\n" + METHOD))])
    assert method_origin("ttrl") == "built-in"


def test_a_built_in_method_that_is_given_as_a_plugin_stays_built_in():
    path = Path(registry.__file__).with_name("ttrl.py")
    before = method_class("ttrl")
    use_plugins([str(path)])
    assert method_class("ttrl") is before


def test_two_methods_of_one_name_are_refused_with_both_files(write):
    first, second = write(METHOD), write(METHOD, "again.py")
    use_plugins([str(first)])
    with pytest.raises(SuiteError, match="'mine' is taken") as caught:
        use_plugins([str(second)])
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    assert method_origin("mine") == f"plugin {first}"


def test_a_plugin_is_registered_whole_or_not_at_all(write):
    two = METHOD + METHOD.replace("class Mine", "class Other").replace('"mine"', '"ttrl"')
    with pytest.raises(SuiteError, match="'ttrl' is taken"):
        use_plugins([str(write(two))])
    with pytest.raises(UnknownNameError):
        method_class("mine")
    assert not os.environ[VARIABLE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\ndef broken(:\n", "line 2 is not Python: invalid syntax; fix: correct it"),
        ("import math\nmath.nothing\n", "line 2: AttributeError: module 'math' has no attribute 'nothing'"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise ValueError('two\\nlines')\n", "line 1: ValueError: two lines; fix"),
        ("import sys\nsys.exit()\n", "line 2: SystemExit; fix"),
        ("x = 1\n", "found none, allowed one subclass of methods.base.Method with a `name`"),
        ("from methods.ttrl import TTRL\nclass Mine(TTRL):\n    pass\n", "found Mine without `name`"),
        (METHOD.replace('"mine"', '"My Method"'), "class Mine: method name: found 'My Method', allowed lower-case"),
        (METHOD.replace('"mine"', '"base"'), "'base', which is reserved"),
        (METHOD.replace('"mine"', '"lambda"'), "'lambda', which is reserved"),
        (METHOD.replace('"mine"', "7"), "`name` is 7, allowed a string"),
        (METHOD.replace("    summary", "    silence"), "class Mine: `summary` is missing; fix: say in one line"),
        (METHOD.replace("    module", "    folder"), "`module` is missing; fix: set it to one of Module.BASELINE"),
        (METHOD.replace("share: float = 0.5", "share: float"), "option 'share' has no default; fix: give it one"),
        (METHOD.replace("Options = Options", "Options = int"), "`Options` is no dataclass; fix: decorate it"),
    ],
)
def test_a_broken_file_is_one_line_that_names_it(write, text, expected):
    path = write(text)
    with pytest.raises(SuiteError) as caught:
        use_plugins([str(path)])
    assert str(caught.value).startswith(f"plugin {path}: ")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not [module for module in sys.modules.values() if getattr(module, "__file__", None) == str(path)]


def test_a_file_that_cannot_be_a_plugin_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text(METHOD)
    (tmp_path / f"a{os.pathsep}b.py").write_text(METHOD)
    for name, expected in (
        ("missing.py", "found no file, allowed a Python file; fix: check the path"),
        ("", "found a folder, allowed a Python file"),
        ("notes.txt", "found 'notes.txt', allowed a name that ends in .py"),
        (f"a{os.pathsep}b.py", f"found {os.pathsep!r} in its path, allowed none"),
    ):
        with pytest.raises(SuiteError) as caught:
            use_plugins([str(tmp_path / name)])
        assert expected in str(caught.value)


def test_the_name_of_the_untrained_policy_is_reserved():
    assert BASE in RESERVED


# ----------------------------------------------------------------------------------- distributions


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay out a distribution as pip does, on the search path of this test."""

    def install(entry, **modules):
        site = tmp_path / "site"
        info = site / "venus_extra-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: venus-extra\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\nextra = {entry}\n")
        for name, text in modules.items():
            (site / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.syspath_prepend(str(site))
        registry._LOADED.discard(GROUP)

    return install


@pytest.mark.parametrize("entry", ["venus_extra_a", "venus_extra_a:Mine"])
def test_an_entry_point_is_a_module_or_a_class(install, entry):
    install(entry, venus_extra_a=METHOD)
    assert "mine" in method_names()
    assert method_origin("mine") == "distribution venus-extra 1.2, entry point extra"


def test_an_unknown_name_is_looked_for_in_distributions(install):
    install("venus_extra_b", venus_extra_b=METHOD)
    assert "mine" not in registry._METHODS
    assert method_class("mine").version == 3


@pytest.mark.parametrize(
    ("entry", "text", "expected"),
    [
        ("venus_extra_c", "import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("venus_extra_c", "1 / 0", "ZeroDivisionError: division by zero"),
        ("venus_extra_c:Missing", METHOD, "AttributeError"),
        ("venus_extra_c:Options", METHOD, "allowed a module or a subclass of methods.base.Method"),
        ("venus_extra_c", "x = 1", "found none, allowed one subclass"),
        ("venus_extra_c", METHOD.replace('"mine"', '"ttrl"'), "'ttrl' is taken"),
    ],
)
def test_a_broken_distribution_is_one_line_that_names_it_every_time(install, entry, text, expected):
    install(entry, venus_extra_c=text)
    for _ in range(2):
        with pytest.raises(SuiteError) as caught:
            method_names()
        assert expected in str(caught.value)
        assert "venus-extra 1.2" in str(caught.value) or "venus_extra_c.py" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert method_class("ttrl").__module__ == "methods.ttrl"
