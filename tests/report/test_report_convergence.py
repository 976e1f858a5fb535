"""The step from which an arm is as good as the reference ends up: sustained, censored, or missing with a reason."""

from pathlib import Path

import numpy as np
import pytest
from report_world import REFERENCE

from benchmark import artifacts
from benchmark.report.convergence import Step, convergence_cells, convergence_step, median_step
from benchmark.report.results import ArmResult, CellState, Curve, MissingSeed, SeedResult
from benchmark.report.tables import cost_table

STEPS = np.array([10, 20, 30, 40])


def seed(*values: float) -> SeedResult:
    curve = Curve(STEPS[: len(values)], np.array(values))
    return SeedResult({}, None, None, Path(), {artifacts.PANEL_ACCURACY: curve} if values else {})


def arm(name: str, *seeds: SeedResult | MissingSeed, trained: bool = True) -> ArmResult:
    return ArmResult(name, "ttrl", 0.1, "none", dict(enumerate(seeds)), trained)


def cell(own: ArmResult, reference: ArmResult):
    return convergence_cells([reference, own], "full")[own.arm]


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ((0.6, 0.7, 0.6, 0.8), Step(10, False)),
        ((0.5, 0.7, 0.5, 0.6), Step(40, False)),  # reached at 20 and lost again
        ((0.5, 0.7, 0.7, 0.5), Step(40, True)),  # reached, not sustained
        ((0.1, 0.2, 0.3, 0.4), Step(40, True)),
    ],
)
def test_a_level_is_reached_where_the_curve_stays_at_or_above_it(values, step):
    assert convergence_step(Curve(STEPS, np.array(values)), 0.6) == step


@pytest.mark.parametrize(
    ("steps", "median"),
    [
        ([Step(30, False), Step(10, False), Step(40, True)], Step(30, False)),
        ([Step(30, False), Step(40, True), Step(40, True)], Step(40, True)),
        ([Step(30, False), Step(40, True)], Step(35, True)),  # at least: one is above 40
        ([Step(40, True), Step(40, False), Step(10, False)], Step(40, False)),  # an event at 40 is before one after 40
    ],
)
def test_the_median_over_seeds_is_a_bound_where_it_falls_on_a_censored_one(steps, median):
    assert median_step(steps) == median


def test_a_seed_is_held_against_the_reference_of_the_same_seed():
    full = arm("full", seed(0.1, 0.2, 0.3, 0.5), seed(0.1, 0.2, 0.3, 0.9))
    found = cell(arm("x", seed(0.5, 0.6, 0.7, 0.8), seed(0.5, 0.95, 0.9, 0.9)), full)
    assert (found.value, found.censored) == (15, False)  # steps 10 and 20
    assert found.note == "reached with 2 of 2 seeds"


def test_an_arm_that_never_gets_there_has_a_bound_and_not_nothing():
    full = arm("full", seed(0.1, 0.2, 0.3, 0.5))
    found = cell(arm("x", seed(0.1, 0.1, 0.1, 0.1)), full)
    assert (found.value, found.censored, found.state) == (40, True, CellState.DONE)


def test_what_is_missing_is_a_state_with_a_reason():
    full, failed = arm("full", seed(0.5)), MissingSeed(CellState.FAILED, "out of memory")
    assert cell(arm("x", seed()), full).note == "the panel was not evaluated"
    assert cell(arm("x", failed), full).state is CellState.FAILED
    assert cell(arm("x", seed(0.5)), arm("full", failed)).note == "reference: seed 0: out of memory"
    assert cell(arm("x", failed, seed(0.5)), full).note == "no seed in common with the reference"
    assert cell(arm("x", seed(0.5), trained=False), full).state is CellState.NOT_APPLICABLE
    both = arm("full", seed(0.5), seed(0.5))
    lacking = cell(arm("x", seed(0.5), seed()), both)
    assert (lacking.value, lacking.state, lacking.note) == (None, CellState.PARTIAL, "no panel accuracy in seed 1")
    partial = cell(arm("x", seed(0.5), failed), both)
    assert (partial.value, partial.state, partial.seeds_text) == (10, CellState.PARTIAL, "1/2")


def test_the_costs_have_the_step_and_say_what_it_is(three_seed_report):
    table = cost_table("", three_seed_report.arms, REFERENCE)
    cells = {row.label: row.cells["convergence_step"] for row in table.rows}
    assert cells[REFERENCE].censored is False  # it ends where it ends
    assert cells["base model"].value is None
    assert cells["ttrl, 0% labels"].censored  # 53% against 62%
    assert "final one of 'grpo, 100% labels' with the same seed" in table.notes[0]
