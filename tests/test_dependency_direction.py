"""The dependency direction of the packages, checked on the import statements themselves."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEAVES = {
    "benchmark.errors",
    "benchmark.artifacts",
    "benchmark.files",
    "benchmark.folders",
    "benchmark.imports",
    "benchmark.stage",
}
SPECS = "benchmark.suite.spec"
HEAVY = {"torch", "transformers", "verl", "ray", "vllm", "datasets", "optuna", "altair"}

# package -> project packages that it may import (leaves are always allowed)
ALLOWED = {
    "methods": {"methods", "benchmark.evaluation.voting", "benchmark.evaluation.equivalence"},
    "benchmark.suite": {"benchmark.suite", "methods"},
    "benchmark.data": {"benchmark.data", "methods", "benchmark.evaluation.equivalence", SPECS},
    "benchmark.evaluation": {"benchmark.evaluation", "benchmark.data", "methods.groups", SPECS},
    "benchmark.report": {"benchmark.report", "benchmark.evaluation", "benchmark.data.overlap", SPECS},
    "benchmark.training": {"benchmark.training", "benchmark.evaluation", "benchmark.data", "methods", SPECS},
    "benchmark.commands": {"benchmark", "methods"},  # and nothing imports it but the command
    "benchmark.runs": {
        "benchmark.runs",
        "benchmark.suite",
        "benchmark.report",
        "benchmark.evaluation.grader",
        "benchmark.evaluation.engines",
    },
}


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "benchmark":
            found |= {f"benchmark.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def inside(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_what_lies_below_it(package):
    for path in (ROOT / package.replace(".", "/")).rglob("*.py"):
        project = {name for name in imports(path) if inside(name, {"benchmark", "methods", "leaderboard"})}
        wrong = {name for name in project if not inside(name, ALLOWED[package] | LEAVES)}
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


def test_only_training_imports_verl():
    for path in (ROOT / "benchmark").rglob("*.py"):
        if "training" not in path.parts:
            assert not {name for name in imports(path) if name.split(".")[0] == "verl"}, path


def test_leaves_import_nothing_of_the_project():
    for leaf in LEAVES:
        path = ROOT / (leaf.replace(".", "/") + ".py")
        assert not {name for name in imports(path) if inside(name, {"benchmark", "methods", "leaderboard"})}


@pytest.mark.parametrize("package", ["methods", "benchmark/suite", "benchmark/runs"])
def test_light_packages_have_no_heavy_import_at_module_level(package):
    for path in (ROOT / package).rglob("*.py"):
        heavy = {name.split(".")[0] for name in imports(path, top_level_only=True)} & HEAVY
        assert not heavy, f"{path.relative_to(ROOT)} imports {sorted(heavy)} at module level"
