r"""Compare expressions by their values at points.

Two expressions are the same where sympy builds the same tree, or where their values agree to 50 digits at several
points: always the same points, and relative to the values, so that 1/2004! is not 1/2006!. A point at which neither
side is real says nothing unless the imaginary unit is written: answers are functions of real variables, hence
sqrt(1/n) is 1/sqrt(n), and |x| is not x. Where too few points say something, those near 0 are asked as well.

Trade-off taken: values at points instead of simplification. It decides in milliseconds what `simplify` may not decide
in minutes; expressions that agree at every point and differ elsewhere are not met in answers.

Runs only inside a worker (`benchmark.evaluation.workers`).
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Final

import sympy as sp

from benchmark.evaluation.bounded_arithmetic import Expression, substitute

_DIGITS: Final = 60
_CLOSE: Final = sp.Float(10, _DIGITS) ** -50
_Points = tuple[tuple[Fraction, ...], ...]
_POINTS: Final[_Points] = (  # values for the symbols in alphabetical order, repeated with a shift
    (Fraction(13, 7), Fraction(29, 11), Fraction(7, 5), Fraction(41, 17), Fraction(19, 13)),
    (Fraction(5), Fraction(3), Fraction(7), Fraction(4), Fraction(2)),
    (Fraction(12), Fraction(6), Fraction(9), Fraction(8), Fraction(11)),
    (Fraction(3, 17), Fraction(5, 19), Fraction(2, 13), Fraction(7, 23), Fraction(4, 11)),
    (Fraction(-11, 7), Fraction(17, 13), Fraction(-8, 5), Fraction(23, 11), Fraction(-5, 3)),
    (Fraction(-4), Fraction(-7), Fraction(5), Fraction(-2), Fraction(3)),
)
_POINTS_NEAR_0: Final[_Points] = (
    (Fraction(-5, 13), Fraction(7, 17), Fraction(-3, 11), Fraction(6, 23), Fraction(-2, 19)),
    (Fraction(8, 19), Fraction(-3, 13), Fraction(5, 23), Fraction(-4, 17), Fraction(6, 29)),
    (Fraction(-9, 23), Fraction(-4, 29), Fraction(-7, 31), Fraction(-5, 37), Fraction(-8, 41)),
)
_ENOUGH_POINTS: Final = 2
_MAX_TOGETHER: Final = 100  # operations of an equation whose denominators are cleared


def equal(a: Expression, b: Expression) -> bool:
    """Say whether two expressions have the same value wherever they have one."""
    if a == b:
        return True
    if a.is_Rational and b.is_Rational:
        return False
    complex_values = bool(a.has(sp.I) or b.has(sp.I))
    symbols = _symbols(a, b)
    enough = _ENOUGH_POINTS if symbols else 1
    agreed = 0
    for points in (_POINTS, _POINTS_NEAR_0) if symbols else (_POINTS[:1],):
        for x, y in _values(a, b, points):
            if x is None or y is None:  # a pole, as of (n-5)! at integers
                continue
            if not complex_values and not _is_real(x) and not _is_real(y):
                continue
            if not _close(x, y):
                return False
            agreed += 1
        if agreed >= enough:
            return True
    return False


def proportional(a: Expression, b: Expression, positive: bool = False) -> bool:
    """Say whether a/b is one constant, as for two equations with the same solutions; with `positive`, one above 0."""
    if a == b:
        return True
    ratios = [sp.N(x / y, _DIGITS) for x, y in _values(a, b, _POINTS) if x is not None and y is not None and y != 0]
    if len(ratios) < _ENOUGH_POINTS or not all(_close(one, other) for one, other in pairwise(ratios)):
        return False
    return ratios[0] != 0 and (not positive or bool(_is_real(ratios[0]) and sp.re(ratios[0]) > 0))


def same_solutions(a: Expression, b: Expression) -> bool:
    """Say whether a = 0 and b = 0 are the same equation, also after both are multiplied by their denominators."""
    if proportional(a, b):
        return True
    if max(a.count_ops(), b.count_ops()) > _MAX_TOGETHER:
        return False
    (top, bottom), (other_top, other_bottom) = (sp.fraction(sp.together(one)) for one in (a, b))
    if bottom.is_number and other_bottom.is_number:
        return False
    return bool(top.free_symbols and other_top.free_symbols) and proportional(top, other_top)


def is_within(a: Expression, b: Expression, tolerance: Fraction) -> bool:
    """Say whether two numbers differ by no more than an absolute error."""
    if not (a.is_number and b.is_number) or not (a.is_finite and b.is_finite):
        return False
    return bool(sp.Abs(a - b).evalf(_DIGITS) <= sp.Rational(tolerance.numerator, tolerance.denominator))


def _values(a: Expression, b: Expression, points: _Points) -> Iterable[tuple[Expression | None, Expression | None]]:
    """Yield the values of two expressions at the points; None where one has none."""
    a, b = _opaque_as_symbols(a), _opaque_as_symbols(b)
    symbols = _symbols(a, b)
    for shift, point in enumerate(points if symbols else points[:1]):
        values = {
            symbol: sp.Rational(value.numerator, value.denominator) + (place // len(point)) * (shift + 1)
            for place, symbol in enumerate(symbols)
            for value in (point[place % len(point)],)
        }
        yield _value(a, values), _value(b, values)


def _symbols(a: Expression, b: Expression) -> list[Expression]:
    return sorted(a.free_symbols | b.free_symbols, key=str)


def _value(expression: Expression, values: dict[Expression, Expression]) -> Expression | None:
    try:
        value = substitute(expression, values)
        value = None if value is None else value.evalf(_DIGITS)
    except (ZeroDivisionError, ValueError, TypeError, AttributeError, OverflowError):
        return None
    return value if value is not None and value.is_number and value.is_finite and _is_evaluated(value) else None


def _is_evaluated(value: Expression) -> bool:
    return all(part.is_Float or part.is_Rational for part in value.as_real_imag())


def _is_real(value: Expression) -> bool:
    real, imaginary = value.as_real_imag()
    return bool(abs(imaginary) <= _CLOSE * max(abs(real), abs(imaginary), sp.Float(10, _DIGITS) ** -300))


def _close(x: Expression, y: Expression) -> bool:
    size = max(abs(x), abs(y))
    if min(abs(x), abs(y)) == 0:  # a difference that cancels leaves digits below the precision
        return bool(size < _CLOSE)
    return bool(abs(x - y) <= _CLOSE * size)


def _opaque_as_symbols(expression: Expression) -> Expression:
    """Put a symbol in place of every function without a known value and of every sum, the same for the same one."""
    opaque = expression.atoms(sp.core.function.AppliedUndef, sp.Sum)
    return expression.xreplace({one: sp.Symbol(f"opaque {sp.srepr(one)}") for one in opaque}) if opaque else expression
