"""Where the cells of a suite stand, from the store and the ledger; reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.runs.ledger import History, StageState, read_events, replay
from benchmark.runs.planner import CellPlan, SuitePlan
from benchmark.runs.progress import CellState
from benchmark.runs.store import Store, driver_pid


@dataclass(frozen=True, slots=True)
class CellStatus:
    """State of a cell; `reason` says more where it is not done, and `log` where to look."""

    state: CellState
    reason: str = ""
    log: str = ""


def read_history(store: Store) -> History:
    """Replay the ledger of a store."""
    return replay(read_events(store.ledger_path))


def damaged(what: object) -> str:
    """Say of a cell why it waits although there is something in the store."""
    return f"damaged, built again by the next run: {what}"


def cell_statuses(plan: SuitePlan, store: Store) -> Mapping[str, CellStatus]:
    """Return the state of every cell, by its id."""
    history, busy = read_history(store), driver_pid(store.root) is not None
    return {cell.id: _cell_status(cell, plan, store, history, busy) for cell in plan.cells}


def _cell_status(cell: CellPlan, plan: SuitePlan, store: Store, history: History, busy: bool) -> CellStatus:
    missing = [key for key in cell.targets if not store.has(plan.stages[key].kind, key)]
    if not missing:
        return CellStatus(CellState.DONE)
    interrupted = ""
    for key in plan.chain(cell):
        kind, stage = plan.stages[key].kind, history.of(key)
        if stage.state is StageState.FAILED and not store.has(kind, key):
            failure = stage.failure.value if stage.failure else "unknown"
            return CellStatus(
                CellState.FAILED, f"{kind.value}: {failure}: {stage.message}", str(store.work(kind, key) / "log.txt")
            )
        if stage.state is StageState.RUNNING and not store.has(kind, key):
            if busy:
                return CellStatus(CellState.RUNNING, f"{kind.value}, attempt {stage.attempts}")
            interrupted = f"interrupted in {kind.value}"
    return CellStatus(CellState.PENDING, interrupted or _damage(missing, plan, store))


def _damage(missing: Sequence[str], plan: SuitePlan, store: Store) -> str:
    """Name the artifacts that count as missing because they are no longer whole."""
    kinds = [plan.stages[key].kind for key in missing if store.path(plan.stages[key].kind, key).exists()]
    return damaged(", ".join(kinds)) if kinds else ""
