"""Arithmetic on sympy values that refuses before it evaluates what would be too large.

Python computes a power of integers in one step that nothing can interrupt, and a model writes 9^9^9^9 at no cost. A
tower of symbols is harmless until numbers stand in for them, hence a bound on its height and one on what is put in.
Runs only inside a worker (`benchmark.evaluation.workers`): sympy is imported here.
"""

from fractions import Fraction
from typing import Any, Final

import sympy as sp

from benchmark.evaluation.latex_tokens import UnreadableError

MAX_BITS: Final = 50_000
"""Powers of numbers with more bits are refused."""
_MAX_EXPONENT_OF_TEN: Final = 400
MAX_HEIGHT: Final = 2
"""Exponents upon exponents: a^(b^c) is read, a^(b^(c^d)) is not, unless its exponents are numbers of a small value."""
MAX_FACTORIAL: Final = 5000

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
    if 1 + _height(exponent) > MAX_HEIGHT:
        raise UnreadableError("a tower of exponents")
    return sp.Pow(base, exponent)


def substitute(expression: Expression, values: dict[Expression, Expression]) -> Expression | None:
    """Put numbers in place of symbols; None where a power or a factorial would be too large to evaluate."""
    if not values:
        return expression
    for node in sp.postorder_traversal(expression):  # what a power is made of before the power
        if isinstance(node, sp.Pow) and node.exp.free_symbols:
            base, exponent = (part.subs(values, simultaneous=True).evalf(15) for part in (node.base, node.exp))
            if exponent.is_number and abs(exponent) * abs(sp.log(abs(base) + 2, 2).evalf(15)) > MAX_BITS:
                return None
        elif isinstance(node, (sp.factorial, sp.binomial)) and any(
            abs(part.subs(values, simultaneous=True).evalf(15)) > MAX_FACTORIAL for part in node.args
        ):
            return None
    return expression.subs(values, simultaneous=True)


def _height(expression: Expression) -> int:
    """Count the exponents upon exponents of an expression, roots left out."""
    below = max(map(_height, expression.args), default=0)
    if isinstance(expression, sp.exp):
        return below + 1
    if not isinstance(expression, sp.Pow) or (expression.exp.is_Rational and not expression.exp.is_Integer):
        return below
    return below if expression.exp == -1 else max(_height(expression.base), _height(expression.exp) + 1)


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
