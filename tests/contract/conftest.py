"""The contract runs over every registered method, and over plugins: `pytest tests/contract --method-plugin my.py`."""

import pytest

from benchmark.errors import UserError
from methods.registry import method_class, method_names, use_plugins


def pytest_addoption(parser):
    parser.addoption(
        "--method-plugin",
        action="append",
        default=[],
        metavar="PATH",
        help="a Python file with a method, held to the contract as well; may be repeated (-k NAME runs it alone)",
    )


def pytest_configure(config):
    try:  # the option is unknown where this file is loaded late, as in a run over all tests
        use_plugins(config.getoption("method_plugin", default=None) or ())
    except UserError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", method_names())


@pytest.fixture
def cls(name):
    return method_class(name)
