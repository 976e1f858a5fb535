"""Fixtures of the report's tests: synthetic cells and suites, built once where they are only read."""

from pathlib import Path

import pytest
from report_world import World

from benchmark.report.results import SuiteReport


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "artifacts")


@pytest.fixture(scope="session")
def quick_report(tmp_path_factory: pytest.TempPathFactory) -> SuiteReport:
    return World(tmp_path_factory.mktemp("quick")).suite()


@pytest.fixture(scope="session")
def three_seed_report(tmp_path_factory: pytest.TempPathFactory) -> SuiteReport:
    return World(tmp_path_factory.mktemp("three")).suite(3)
