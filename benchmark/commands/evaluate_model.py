"""`venus evaluate`: a model folder on benchmarks, through the same stages and store as a suite.

It is a suite of one cell, the untrained policy, whose model is the folder. The content of the folder is part of the
cell's identity, so that a checkpoint that was written over is evaluated anew, and one that was not, or a copy of it
elsewhere, is read from the store. The store keeps a copy of the model: an artifact must not change with its origin.
Benchmarks, engine and sampling come from an evaluation of configs/eval and the overrides `eval.*`.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark import artifacts
from benchmark.data.base_model import require_model_folder
from benchmark.errors import SuiteError, UserError, unknown_name
from benchmark.evaluation.benchmarks.stage import SOURCES, benchmark_rows
from benchmark.evaluation.benchmarks.table import benchmark_named
from benchmark.evaluation.engines import installed, require_engine
from benchmark.runs.planner import plan_suite
from benchmark.runs.resources import local_node
from benchmark.runs.scheduler import Outcome
from benchmark.runs.session import Session, open_store
from benchmark.runs.store import Store, read_manifest
from benchmark.stage import StageKind
from benchmark.suite.compose import CONFIGS, Profile, compose_profile
from benchmark.suite.file import SuiteFile
from benchmark.suite.grid import expand
from benchmark.suite.protocols import deviations
from benchmark.suite.spec import BASE, EvalSpec, ModelSpec, frozen_json

if TYPE_CHECKING:
    from rich.console import Console

_PROFILE = "micro"  # for the sections that an evaluation does not read
_ALLOWED = ("eval.", "cluster.", "cluster=")
_SHORT = 12  # characters of an id
_DEADLINE_MINUTES = 24 * 60.0  # of an attempt at a stage: nobody trains meanwhile, and real benchmarks take hours


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One model folder, ready to be evaluated."""

    name: str  # of the evaluation, such as "paper"
    model_dir: Path
    session: Session
    notes: tuple[str, ...]  # what was decided for the user

    @property
    def spec(self) -> EvalSpec:
        """The benchmarks and how they are sampled."""
        return self.session.profile.eval


def evaluation_names(configs: Path = CONFIGS) -> tuple[str, ...]:
    """Name the evaluations of a configuration folder."""
    return tuple(sorted(path.stem for path in (configs / "eval").glob("*.yaml")))


def open_evaluation(
    model: str | Path, name: str, limit: int | None, overrides: Sequence[str], store: str | None
) -> Evaluation:
    """Plan the evaluation of a model folder; nothing is written. `limit` is a number of items per benchmark.

    Raises UserError where there is no model, the evaluation is unknown, an override concerns something else than the
    evaluation or the cluster, the engine that was asked for is not installed, or a benchmark cannot be had: unknown to
    its source, with fewer items than are asked for, or with a file that is missing or refused.
    """
    model_dir = Path(model).expanduser().resolve()
    if not model_dir.is_dir():
        raise UserError(f"no model folder at {str(model)!r}; fix: name a folder written by save_pretrained")
    require_model_folder(model_dir)
    if name not in evaluation_names():
        raise unknown_name("evaluation", name, evaluation_names())
    for override in overrides:
        if not override.startswith(_ALLOWED):
            raise SuiteError(
                f"override {override!r}: found a setting that an evaluation does not read, allowed eval.* and "
                "cluster.*; fix: remove it"
            )
    items = [] if limit is None else [f"eval.items={limit}"]
    profile = compose_profile(_PROFILE, [f"eval={name}", *overrides, *items])
    profile, notes = _settle_engine(_settle_cluster(profile, overrides), overrides)
    place, content = open_store(store), folder_digest(model_dir)
    recipe = frozen_json({"path": _first_path(place, content) or str(model_dir), "content": content})
    profile = replace(profile, name=name, model=ModelSpec("local", recipe))
    suite = _suite(name, model_dir.name)
    cells = expand(suite, profile)
    plan = plan_suite(cells, cells[0])
    plan = replace(plan, cells=tuple(replace(cell, label=model_dir.name) for cell in plan.cells))
    _require_benchmarks(profile.eval, place, plan.cells[0].stages[StageKind.BENCHMARKS])
    session = Session(suite, profile, plan, place, (f"model={content}", *overrides, *items))
    return Evaluation(name, model_dir, session, notes)


def folder_digest(folder: Path) -> str:
    """Return the sha256 over names and contents of all files of a folder, in hexadecimal."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return total.hexdigest()


def _first_path(store: Store, content: str) -> str | None:
    """Return the path under which a folder of this content is in the store; a copy elsewhere is the same model.

    The path is a part of the recipe because the stage reads from it, and it need not exist any more.
    """
    for manifest in sorted((store.root / StageKind.BASE_MODEL.value).glob("*/manifest.json")):
        try:
            recipe = read_manifest(str(manifest.parent))["params"]["recipe"]
        except (OSError, ValueError, KeyError, TypeError):  # an artifact that is damaged is no reason to stop
            continue
        known = isinstance(recipe, dict) and recipe.get("content") == content and isinstance(recipe.get("path"), str)
        if known and store.has(StageKind.BASE_MODEL, manifest.parent.name):
            return str(recipe["path"])
    return None


def _require_benchmarks(evaluation: EvalSpec, store: Store, key: str) -> None:
    """Make the items once before anything starts, unless the store has them or a hub would have to be asked."""
    for name in evaluation.benchmarks:
        benchmark_named(name, SOURCES[evaluation.source])
    if evaluation.source != "hub" and not store.has(StageKind.BENCHMARKS, key):
        benchmark_rows(evaluation.source, evaluation.benchmarks, evaluation.items)


def evaluation_data(evaluation: Evaluation, outcome: Outcome) -> dict[str, Any]:
    """Describe what came out: scores with 95% intervals, what limits them, and where every sample is."""
    from benchmark.runs import overview

    session = evaluation.session
    (cell,) = session.plan.cells
    data = {
        "model": str(evaluation.model_dir),
        "eval": evaluation.name,
        "store": str(session.store.root),
        "cell": cell.stages[StageKind.RECORD],  # what `venus show` finds: the cell is in no suite
        "engine": evaluation.spec.engine,
        "protocol": evaluation.spec.protocol,
        "deviations": list(deviations(evaluation.spec)),
        "notes": list(evaluation.notes),
        "stages_run": outcome.stages_run,
        "failed": overview.outcome_data(session, outcome, [])["failed"],
    }
    if outcome.failed:
        return data
    folders = {
        kind: session.store.path(kind, cell.stages[kind])
        for kind in (StageKind.BENCHMARKS, StageKind.GENERATE, StageKind.GRADE, StageKind.RECORD)
    }
    record = json.loads((folders[StageKind.RECORD] / artifacts.RECORD).read_text(encoding="utf-8"))
    generated = json.loads((folders[StageKind.GENERATE] / artifacts.GENERATE_INFO).read_text(encoding="utf-8"))
    return data | {
        "benchmarks": {name: _score(entry) for name, entry in record["benchmarks"].items()},
        "averages": _averages(record),
        "versions": record["versions"],
        "flags": [*record.get("flags", []), *_context_flags(generated)],
        "files": {
            "items": str(folders[StageKind.BENCHMARKS] / artifacts.BENCHMARKS),
            "samples": str(folders[StageKind.GENERATE] / artifacts.SAMPLES),
            "verdicts": str(folders[StageKind.GRADE] / artifacts.VERDICTS),
            "record": str(folders[StageKind.RECORD] / artifacts.RECORD),
        },
    }


def print_evaluation(console: "Console", evaluation: Evaluation, outcome: Outcome, data: dict[str, Any]) -> None:
    """Print the table of benchmarks, what limits its figures, and where the samples are."""
    from benchmark.commands.evaluate_table import benchmark_table, protocol_line
    from benchmark.report.render import to_rich
    from benchmark.runs import overview

    if "benchmarks" in data:
        console.print(to_rich(benchmark_table(data)))
        print(protocol_line(data))
    for line in (*data["notes"], *data.get("flags", ())):
        print(f"note: {line}")
    for name in ("samples", "verdicts", "record"):
        if "files" in data:
            print(f"{name}: {data['files'][name]}")
    if "files" in data:
        print(f"responses: venus show {data['cell'][:_SHORT]} --store {data['store']}")
    print(overview.outcome_text(evaluation.session, outcome, []))


def _settle_engine(profile: Profile, overrides: Sequence[str]) -> tuple[Profile, tuple[str, ...]]:
    """Require an engine that was asked for; one that only the evaluation names may be replaced, with a note."""
    engine = profile.eval.engine
    if installed(engine) or any(override.startswith("eval.engine=") for override in overrides):
        require_engine(engine)
        return profile, ()
    other = replace(profile, eval=replace(profile.eval, engine="transformers"))
    return other, (f"engine {engine} is not installed here, so transformers samples; eval.engine={engine} insists",)


def _settle_cluster(profile: Profile, overrides: Sequence[str]) -> Profile:
    """Give the evaluation all GPUs of this machine, and a day, unless the user says otherwise."""
    settings = {"gpus_per_cell": local_node().gpus, "deadline_minutes": _DEADLINE_MINUTES}
    if any(override.startswith("cluster=") for override in overrides):
        return profile
    stated = {override.partition("=")[0].removeprefix("cluster.") for override in overrides}
    chosen: dict[str, Any] = {name: value for name, value in settings.items() if name not in stated}
    return replace(profile, cluster=replace(profile.cluster, **chosen))


def _suite(name: str, model: str) -> SuiteFile:
    row = {"method": BASE}
    content = {"name": "evaluate", "version": 1, "title": f"{model} on {name}", "profile": name, "seeds": [0]}
    return SuiteFile.model_validate({**content, "reference": row, "cells": [row]})


def _score(entry: dict[str, Any]) -> dict[str, Any]:
    """Add the interval of an accuracy to what the record says of a benchmark; none where the accuracy is missing."""
    from benchmark.report.proportions import wilson_interval

    known = entry["accuracy"] is not None
    low, high = wilson_interval(entry["accuracy"], entry["items"]) if known else (None, None)
    return {**entry, "low": low, "high": high}


def _averages(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Add the intervals of the averages over groups of benchmarks."""
    from benchmark.report.proportions import average_interval

    found = {}
    for group, value in record["averages"].items():
        own = [entry for entry in record["benchmarks"].values() if entry["group"] == group]
        parts = [(entry["accuracy"], entry["items"]) for entry in own]
        low, high = average_interval(parts) if value is not None else (None, None)
        reason = record.get("average_notes", {}).get(group, {}).get("reason")
        found[group] = {"value": value, "low": low, "high": high, "benchmarks": len(own), "reason": reason}
    return found


def _context_flags(generated: dict[str, Any]) -> list[str]:
    """Say where the context of the model was too short, one line for each of the two ways."""
    context = f"the model's context of {generated['engine']['context']} tokens"
    ways = {
        "too_long": f"prompts fill {context}; their responses are empty and count as cut off",
        "shortened": f"prompts leave less than max_tokens of {context}",
    }
    found = []
    for way, meaning in ways.items():
        where = [f"{n} ({own[way]} of {own['prompts']})" for n, own in generated["benchmarks"].items() if own[way]]
        found += [f"{', '.join(where)}: {meaning}"] if where else []
    return found
