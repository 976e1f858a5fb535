"""When an arm is as good as full supervision ends up: its convergence step.

The step of a seed is the first evaluation of the validation panel from which the accuracy of this and of every later
evaluation is at least the final panel accuracy of the reference with the same seed, whose panel is the same. Reaching
it once is not enough: an arm that falls below it afterwards has not converged. Where that never happens the step is
right-censored at the last evaluation ("> 60"), which is an observation and not a missing value: leaving such seeds out
would make an arm look the faster, the rarer it gets there. Arms are summarised by the median over seeds, which exists
with censored ones too, as a lower bound where it falls on them; a mean does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark import artifacts
from benchmark.report.arm_cells import NOT_TRAINED
from benchmark.report.results import ArmResult, CellState, Curve
from benchmark.report.table_model import Column, Note, Quantity, TableCell, count_text, missing

CONVERGENCE = Column(
    "convergence_step",
    "Converged",
    Quantity.COUNT,
    "step from which the panel accuracy stays at or above the final one of the reference; > where it never does",
    with_censoring=True,
)


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """A convergence step, or the last step at which it had not happened."""

    value: float
    censored: bool


def convergence_step(curve: Curve, level: float) -> Step:
    """Return the first step from which the curve, of at least one point, stays at or above a level."""
    below = np.flatnonzero(curve.values < level)
    first = int(below[-1]) + 1 if len(below) else 0
    reached = first < len(curve.steps)
    return Step(float(curve.steps[first if reached else -1]), not reached)


def median_step(steps: Sequence[Step]) -> Step:
    """Return the median of at least one step, a lower bound where a middle one is censored."""
    ordered = sorted(steps)
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return Step(float(np.mean([step.value for step in middle])), any(step.censored for step in middle))


def convergence_cells(arms: Sequence[ArmResult], reference: str) -> Mapping[str, TableCell]:
    """Return the convergence step of each arm, by label; a state with a reason where a curve is missing."""
    target = next((arm for arm in arms if arm.arm == reference), None)
    return {arm.arm: _cell(arm, target) for arm in arms}


def convergence_notes(arms: Sequence[ArmResult], reference: str) -> tuple[Note, ...]:
    """Explain the column, where some arm has a step."""
    if all(cell.value is None for cell in convergence_cells(arms, reference).values()):
        return ()
    return (
        Note(
            f"{CONVERGENCE.title}: first step from which every evaluation of the validation panel is at or above the "
            f"final one of {reference!r} with the same seed; median over seeds, > where that never happened.",
            (CONVERGENCE.key,),
        ),
    )


def _cell(arm: ArmResult, reference: ArmResult | None) -> TableCell:
    if not arm.trained:
        return NOT_TRAINED
    if not arm.finished:
        return missing(arm.state, arm.reason)
    if reference is None or not reference.trained:
        return missing(CellState.NOT_APPLICABLE, "no trained reference")
    if not reference.finished:
        return missing(reference.state, f"reference: {reference.reason}")
    both = [number for number in arm.finished if number in reference.finished]
    pairs = {number: (_panel(arm, number), _panel(reference, number)) for number in both}
    steps = {
        number: convergence_step(own, float(target.values[-1]))
        for number, (own, target) in pairs.items()
        if own is not None and target is not None
    }
    return _median_cell(arm, both, steps)


def _median_cell(arm: ArmResult, both: Sequence[int], steps: Mapping[int, Step]) -> TableCell:
    """Summarise the steps by seed; missing where one of the seeds that `both` arms have lacks its own."""
    lacking = [str(number) for number in both if number not in steps]
    if not both:
        return missing(CellState.PARTIAL, "no seed in common with the reference")
    if not steps:
        return missing(CellState.NOT_APPLICABLE, "the panel was not evaluated")
    if lacking:
        return missing(CellState.PARTIAL, f"no panel accuracy in seed {', '.join(lacking)}")
    step, reached = median_step(list(steps.values())), sum(not step.censored for step in steps.values())
    return TableCell(
        step.value,
        CellState.DONE if len(both) == len(arm.seeds) else CellState.PARTIAL,
        f"reached with {reached} of {count_text(len(steps), 'seed')}",
        seeds=len(both),
        planned=len(arm.seeds),
        censored=step.censored,
    )


def _panel(arm: ArmResult, seed: int) -> Curve | None:
    curve = arm.finished[seed].curves.get(artifacts.PANEL_ACCURACY)
    return curve if curve is not None and len(curve.steps) else None
