"""Engines that sample responses from a model, behind one protocol; heavy imports happen on use."""

from pathlib import Path

from benchmark.errors import unknown_name
from benchmark.evaluation.engines.base import Engine

ENGINES = ("transformers",)


def make_engine(name: str, model_dir: Path, threads: int) -> Engine:
    """Load the model in `model_dir` (a Hugging Face folder) into the engine of this name.

    Raises UnknownNameError for an engine that does not exist.
    """
    if name == "transformers":
        from benchmark.evaluation.engines.transformers import TransformersEngine

        return TransformersEngine(model_dir, threads)
    raise unknown_name("engine", name, ENGINES)
