"""The base_model stage: obtain the untrained policy as a Hugging Face folder."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmark import artifacts
from benchmark.errors import DataError, unknown_name
from benchmark.stage import StageJob


def run(job: StageJob) -> None:
    """Write model/ and base_model.json.

    Parameters: source (micro, hub or local) and its recipe. Raises UnknownNameError for another source and
    DataError where a recipe is wrong, a hub cannot be reached or a folder holds no model.
    """
    source, recipe = job.params["source"], job.params["recipe"]
    if source not in _SOURCES:
        raise unknown_name("source of the base model", source, _SOURCES)
    info = _SOURCES[source](recipe, job.out / artifacts.MODEL_DIR, int(job.runtime.get("threads", 1)))
    text = json.dumps({"source": source, **info}, indent=2, sort_keys=True, allow_nan=False)
    (job.out / artifacts.BASE_MODEL_INFO).write_text(text + "\n", encoding="utf-8")


def require_model_folder(folder: Path) -> None:
    """Raise DataError unless the folder holds a configuration, weights and a tokenizer."""
    wanted = {
        "config.json": ["config.json"],
        "weights": ["*.safetensors", "pytorch_model*.bin"],
        "a tokenizer": ["tokenizer.json", "tokenizer.model", "vocab.json"],
        "tokenizer_config.json": ["tokenizer_config.json"],
    }
    for what, patterns in wanted.items():
        if not any(any(folder.glob(pattern)) for pattern in patterns):
            raise DataError(
                f"not a model folder: found no {what} in {folder}, allowed {' or '.join(patterns)}; "
                "fix: name a folder written by save_pretrained of both model and tokenizer"
            )


def _micro(recipe: Mapping[str, Any], folder: Path, threads: int) -> dict[str, Any]:
    from benchmark.data.micro.pretrain import Recipe, pretrain
    from benchmark.data.micro.tokenizer import build_tokenizer

    try:
        settings = Recipe(**recipe)
    except TypeError as error:
        raise DataError(f"recipe of the micro base model: {error}; fix: see configs/model/micro.yaml") from error
    result = pretrain(settings, threads)
    result.model.save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)
    return {
        "parameters": sum(p.numel() for p in result.model.parameters()),
        "steps": settings.steps,
        "seconds": round(result.seconds, 3),
        "loss": result.loss,
    }


def _hub(recipe: Mapping[str, Any], folder: Path, _threads: int) -> dict[str, Any]:
    from huggingface_hub import snapshot_download

    name, revision = _field(recipe, "hub", "id"), recipe.get("revision", "main")
    try:
        snapshot_download(name, revision=revision, local_dir=folder)
    except (OSError, ValueError, RuntimeError) as error:  # what the client raises: connection, name, revision
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DataError(
            f"model {name!r} at revision {revision!r} could not be fetched: {reason}; "
            "fix: check the network and the name, or use model source 'local' with a folder"
        ) from error
    require_model_folder(folder)
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the client's own bookkeeping is no part of the model
    return {"id": name, "revision": revision}


def _local(recipe: Mapping[str, Any], folder: Path, _threads: int) -> dict[str, Any]:
    origin = Path(_field(recipe, "local", "path")).expanduser()
    if not origin.is_dir():
        raise DataError(f"no such model folder: found {origin}, allowed an existing folder; fix: correct recipe.path")
    require_model_folder(origin)
    shutil.copytree(origin, folder)  # not linked: an artifact must not change when its origin does
    return {"path": str(origin)}


def _field(recipe: Mapping[str, Any], source: str, name: str) -> str:
    value = recipe.get(name)
    if not isinstance(value, str) or not value:
        raise DataError(f"recipe of a {source} base model: found {name}={value!r}, allowed a text; fix: set it")
    return value


_SOURCES: dict[str, Callable[[Mapping[str, Any], Path, int], dict[str, Any]]] = {
    "micro": _micro,
    "hub": _hub,
    "local": _local,
}
