import re
import subprocess
import sys
from pathlib import Path

import pytest

import methods
from benchmark.errors import SuiteError, UnknownNameError
from methods import registry
from methods.base import Method, surfaces_used
from methods.registry import build_method, method_class, register

FOLDER = Path(methods.__file__).parent


def test_every_module_that_defines_a_method_is_in_the_list():
    modules = {
        f"methods.{path.stem}" for path in FOLDER.glob("*.py") if re.search('^    name = "', path.read_text(), re.M)
    }
    assert modules == {cls.__module__ for cls in registry._BUILT_IN}


def test_a_built_in_method_lies_in_the_module_of_its_name_and_has_its_options_on_file():
    for cls in registry._BUILT_IN:
        assert cls.__module__ == f"methods.{cls.name}"
        assert (FOLDER.parent / "configs" / "method" / f"{cls.name}.yaml").is_file(), cls.name


def test_no_name_is_built_in_twice():
    assert len({cls.name for cls in registry._BUILT_IN}) == len(registry._BUILT_IN)


def test_an_unknown_method_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'ttrl'"):
        method_class("ttlr")


def test_an_unknown_option_is_refused():
    with pytest.raises(UnknownNameError, match="option of method 'ttrl'"):
        build_method("ttrl", {"votes": 64})


def test_a_value_that_a_method_refuses_is_a_mistake_of_the_suite():
    with pytest.raises(SuiteError, match=r"method 'ttrl' refuses its options .*vote_key: found 'loudest'"):
        build_method("ttrl", {"vote_key": "loudest"})


def test_a_name_cannot_be_taken_twice():
    class Impostor(Method):
        name = "ttrl"
        summary = "another"

    with pytest.raises(
        SuiteError, match=r"'ttrl' is taken: found .*Impostor in .*test_registry\.py, .*TTRL in .*ttrl\.py"
    ):
        register(Impostor)
    assert method_class("ttrl").__name__ == "TTRL"


def test_plain_grpo_uses_no_surface():
    assert surfaces_used(method_class("grpo")) == frozenset()


def test_importing_the_registry_imports_nothing_slow():
    slow = "{'torch', 'scipy', 'sklearn', 'pandas', 'ray', 'verl', 'importlib.metadata'}"
    code = f"import sys, methods.registry; print(sorted({slow} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[]"
