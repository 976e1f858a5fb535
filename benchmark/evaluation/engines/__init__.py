"""Engines that sample responses from a model, behind one protocol; heavy imports happen on use."""

from importlib.util import find_spec
from pathlib import Path

from benchmark.errors import UserError, unknown_name
from benchmark.evaluation.engines.base import Engine

ENGINES = ("transformers", "vllm")


def installed(name: str) -> bool:
    """Say whether the package of an engine is in this environment, without importing it."""
    return find_spec(name) is not None


def require_engine(name: str) -> None:
    """Check that an engine can be used here, without importing it.

    Raises UnknownNameError for an engine that does not exist, UserError for one that is not installed.
    """
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    if not installed(name):
        extra = "pip install -e '.[gpu]'" if name == "vllm" else "make install"
        raise UserError(
            f"engine {name!r}: found no package {name} in this environment, allowed one that has it; "
            f"fix: {extra}, or choose another with eval.engine={next(other for other in ENGINES if other != name)}"
        )


def make_engine(name: str, model_dir: Path, threads: int) -> Engine:
    """Load the model in `model_dir` (a Hugging Face folder) into the engine of this name.

    Raises UnknownNameError for an engine that does not exist, UserError for one that is not installed.
    """
    require_engine(name)
    if name == "vllm":
        from benchmark.evaluation.engines.vllm import VllmEngine

        return VllmEngine(model_dir, threads)
    from benchmark.evaluation.engines.transformers import TransformersEngine

    return TransformersEngine(model_dir, threads)
