"""Worked answers against hand calculation: every procedure, right, misconceived, and with a slip."""

import pytest

from benchmark.data.micro import procedures
from benchmark.data.micro.procedures import Work


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (procedures.add(646, 475), Work(("6+5=11", "4+7+1=12", "6+4+1=11"), 1121)),
        (procedures.add(208, 32), Work(("8+2=10", "0+3+1=4", "2+0=2"), 240)),
        (procedures.subtract(405, 84), Work(("5-4=1", "10-8=2", "3-0=3"), 321)),
        (procedures.subtract(302, 45), Work(("12-5=7", "9-4=5", "2-0=2"), 257)),
        (procedures.subtract(31, 28), Work(("11-8=3", "2-2=0"), 3)),
        (procedures.multiply(9, 74), Work(("9*4=36", "9*7+3=66"), 666)),
        (procedures.multiply(3, 12), Work(("3*2=6", "3*1=3"), 36)),
        (procedures.chain((7, 9, 4), "+*"), Work(("9*4=36", "7+36=43"), 43)),
        (procedures.chain((9, 4, 7), "*+"), Work(("9*4=36", "36+7=43"), 43)),
        (procedures.chain((5, 8, 6), "+-"), Work(("5+8=13", "13-6=7"), 7)),
        (procedures.modulo(94, 10), Work(("10*9=90", "94-90=4"), 4)),
        (procedures.rank((42, 90, 37), 1), Work(("90>42>37",), 42)),
        (procedures.rank((19, 20), 0), Work(("20>19",), 20)),
    ],
)
def test_the_correct_form(work, expected):
    assert work == expected


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        # the carry into the tens and hundreds is dropped; the last one is visible and written
        (procedures.add(646, 475, wrong=True), Work(("6+5=11", "4+7=11", "6+4=10"), 1011)),
        (procedures.subtract(405, 84, wrong=True), Work(("5-4=1", "10-8=2", "4-0=4"), 421)),
        (procedures.multiply(9, 74, wrong=True), Work(("9*4=36", "9*7=63"), 636)),
        (procedures.chain((7, 9, 4), "+*", wrong=True), Work(("7+9=16", "16*4=64"), 64)),
        (procedures.modulo(94, 10, wrong=True), Work(("10*8=80", "94-80=14"), 14)),
        (procedures.rank((41, 75, 80), 0, wrong=True), Work(("75>41>80",), 75)),
    ],
)
def test_the_misconception_of_each_procedure(work, expected):
    assert work == expected


def slip_at(position):
    """Add one to the value of one step."""
    calls = iter(range(99))
    return lambda value: value + (next(calls) == position)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (procedures.add(28, 5, step=slip_at(0)), Work(("8+5=14", "2+0+1=3"), 34)),
        (procedures.subtract(72, 59, step=slip_at(0)), Work(("12-9=4", "6-5=1"), 14)),
        (procedures.subtract(39, 10, step=slip_at(0)), Work(("9-0=0", "3-1=2"), 20)),  # 9 slips to 10: one digit stays
        (procedures.multiply(3, 48, step=slip_at(0)), Work(("3*8=25", "3*4+2=14"), 145)),
        (procedures.chain((7, 9, 4), "+*", step=slip_at(0)), Work(("9*4=37", "7+37=44"), 44)),
        (procedures.modulo(39, 9, step=slip_at(0)), Work(("9*4=37", "39-37=2"), 2)),
        (procedures.modulo(36, 9, step=slip_at(0)), Work(("9*4=37", "36-37=-1"), -1)),
        (procedures.rank((41, 75, 80), 0, step=slip_at(1)), Work(("80>41>75",), 80)),
    ],
)
def test_a_slip_propagates_through_the_later_steps(work, expected):
    assert work == expected
