"""From a store to the report of a suite: results where cells are done, typed states where not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.errors import UserError
from benchmark.report.collect import arm_result, load_seed
from benchmark.report.results import ArmResult, CellSource, MissingSeed, SeedResult, SuiteReport
from benchmark.report.results import CellState as ReportState
from benchmark.runs.planner import CellPlan
from benchmark.runs.progress import CellState
from benchmark.runs.session import Session, read_by_report
from benchmark.runs.status import CellStatus, cell_statuses, damaged
from benchmark.runs.store import CorruptArtifactError, Store, read_manifest
from benchmark.stage import StageKind, digest
from benchmark.suite.identity import arm_labels, reads_labels
from benchmark.suite.partners import plain_partners
from benchmark.suite.spec import CellSpec, NoiseKind

if TYPE_CHECKING:
    from rich.console import Console

_STATES = {
    CellState.DONE: ReportState.DONE,
    CellState.RUNNING: ReportState.RUNNING,
    CellState.PENDING: ReportState.PENDING,
    CellState.FAILED: ReportState.FAILED,
}


def suite_report(session: Session) -> SuiteReport:
    """Collect what the store knows about a suite; reads only."""
    statuses = cell_statuses(session.plan, session.store)
    by_arm: dict[str, list[CellPlan]] = {}
    families: dict[str, str] = {}
    clean = arm_labels([_without_noise(cell.spec) for cell in session.plan.cells])
    for cell, family in zip(session.plan.cells, clean, strict=True):
        by_arm.setdefault(cell.arm, []).append(cell)
        families[cell.arm] = family
    plain = plain_partners({cell.label: cell.spec for cell in session.plan.cells})
    return SuiteReport(
        suite=session.suite.name,
        version=session.suite.version,
        title=session.suite.title,
        profile=session.profile.name,
        arms=tuple(
            _arm(cells, families[arm], plain.get(cells[0].label, ""), statuses, session.store)
            for arm, cells in by_arm.items()
        ),
        reference=next(cell.label for cell in session.plan.cells if cell.reference),
        identity=digest(sorted(cell.id for cell in session.plan.cells)),
        data_date=_newest(session, statuses),
    )


def write(session: Session, report: SuiteReport) -> list[Path]:
    """Write the files of the report into the suite's folder, and return their paths.

    Raises UserError where they cannot be written.
    """
    from benchmark.report.write import write_report

    try:
        return write_report(session.reports, report)
    except OSError as error:
        raise UserError(
            f"report: found {error.filename or session.reports}, which cannot be written ({error.strerror}), allowed "
            f"files in {session.reports}; fix: make it writable, or use a copy of the store with --store"
        ) from error


def print_tables(console: "Console", report: SuiteReport) -> None:
    """Print differences, accuracy by benchmark and diagnostics; what is missing and why comes last."""
    from benchmark.report import render, tables

    found = tables.report_tables(report)
    console.print(render.to_rich(found["main"]))
    for key in ("same_labels", "benchmarks", "diagnostics"):
        if found[key].columns:  # known from the first result on
            console.print(render.to_rich(found[key]))
    if found["missing"].rows:
        console.print(render.to_rich(found["missing"]))


def tables_json(report: SuiteReport) -> str:
    """Return what table.json of the report holds."""
    from benchmark.report.write import json_page

    return json_page(report)


def _arm(cells: list[CellPlan], family: str, plain: str, statuses: Mapping[str, CellStatus], store: Store) -> ArmResult:
    spec = cells[0].spec
    return arm_result(
        cells[0].label,
        spec.method.name,
        spec.supervision.label_ratio if reads_labels(spec) else None,
        _noise(spec),
        {cell.spec.seed: _seed(cell, statuses[cell.id], store) for cell in cells},
        trained=spec.trained,
        noise_kind=spec.supervision.noise_kind.value,
        noise_ratio=spec.supervision.noise_ratio,
        family=family,
        plain=plain,
    )


def _seed(cell: CellPlan, status: CellStatus, store: Store) -> SeedResult | MissingSeed:
    """Read a finished cell; one whose artifact is damaged waits for the next run, which repairs it."""
    if status.state is not CellState.DONE:
        return MissingSeed(_STATES[status.state], status.reason)
    try:
        folders = {
            kind: store.open(kind, cell.stages[kind], read_by_report(kind))
            for kind in (StageKind.RECORD, StageKind.TRAIN)
            if kind in cell.stages
        }
    except CorruptArtifactError as error:
        return MissingSeed(ReportState.PENDING, damaged(error))
    return load_seed(folders[StageKind.RECORD], folders.get(StageKind.TRAIN), _source(cell, store))


def _source(cell: CellPlan, store: Store) -> CellSource | None:
    """Say where the responses of a finished cell lie; None where they were removed, which leaves its record valid."""
    kinds = (StageKind.GENERATE, StageKind.GRADE)
    if not all(store.has(kind, cell.stages[kind]) for kind in kinds):
        return None
    asked = cell.stages[StageKind.BENCHMARKS]
    benchmarks = store.path(StageKind.BENCHMARKS, asked) if store.has(StageKind.BENCHMARKS, asked) else None
    samples, verdicts = (store.path(kind, cell.stages[kind]) for kind in kinds)
    return CellSource(cell.id, samples, verdicts, benchmarks)


def _without_noise(spec: CellSpec) -> CellSpec:
    supervision = replace(spec.supervision, noise_kind=NoiseKind.NONE, noise_ratio=0.0)
    return replace(spec, supervision=supervision)


def _noise(spec: CellSpec) -> str:
    supervision = spec.supervision
    if supervision.noise_kind is NoiseKind.NONE:
        return supervision.noise_kind.value
    return f"{100 * supervision.noise_ratio:.4g}% {supervision.noise_kind.value}"


def _newest(session: Session, statuses: Mapping[str, CellStatus]) -> str | None:
    """Return when the newest record was made."""
    made = [
        str(read_manifest(session.store.path(StageKind.RECORD, cell.stages[StageKind.RECORD]))["created"])
        for cell in session.plan.cells
        if statuses[cell.id].state is CellState.DONE
    ]
    return max(made, default=None)
