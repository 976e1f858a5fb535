"""Arithmetic on sympy values that refuses before it evaluates what would be too large.

Python computes a power of integers in one step that nothing can interrupt, and a model writes 9^9^9^9 at no cost.
Runs only inside a worker (`benchmark.evaluation.workers`): sympy is imported here.
"""

from fractions import Fraction
from typing import Any, Final

import sympy as sp

from benchmark.evaluation.latex_tokens import UnreadableError

MAX_BITS: Final = 50_000
"""Powers of numbers with more bits are refused."""
_MAX_EXPONENT_OF_TEN: Final = 400

Expression = Any
"""A sympy expression or matrix; sympy ships no types."""


def power(base: Expression, exponent: Expression) -> Expression:
    """Raise a power, if its value stays below MAX_BITS; raises UnreadableError."""
    if isinstance(base, sp.MatrixBase):
        if exponent == sp.Symbol("T"):
            return base.T
        if not exponent.is_Integer or abs(exponent) > 20:
            raise UnreadableError("power of a matrix")
        return base**exponent
    if exponent.is_number and not exponent.is_finite:
        raise UnreadableError("infinite exponent")
    if exponent.is_Rational:
        size = max(base.p.bit_length(), base.q.bit_length()) if base.is_Rational else 4
        if abs(base) != 1 and size * abs(exponent) > MAX_BITS:
            raise UnreadableError("the power is too large")
    if base.is_zero and exponent.is_negative:
        raise UnreadableError("division by zero")
    return sp.Pow(base, exponent)


def divide(numerator: Expression, denominator: Expression) -> Expression:
    """Divide; raises UnreadableError by zero or by a matrix."""
    if isinstance(denominator, sp.MatrixBase) or denominator.is_zero:
        raise UnreadableError("division by zero or by a matrix")
    return numerator / denominator


def number(text: str) -> Expression:
    """Return a decimal number, exactly; raises UnreadableError for an exponent beyond 400."""
    mantissa, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > _MAX_EXPONENT_OF_TEN:
        raise UnreadableError("the exponent is too large")
    value = Fraction(mantissa + ("0" if mantissa.endswith(".") else "")) * Fraction(10) ** int(exponent or 0)
    return sp.Rational(value.numerator, value.denominator)
