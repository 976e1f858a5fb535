"""Worked answers: the scratch steps of each procedure and the number that they lead to.

Every procedure comes in a correct form and in one systematically wrong form, a misconception that
children show too. The `step` hook sees each computed value and may change it: later steps
go on with what it returns, so a slip propagates as it would on paper.
"""

from collections.abc import Callable
from dataclasses import dataclass

StepHook = Callable[[int], int]


def exact(value: int) -> int:
    """Leave the value of a step as it is."""
    return value


@dataclass(frozen=True, slots=True)
class Work:
    """A worked answer: its scratch steps, and the number that comes out."""

    steps: tuple[str, ...]
    answer: int


def add(a: int, b: int, *, wrong: bool = False, step: StepHook = exact) -> Work:
    """Add column by column; the wrong form drops the carry."""
    steps, digits, carry = [], [], 0
    upper, lower = _columns(a), _columns(b)
    for i in range(max(len(upper), len(lower))):
        terms = [column[i] if i < len(column) else 0 for column in (upper, lower)]
        if carry and not wrong:
            terms.append(1)
        total = step(sum(terms))
        steps.append("+".join(map(str, terms)) + f"={total}")
        digits.append(total % 10)
        carry = total // 10
    if carry:  # also in the wrong form: the last sum shows it, nobody overlooks it
        digits.append(1)
    return Work(tuple(steps), _number(digits))


def subtract(a: int, b: int, *, wrong: bool = False, step: StepHook = exact) -> Work:
    """Subtract column by column, a > b; the wrong form forgets that it has borrowed."""
    steps, digits, borrow = [], [], 0
    upper, lower = _columns(a), _columns(b)
    for i, digit in enumerate(upper):
        top = digit if wrong else digit - borrow
        bottom = lower[i] if i < len(lower) else 0
        borrow = int(top < bottom)
        top += 10 * borrow
        difference = step(top - bottom) % 10
        steps.append(f"{top}-{bottom}={difference}")
        digits.append(difference)
    return Work(tuple(steps), _number(digits))


def multiply(a: int, b: int, *, wrong: bool = False, step: StepHook = exact) -> Work:
    """Multiply the one-digit a by each column of b; the wrong form drops the carry."""
    steps, digits, carry = [], [], 0
    for digit in _columns(b):
        carried = 0 if wrong else carry
        product = step(a * digit + carried)
        steps.append(f"{a}*{digit}" + (f"+{carried}" if carried else "") + f"={product}")
        digits.append(product % 10)
        carry = product // 10
    if carry:
        digits.append(carry)
    return Work(tuple(steps), _number(digits))


def apply(left: int, operator: str, right: int) -> int:
    """Apply one of + - * to two numbers."""
    return {"+": left + right, "-": left - right, "*": left * right}[operator]


def chain(operands: tuple[int, ...], operators: str, *, wrong: bool = False, step: StepHook = exact) -> Work:
    """Reduce an expression, products first; the wrong form goes from left to right."""
    numbers, pending, steps = list(operands), list(operators), []
    while pending:
        i = pending.index("*") if "*" in pending and not wrong else 0
        value = step(apply(numbers[i], pending[i], numbers[i + 1]))
        steps.append(f"{numbers[i]}{pending[i]}{numbers[i + 1]}={value}")
        numbers[i : i + 2] = [value]
        del pending[i]
    return Work(tuple(steps), numbers[0])


def modulo(a: int, b: int, *, wrong: bool = False, step: StepHook = exact) -> Work:
    """Take the largest multiple of b from a; the wrong form stops one multiple early."""
    quotient = a // b - int(wrong)
    multiple = step(b * quotient)
    rest = step(a - multiple)
    return Work((f"{b}*{quotient}={multiple}", f"{a}-{multiple}={rest}"), rest)


def rank(numbers: tuple[int, ...], position: int, *, wrong: bool = False, step: StepHook = exact) -> Work:
    """Order numbers downwards and read one off; the wrong form compares last digits first.

    A step whose hook changes the value swaps two neighbours.
    """
    ordered = sorted(numbers, key=(lambda v: (v % 10, v)) if wrong else (lambda v: (v, 0)), reverse=True)
    for i in range(len(ordered) - 1):
        if step(0):
            ordered[i], ordered[i + 1] = ordered[i + 1], ordered[i]
    return Work((">".join(map(str, ordered)),), ordered[position])


def _columns(number: int) -> list[int]:
    return [int(digit) for digit in reversed(str(number))]


def _number(digits: list[int]) -> int:
    return int("".join(map(str, reversed(digits))))
