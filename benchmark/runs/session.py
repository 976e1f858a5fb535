"""A suite with its profile, plan and store: what every verb of the command works on."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.evaluation.engines import require_engine
from benchmark.folders import file_in_the_way, unreadable
from benchmark.runs import preflight
from benchmark.runs.cluster import LOCAL, RayCluster
from benchmark.runs.ledger import EventKind, Ledger
from benchmark.runs.planner import SuitePlan, plan_suite
from benchmark.runs.resources import Node, local_node, stage_resources
from benchmark.runs.scheduler import Listener, Outcome, Scheduler
from benchmark.runs.stages import STAGES, Place
from benchmark.runs.store import CorruptArtifactError, Store, driver_pid, no_store
from benchmark.stage import SHORT_ID, StageKind, digest
from benchmark.suite.compose import Profile, compose_profile
from benchmark.suite.file import PROJECT, SuiteFile, load_suite
from benchmark.suite.grid import expand, reference_cell

STORE_VARIABLE = "VENUS_STORE"
DEFAULT_STORE = PROJECT / "results" / "store"


@dataclass(frozen=True, slots=True)
class Session:
    """One suite, ready to be planned, run or looked at."""

    suite: SuiteFile
    profile: Profile
    plan: SuitePlan
    store: Store
    overrides: tuple[str, ...]

    @property
    def reports(self) -> Path:
        """Folder of the suite's report among those of the store, apart for each set of overrides."""
        semantic = sorted(override for override in self.overrides if not override.startswith("cluster"))
        name = f"{self.suite.name}-{self.profile.name}" + (f"-{digest(semantic)[:6]}" if semantic else "")
        return reports_folder(self.store.root) / name


def reports_folder(root: Path) -> Path:
    """Return where the reports of a store lie: inside it, but beside the default one, in results/reports.

    Inside, because two stores may lie in one folder and must not write over each other's reports.
    """
    return (root.parent if root.resolve() == DEFAULT_STORE.resolve() else root) / "reports"


def open_store(path: str | None, existing: bool = False) -> Store:
    """Return the store at `path`, else of the environment variable VENUS_STORE, else results/store.

    Raises UserError where something else than a folder is there, and with `existing` where a store that was named is
    not there: a verb that only looks would find nothing in it. The default store is absent before the first run.
    """
    named = path or os.environ.get(STORE_VARIABLE)
    root = Path(named or DEFAULT_STORE).absolute()
    required = existing and bool(named)
    if required or root.is_dir() or file_in_the_way(root):
        problem = unreadable(root)
        if problem is None and required and not _holds_a_store(root):
            problem = f"a folder without a ledger at {root}"
        if problem:
            raise no_store(problem)
    return Store(root)


def open_session(
    suite: str, profile: str | None, overrides: Sequence[str], store: str | None, existing: bool = False
) -> Session:
    """Load, compose, expand and plan a suite; nothing is written. With `existing` a store that is named must be there.

    Raises UserError for whatever is wrong with what was asked for.
    """
    file = load_suite(suite)
    settings = compose_profile(profile or file.profile, overrides)
    cells = expand(file, settings)
    plan = plan_suite(cells, reference_cell(file, settings, cells))
    return Session(file, settings, plan, open_store(store, existing), tuple(overrides))


def run_session(session: Session, listener: Listener, fail_fast: bool = False) -> Outcome:
    """Run what is missing of a suite.

    Raises InfeasibleError, before anything starts, where the cluster can never fit a cell, UserError for an engine that
    is not installed and for a store that cannot be written, and StoreBusyError where another driver holds the store.
    """
    ray = RayCluster(session.profile.cluster)
    try:
        nodes = [local_node()]
        missing = session.plan.needed(session.store.has)
        places = {STAGES[session.plan.stages[key].kind].place for key in missing}
        if Place.LANE in places and session.profile.cluster.address != LOCAL:
            nodes = list(ray.nodes())
        _check_fit(session, missing, nodes)
        _check_engines(session, missing)
        with session.store.lock(), Ledger(session.store.ledger_path) as ledger:
            if ledger.torn:
                listener.event(f"the ledger ended in half a line, which was moved aside ({ledger.torn} bytes)")
            _quarantine_damaged(session, ledger, listener)
            ledger.append(EventKind.RUN_STARTED, suite=session.suite.name, profile=session.profile.name)
            ending = "interrupted"
            try:
                settings = session.profile.cluster
                scheduler = Scheduler(session.plan, session.store, ledger, settings, nodes, ray, listener)
                outcome = scheduler.run(fail_fast)
                ending = "failed" if outcome.failed else "done"
            finally:
                ledger.append(EventKind.RUN_FINISHED, suite=session.suite.name, ending=ending)
            return outcome
    finally:
        ray.close()


def _holds_a_store(root: Path) -> bool:
    """Say whether a run has written into a folder, or holds it; artifacts without the ledger count as well."""
    written = Store(root).ledger_path.is_file() or any((root / kind.value).is_dir() for kind in StageKind)
    return written or driver_pid(root) is not None


def _check_fit(session: Session, missing: Sequence[str], nodes: Sequence[Node]) -> None:
    stages = [session.plan.stages[key] for key in missing]
    needs = [stage_resources(stage, STAGES[stage.kind].place, session.profile.cluster) for stage in stages]
    preflight.check(needs, nodes)


def _check_engines(session: Session, missing: Sequence[str]) -> None:
    """Raise UserError where a stage that is left to run samples with an engine that is not installed here."""
    kinds = (StageKind.GENERATE, StageKind.PROBE)
    stages = [session.plan.stages[key] for key in missing]
    for engine in dict.fromkeys(json.loads(stage.params)["engine"] for stage in stages if stage.kind in kinds):
        require_engine(engine)


def _quarantine_damaged(session: Session, ledger: Ledger, listener: Listener) -> None:
    """Check what the report will read of finished cells, so that damage there is repaired by this run."""
    for key in dict.fromkeys(key for cell in session.plan.cells for key in cell.targets):
        kind = session.plan.stages[key].kind
        if session.store.has(kind, key):
            try:
                session.store.open(kind, key, read_by_report(kind))
            except CorruptArtifactError as error:
                session.store.quarantine(kind, key)
                ledger.append(EventKind.ARTIFACT_QUARANTINED, key=key, stage=kind.value, message=str(error))
                listener.event(f"damaged, built again: {kind.value} {key[:SHORT_ID]}")


def read_by_report(kind: StageKind) -> tuple[str, ...] | None:
    """Name the files of an artifact that reports read, None for all: weights need not be hashed for a table."""
    from benchmark import artifacts

    return (artifacts.METRICS, artifacts.TRAIN_INFO) if kind is StageKind.TRAIN else None
