"""The driver loop: starts what is ready and fits, watches it, and decides what a failure means.

One thread, no queue: every pass looks at the attempts that run, publishes or fails those that ended, and
starts what has become possible. References go first, and what a long chain of stages waits for before
what little waits for (the rounds of a cell follow each other), so that lanes end together. A stage that
fails for good blocks only the cells that need it.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmark.errors import InfeasibleError, StageError
from benchmark.runs.cluster import RayCluster
from benchmark.runs.failures import POLICY, Action, Failure, FailureKind, classify
from benchmark.runs.job import make_job
from benchmark.runs.launch import Attempt, ProcessAttempt, ThreadAttempt, overdue
from benchmark.runs.ledger import EventKind, Ledger
from benchmark.runs.planner import CellPlan, SuitePlan
from benchmark.runs.progress import CellState, RunningStage, RunView, read_progress
from benchmark.runs.resources import Node, Resources, capacity, stage_resources
from benchmark.runs.stages import STAGES, Place, StageDefinition
from benchmark.runs.store import CorruptArtifactError, Store
from benchmark.stage import Stage, StageKind
from benchmark.suite.compose import Cluster

POLL_SECONDS = 0.05
START_COST = 15  # of a training job, in steps


class Listener(Protocol):
    """Who is told about a run."""

    def event(self, message: str) -> None:
        """Something happened that is worth a line."""

    def tick(self, view: RunView) -> None:
        """Time passed; called a few times a second."""


@dataclass(frozen=True, slots=True)
class FailedStage:
    """A stage that failed for good, with where to look."""

    stage: Stage
    key: str
    failure: Failure
    work: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: what was done, what failed, and which cells that cost."""

    stages_run: int
    failed: tuple[FailedStage, ...]
    failed_cells: tuple[CellPlan, ...]


@dataclass(slots=True)
class _Running:
    attempt: Attempt
    number: int
    held: Resources
    started: float


class Scheduler:
    """Runs the missing stages of a plan; use `run` once, from the main thread."""

    def __init__(
        self,
        plan: SuitePlan,
        store: Store,
        ledger: Ledger,
        settings: Cluster,
        nodes: Sequence[Node],
        ray: RayCluster,
        listener: Listener,
        definitions: Mapping[StageKind, StageDefinition] = STAGES,
    ) -> None:
        self.plan, self.store, self.ledger, self.settings = plan, store, ledger, settings
        self.ray, self.listener, self.definitions = ray, listener, definitions
        self._capacity = self._free = capacity(nodes, settings)
        self._readers = plan.readers()
        self._chains = {cell.id: plan.chain(cell) for cell in plan.cells}
        self._cells_of = self._cells_by_stage()
        self._critical_path = _critical_paths(plan, self._readers)
        self._priority = {key: self._rank(key, order) for order, key in enumerate(plan.stages)}
        self._running: dict[str, _Running] = {}
        self._failed: dict[str, FailedStage] = {}
        self._tries: dict[str, int] = {}  # in this run; the ledger counts over all runs
        self._done = 0
        self._needed: set[str] = set()  # what the store lacked when that was last looked at
        self._waiting: dict[str, int] = {}  # key -> number of inputs that are missing
        self._ready: set[str] = set()
        self._begun = time.monotonic()

    def run(self, fail_fast: bool = False) -> Outcome:
        """Run until nothing is left that can run, or until the first failure for good.

        Every attempt that still runs is stopped on the way out, whatever the way is.
        """
        self._find_work()
        last_tick = 0.0
        try:
            while True:
                self._start_what_fits()
                if not self._running and not self._ready:
                    break
                if time.monotonic() - last_tick > 0.25:
                    self.listener.tick(self.view())
                    last_tick = time.monotonic()
                time.sleep(POLL_SECONDS)
                self._collect()
                if fail_fast and self._failed:
                    break
        finally:
            for running in self._running.values():
                running.attempt.stop()
        self.listener.tick(self.view())
        lost = tuple(cell for cell in self.plan.cells if self._state(cell) is CellState.FAILED)
        return Outcome(self._done, tuple(self._failed.values()), lost)

    def view(self) -> RunView:
        """Describe the run as it stands."""
        cells = dict.fromkeys(CellState, 0)
        for cell in self.plan.cells:
            cells[self._state(cell)] += 1
        return RunView(
            cells=cells,
            stages_done=self._done,
            stages=self._done + len(self._running) + len(self._waiting) + len(self._ready),
            running=tuple(self._describe(key, running) for key, running in self._running.items()),
            seconds=time.monotonic() - self._begun,
        )

    # ------------------------------------------------------------------ what is left

    def _find_work(self) -> None:
        """Derive what is left to do from the store."""
        self._needed = set(self.plan.needed(self.store.has))
        self._waiting, self._ready = {}, set()
        for key in self.plan.stages:
            if key in self._needed and key not in self._running and not self._is_blocked(key):
                missing = sum(parent in self._needed for _, parent in self.plan.stages[key].inputs)
                if missing:
                    self._waiting[key] = missing
                else:
                    self._ready.add(key)

    def _is_blocked(self, key: str) -> bool:
        """Say whether a stage that is needed, or one that it waits for, has failed for good."""
        if not self._failed or key not in self._needed:
            return False
        return key in self._failed or any(self._is_blocked(parent) for _, parent in self.plan.stages[key].inputs)

    def _release_readers(self, key: str) -> None:
        for reader in self._readers[key]:
            if reader in self._waiting:
                self._waiting[reader] -= 1
                if self._waiting[reader] == 0:
                    del self._waiting[reader]
                    self._ready.add(reader)

    def _rank(self, key: str, order: int) -> tuple[bool, float, int]:
        reference = any(cell.reference for cell in self._cells_of[key])
        return (not reference, -self._critical_path[key], order)

    # ------------------------------------------------------------------ starting

    def _start_what_fits(self) -> None:
        threads_busy = any(isinstance(running.attempt, ThreadAttempt) for running in self._running.values())
        for key in sorted(self._ready, key=self._priority.__getitem__):
            if key not in self._ready:  # a damaged input sent it back
                continue
            stage = self.plan.stages[key]
            place = self.definitions[stage.kind].place
            need = stage_resources(stage, place, self.settings)
            if not need.fits(self._capacity):
                self._give_up(
                    key, Failure(FailureKind.INFEASIBLE, f"it needs {need}, the cluster has {self._capacity}")
                )
            elif need.fits(self._free) and not (place is Place.DRIVER and threads_busy):
                self._start(key, stage, place, need)
                threads_busy = threads_busy or place is Place.DRIVER

    def _start(self, key: str, stage: Stage, place: Place, need: Resources) -> None:
        runtime = self._runtime(key, place, need)
        if runtime is None:
            return
        inputs = self._open_inputs(stage)
        if inputs is None:
            return
        self._ready.remove(key)
        if need.takes_free_cpus:
            need = Resources(cpus=self._free.cpus)
        history = self.ledger.history.of(key)
        number = history.attempts + 1
        keep = history.failure is None or POLICY[history.failure] is not Action.RETRY
        work = self.store.prepare(stage.kind, key, keep)
        job = make_job(stage.kind, key, json.loads(stage.params), inputs, work, number, runtime)
        attempt_class = ThreadAttempt if place is Place.DRIVER else ProcessAttempt
        attempt = attempt_class(job, self.definitions[stage.kind].function)
        self.ledger.append(
            EventKind.STAGE_STARTED, key=key, stage=stage.kind.value, attempt=number, pid=attempt.pid, work=str(work)
        )
        self._tries[key] = self._tries.get(key, 0) + 1
        self._running[key] = _Running(attempt, number, need, time.monotonic())
        self._free = self._free - need

    def _runtime(self, key: str, place: Place, need: Resources) -> dict[str, Any] | None:
        """Say where a stage will run; None while the Ray cluster that it needs is coming up."""
        cpus = self._free.cpus if need.takes_free_cpus else need.cpus
        runtime: dict[str, Any] = {
            "threads": self.settings.threads if place is Place.LANE else max(1, cpus),
            "gpus_per_cell": self.settings.gpus_per_cell,
            "checkpoint_every": self.settings.checkpoint_every,
        }
        if place is Place.LANE:
            self.ray.start()
            try:
                address = self.ray.poll()
            except InfeasibleError as error:
                self._give_up(key, Failure(FailureKind.INFEASIBLE, str(error)))
                return None
            except StageError as error:
                self._give_up(key, Failure(FailureKind.NODE_LOST, str(error)))
                return None
            if address is None:
                return None
            runtime["ray_address"] = address
            runtime["environment"] = self.ray.environment()
        return runtime

    def _open_inputs(self, stage: Stage) -> dict[str, Path] | None:
        """Verify and return the inputs of a stage; a damaged one is moved aside and becomes work again."""
        inputs = {}
        for name, parent in stage.inputs:
            kind = self.plan.stages[parent].kind
            try:
                inputs[name] = self.store.open(kind, parent)
            except CorruptArtifactError as error:
                self.store.quarantine(kind, parent)
                self.ledger.append(EventKind.ARTIFACT_QUARANTINED, key=parent, stage=kind.value, message=str(error))
                if self._tries.get(parent, 0) >= self.settings.attempts:
                    self._give_up(parent, Failure(FailureKind.NODE_LOST, f"damaged as often as it was built: {error}"))
                else:
                    self.listener.event(f"damaged, built again: {self._name(parent)}")
                    self._find_work()
                return None
        return inputs

    # ------------------------------------------------------------------ ending

    def _collect(self) -> None:
        deadline = self.settings.deadline_minutes * 60
        for key, running in tuple(self._running.items()):
            seconds = time.monotonic() - running.started
            if running.attempt.ended():
                self._end(key, running, running.attempt.failure(), seconds)
            elif seconds > deadline:
                self._end(key, running, overdue(deadline), seconds, repeatable=running.attempt.stop())

    def _end(
        self, key: str, running: _Running, failure: Failure | None, seconds: float, repeatable: bool = True
    ) -> None:
        stage = self.plan.stages[key]
        del self._running[key]
        self._free = self._free + running.held
        if failure is None:
            try:
                self.store.publish(stage, key, seconds)
            except (StageError, OSError) as error:
                failure = classify(error, stage.kind)
        if failure is None:
            self.ledger.append(EventKind.STAGE_FINISHED, key=key, stage=stage.kind.value, seconds=round(seconds, 3))
            self._done += 1
            self.listener.event(f"done in {seconds:.1f} s: {self._name(key)}")
            self._needed.discard(key)
            self._release_readers(key)
            return
        self.ledger.append(
            EventKind.STAGE_FAILED, key=key, stage=stage.kind.value, failure=failure.kind.value, message=failure.message
        )
        if failure.kind is FailureKind.NODE_LOST and not self._lanes_busy():
            self.ray.close()  # it may be the cluster itself that is ill; the next attempt brings it up again
        again = repeatable and POLICY[failure.kind] is not Action.GIVE_UP
        if again and self._tries[key] < self.settings.attempts:
            self.listener.event(f"failed, trying again ({failure.kind.value}): {self._name(key)}: {failure.message}")
            self._ready.add(key)
        else:
            self._give_up(key, failure)

    def _give_up(self, key: str, failure: Failure) -> None:
        stage = self.plan.stages[key]
        self._ready.discard(key)
        self._failed[key] = FailedStage(stage, key, failure, self.store.work(stage.kind, key))
        self.listener.event(f"failed ({failure.kind.value}): {self._name(key)}: {failure.message}")
        self._find_work()

    def _lanes_busy(self) -> bool:
        return any(running.held.lanes for running in self._running.values())

    # ------------------------------------------------------------------ describing

    def _state(self, cell: CellPlan) -> CellState:
        if any(self._is_blocked(target) for target in cell.targets):
            return CellState.FAILED
        if any(key in self._running and len(self._cells_of[key]) == 1 for key in self._chains[cell.id]):
            return CellState.RUNNING
        left = any(key in self._waiting or key in self._ready or key in self._running for key in cell.targets)
        return CellState.PENDING if left else CellState.DONE

    def _cells_by_stage(self) -> dict[str, list[CellPlan]]:
        cells: dict[str, list[CellPlan]] = {key: [] for key in self.plan.stages}
        for cell in self.plan.cells:
            for key in self._chains[cell.id]:
                cells[key].append(cell)
        return cells

    def _describe(self, key: str, running: _Running) -> RunningStage:
        stage = self.plan.stages[key]
        since = self.ledger.history.of(key).started
        progress = read_progress(self.store.work(stage.kind, key), since) if stage.kind is StageKind.TRAIN else None
        return RunningStage(
            stage.kind.value, self._owner(key), running.number, time.monotonic() - running.started, progress
        )

    def _owner(self, key: str) -> str:
        cells = self._cells_of[key]
        return f"{cells[0].label}, seed {cells[0].spec.seed}" if len(cells) == 1 else f"shared by {len(cells)} cells"

    def _name(self, key: str) -> str:
        return f"{self.plan.stages[key].kind.value} ({self._owner(key)})"


def _critical_paths(plan: SuitePlan, readers: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return what the longest chain of stages from each key on is expected to take, in steps of training."""
    paths: dict[str, float] = {}
    for key in reversed(tuple(plan.stages)):  # readers come after what they read
        paths[key] = _expected_cost(plan.stages[key]) + max((paths[reader] for reader in readers[key]), default=0.0)
    return paths


def _expected_cost(stage: Stage) -> float:
    """Estimate how long a stage takes, in steps of training of the usual batch; only the order matters."""
    if stage.kind is not StageKind.TRAIN:
        return 0.0
    params = json.loads(stage.params)
    train, rounds = params["train"], params.get("rounds", 1)
    return float(START_COST + train["steps"] / rounds * train["prompts"] * train["rollouts"] / 256)
