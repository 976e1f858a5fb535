"""Plans, states and outcomes as plain data for machines and as text for people."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.runs.ledger import StageState
from benchmark.runs.progress import CellState
from benchmark.runs.scheduler import Outcome
from benchmark.runs.session import Session
from benchmark.runs.status import cell_statuses, read_history
from benchmark.runs.store import LOG, Store, driver_pid
from benchmark.stage import StageKind

_SHORT = 12  # characters of an id that people are shown
_MOST_LINES = 60  # of cells; a person who wants all of a large suite takes --json


def plan_data(session: Session) -> dict[str, Any]:
    """Describe a plan: its cells, and how many stages of each kind there are and are missing."""
    missing = Counter(session.plan.stages[key].kind for key in session.plan.needed(session.store.has))
    total = Counter(stage.kind for stage in session.plan.stages.values())
    return {
        **_heading(session),
        "cells": _cells(session),
        "stages": {
            kind.value: {"total": total[kind], "to_run": missing[kind]} for kind in StageKind if total[kind] > 0
        },
    }


def plan_text(data: dict[str, Any]) -> str:
    """Write a plan for people."""
    stages = ", ".join(f"{entry['to_run']} of {entry['total']} {kind}" for kind, entry in data["stages"].items())
    return "\n".join([*_text(data), f"to run: {stages}"])


def status_data(session: Session) -> dict[str, Any]:
    """Describe where the cells of a suite stand."""
    return {**_heading(session), "driver": driver_pid(session.store.root), "cells": _cells(session)}


def status_text(data: dict[str, Any]) -> str:
    """Write the state of a suite for people."""
    driver = f"running in process {data['driver']}" if data["driver"] else "no run in progress"
    return "\n".join([*_text(data), driver])


def store_data(store: Store) -> dict[str, Any]:
    """Describe a store: artifacts by kind, what is quarantined, and the stages that failed last."""
    history = read_history(store)
    folders = {kind: store.root / kind.value for kind in StageKind}
    return {
        "store": str(store.root),
        "driver": driver_pid(store.root),
        "runs": history.runs,
        "artifacts": {kind.value: len(list(path.iterdir())) for kind, path in folders.items() if path.is_dir()},
        "quarantined": len(list((store.root / "quarantine").glob("*"))),
        "failed": [
            {"key": key, "failure": stage.failure.value if stage.failure else "unknown", "message": stage.message}
            for key, stage in history.stages.items()
            if stage.state is StageState.FAILED
        ],
    }


def store_text(data: dict[str, Any]) -> str:
    """Write the state of a store for people."""
    artifacts = ", ".join(f"{count} {kind}" for kind, count in data["artifacts"].items()) or "none"
    lines = [f"store {data['store']}: {data['runs']} runs", f"artifacts: {artifacts}"]
    lines += [f"failed ({entry['failure']}): {entry['key'][:_SHORT]}: {entry['message']}" for entry in data["failed"]]
    if data["quarantined"]:
        lines.append(f"quarantined: {data['quarantined']}")
    lines.append(f"running in process {data['driver']}" if data["driver"] else "no run in progress")
    return "\n".join(lines)


def outcome_data(session: Session, outcome: Outcome, files: Sequence[Path]) -> dict[str, Any]:
    """Describe how a run ended."""
    return {
        **_heading(session),
        "stages_run": outcome.stages_run,
        "cells": _cells(session),
        "failed": [
            {
                "stage": failed.stage.kind.value,
                "key": failed.key,
                "failure": failed.failure.kind.value,
                "message": failed.failure.message,
                "log": str(failed.work / LOG),
            }
            for failed in outcome.failed
        ],
        "report": [str(path) for path in files],
    }


def outcome_text(session: Session, outcome: Outcome, files: Sequence[Path]) -> str:
    """Write how a run ended: what failed and how to look at it, or where the report is."""
    lines = [f"stages run: {outcome.stages_run}" if outcome.stages_run else "nothing was left to run"]
    lines += [f"report: {path}" for path in files if path.suffix == ".html"]
    for failed in outcome.failed:
        lines.append(f"failed ({failed.failure.kind.value}): {failed.stage.kind.value}: {failed.failure.message}")
        if (failed.work / LOG).exists():
            lines.append(f"  look at it: less {failed.work / LOG}")
    if outcome.failed_cells:
        lost = ", ".join(f"{cell.label}, seed {cell.spec.seed}" for cell in outcome.failed_cells)
        lines.append(f"cells without a result: {lost}")
        lines.append("the same command tries them again and keeps what is done")
    return "\n".join(lines)


def _heading(session: Session) -> dict[str, Any]:
    return {
        "suite": session.suite.name,
        "version": session.suite.version,
        "title": session.suite.title,
        "profile": session.profile.name,
        "store": str(session.store.root),
    }


def _cells(session: Session) -> list[dict[str, Any]]:
    statuses = cell_statuses(session.plan, session.store)
    return [
        {
            "id": cell.id,
            "label": cell.label,
            "seed": cell.spec.seed,
            "reference": cell.reference,
            "state": statuses[cell.id].state.value,
            "reason": statuses[cell.id].reason,
            "log": statuses[cell.id].log,
            "stages": {kind.value: key for kind, key in cell.stages.items()},
        }
        for cell in session.plan.cells
    ]


def _text(data: dict[str, Any]) -> list[str]:
    """Write heading and cells; a large suite is cut short."""
    cells = data["cells"]
    counts = Counter(cell["state"] for cell in cells)
    summary = ", ".join(f"{counts[state.value]} {state.value}" for state in CellState if counts[state.value])
    lines = [f"{data['suite']}@{data['version']} ({data['profile']}): {data['title']}"]
    width = max(len(cell["label"]) for cell in cells)
    for cell in cells[:_MOST_LINES]:
        reference = " (reference)" if cell["reference"] else ""
        reason = f": {cell['reason']}" if cell["reason"] else ""
        name = f"{cell['label']:<{width}}  seed {cell['seed']}"
        lines.append(f"  {cell['id'][:_SHORT]}  {name}  {cell['state']}{reason}{reference}")
    if len(cells) > _MOST_LINES:
        lines.append(f"  ... and {len(cells) - _MOST_LINES} more, see --json")
    return [*lines, f"cells: {len(cells)}, {summary}"]
