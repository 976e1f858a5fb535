r"""Say whether an answer is worth the same as a gold, by structure and algebra.

Two expressions are the same where sympy builds the same tree, or where their values agree to 50 digits at several
points: always the same points, and relative to the values, so that 1/2004! is not 1/2006!. A point at which neither
side is real says nothing unless the imaginary unit is written: answers are functions of real variables, hence
sqrt(1/n) is 1/sqrt(n), and |x| is not x.

Trade-off taken: values at points instead of simplification. It decides in milliseconds what `simplify` may not decide
in minutes; expressions that agree at every point and differ elsewhere are not met in answers. What the comparison
allows beyond equality of values is the table in `benchmark.evaluation.policy`. It is no equivalence relation (28 is
28\% and 28\% is 0.28), so it judges against golds and never counts votes.

Runs only inside a worker (`benchmark.evaluation.workers`).
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

import sympy as sp

from benchmark.evaluation.answer_structure import (
    Answer,
    Bracketed,
    Equation,
    Inequality,
    Listed,
    Named,
    Quantity,
    Ratio,
    Region,
    Words,
    read_answer,
)
from benchmark.evaluation.bounded_arithmetic import Expression
from benchmark.evaluation.units import same_unit

_DIGITS: Final = 60
_CLOSE: Final = sp.Float(10, _DIGITS) ** -50
_POINTS: Final = (  # values for the symbols in alphabetical order, repeated with a shift
    (Fraction(13, 7), Fraction(29, 11), Fraction(7, 5), Fraction(41, 17), Fraction(19, 13)),
    (Fraction(5), Fraction(3), Fraction(7), Fraction(4), Fraction(2)),
    (Fraction(12), Fraction(6), Fraction(9), Fraction(8), Fraction(11)),
    (Fraction(3, 17), Fraction(5, 19), Fraction(2, 13), Fraction(7, 23), Fraction(4, 11)),
    (Fraction(-11, 7), Fraction(17, 13), Fraction(-8, 5), Fraction(23, 11), Fraction(-5, 3)),
    (Fraction(-4), Fraction(-7), Fraction(5), Fraction(-2), Fraction(3)),
)
_ENOUGH_POINTS: Final = 2
_MAX_ITEMS: Final = 64


def same_answer(answer: str, gold: str, tolerance: str | None = None) -> bool:
    """Say whether two answers are the same; `tolerance` is an allowed absolute error, as a decimal number.

    Raises UnreadableError where one of them is no structure that is read.
    """
    allowed = Fraction(tolerance) if tolerance else None
    comparison, truth = _Comparison(allowed), read_answer(gold)
    if comparison.same(read_answer(answer), truth):
        return True
    return isinstance(truth, Listed) and comparison.same(read_answer(answer, thousands=False), truth)


class _Comparison:
    def __init__(self, tolerance: Fraction | None):
        self.tolerance = tolerance

    def same(self, a: Answer, b: Answer) -> bool:
        """Compare two structures, whichever kinds they are of."""
        for left, right in ((a, b), (b, a)):
            rule = self._rule(left, right)
            if rule is not None:
                return rule()
        return False

    def _rule(self, a: Answer, b: Answer) -> Callable[[], bool] | None:  # noqa: PLR0911, PLR0912 - one line per pair of kinds
        match a, b:
            case Named(), Named():
                return lambda: self.same_named(a, b)
            case Named(), Equation():
                return lambda: a.difference is not None and proportional(a.difference, b.difference)
            case Named(), Listed():
                return lambda: self.same_named_list(a, b)
            case Named(), _:
                return lambda: self.same(a.value, b)
            case Equation(), Equation():
                return lambda: proportional(a.difference, b.difference)
            case Quantity(), Quantity():
                return lambda: self.same_quantity(a, b)
            case Words(), Words():
                return lambda: a.text == b.text
            case Ratio(), Ratio():
                return lambda: self.same_in_order(a.items, b.items)
            case Bracketed(), Bracketed():
                return lambda: self.same_bracketed(a, b)
            case Bracketed(), Listed():
                return lambda: not b.braces and self.same_in_order(a.items, b.items)
            case Bracketed(), Quantity():
                return lambda: self.same_vector(a, b)
            case Listed(), Listed():
                return lambda: self.same_listed(a, b)
            case Listed(), Region():  # x < 1 or x > 3
                return lambda: b.operator == "\\cup" and self.same_in_any_order(a.items, b.parts)
            case Listed(), Quantity() if a.braces and len(a.items) == 1:
                return lambda: self.same(a.items[0], b)
            case Region(), Region():
                return lambda: self.same_region(a, b)
            case Inequality(), Inequality():
                return lambda: self.same_inequality(a, b)
            case Inequality(), Bracketed() | Region():
                return lambda: self.same_interval(a, b)
        return None

    # --- quantities

    def same_quantity(self, a: Quantity, b: Quantity) -> bool:
        """Compare two quantities: a percentage may be written as its number or as its value."""
        if not same_unit(a.unit, b.unit):
            return False
        if a.percent == b.percent:
            return self.same_value(a.value, b.value)
        percentage, other = (a, b) if a.percent else (b, a)
        if isinstance(percentage.value, sp.MatrixBase):
            return False
        return any(self.same_value(value, other.value) for value in (percentage.value, percentage.value / 100))

    def same_value(self, a: Expression, b: Expression) -> bool:
        if isinstance(a, sp.MatrixBase) or isinstance(b, sp.MatrixBase):
            both = isinstance(a, sp.MatrixBase) and isinstance(b, sp.MatrixBase)
            return both and a.shape == b.shape and all(map(self.same_value, a, b))
        if equal(a, b):
            return True
        if self.tolerance is None or not (a.is_number and b.is_number) or not (a.is_finite and b.is_finite):
            return False
        return bool(sp.Abs(a - b).evalf(_DIGITS) <= sp.Rational(self.tolerance.numerator, self.tolerance.denominator))

    # --- sequences

    def same_in_order(self, a: Sequence[Answer], b: Sequence[Answer]) -> bool:
        return len(a) == len(b) and all(map(self.same, a, b))

    def same_in_any_order(self, a: Sequence[Answer], b: Sequence[Answer]) -> bool:
        if len(a) != len(b) or len(a) > _MAX_ITEMS:
            return False
        left = list(b)
        for item in a:
            match = next((place for place, other in enumerate(left) if self.same(item, other)), None)
            if match is None:
                return False
            del left[match]
        return True

    def same_bracketed(self, a: Bracketed, b: Bracketed) -> bool:
        return (a.opening, a.closing) == (b.opening, b.closing) and self.same_in_order(a.items, b.items)

    def same_vector(self, a: Bracketed, b: Quantity) -> bool:
        if not isinstance(b.value, sp.MatrixBase) or 1 not in b.value.shape:
            return False
        return self.same_in_order(a.items, [Quantity(entry) for entry in b.value])

    def same_listed(self, a: Listed, b: Listed) -> bool:
        """Compare two lists: in order where the names of one say which entry is which."""
        fewer, more = sorted(len(_names(one)) for one in (a, b))
        if fewer == 0 and more > 1:
            return self.same_in_order(a.items, b.items)
        if not a.braces and not b.braces:
            a, b = _name_shared(a), _name_shared(b)
        return self.same_in_any_order(a.items, b.items)

    # --- names

    def same_named(self, a: Named, b: Named) -> bool:
        """Compare two named values: under one name their values, under two names the equations as a whole."""
        if a.argument is not None and b.argument is not None and a.argument != b.argument:
            renamed = _with_argument(b, a)
            return renamed is not None and self.same(a.value, renamed)
        if a.name == b.name:
            return self.same(a.value, b.value)
        known = a.difference is not None and b.difference is not None
        return known and proportional(a.difference, b.difference)

    def same_named_list(self, a: Named, b: Listed) -> bool:
        if isinstance(a.value, Listed):
            return self.same(a.value, b)
        return b.braces and len(b.items) == 1 and self.same(a.value, b.items[0])

    # --- sets of numbers

    def same_region(self, a: Region, b: Region) -> bool:
        if a.operator == b.operator and a.operator != "\\backslash" and self.same_in_any_order(a.parts, b.parts):
            return True
        if a.operator == b.operator and self.same_in_order(a.parts, b.parts):
            return True
        left, right = _as_set(a), _as_set(b)
        return left is not None and left == right

    def same_inequality(self, a: Inequality, b: Inequality) -> bool:
        if a.strict == b.strict and all(map(self.same_value, a.items, b.items)):
            return True
        if len(a.items) != 2 or len(b.items) != 2 or a.strict != b.strict:
            return False
        first, second = (one.items[1] - one.items[0] for one in (a, b))
        return proportional(first, second, positive=a.strict != (None,))

    def same_interval(self, a: Inequality, b: Bracketed | Region) -> bool:
        interval = _as_interval(a)
        return interval is not None and isinstance(b, Bracketed) and self.same_bracketed(interval, b)


def equal(a: Expression, b: Expression) -> bool:
    """Say whether two expressions have the same value wherever they have one."""
    if a == b:
        return True
    if a.is_Rational and b.is_Rational:
        return False
    complex_values = bool(a.has(sp.I) or b.has(sp.I))
    agreed = 0
    for x, y in _values(a, b):
        if x is None or y is None:  # a pole, as of (n-5)! at integers
            continue
        if not complex_values and not _is_real(x) and not _is_real(y):
            continue
        if not _close(x, y):
            return False
        agreed += 1
    return agreed >= (_ENOUGH_POINTS if _symbols(a, b) else 1)


def proportional(a: Expression, b: Expression, positive: bool = False) -> bool:
    """Say whether a/b is one constant, as for two equations with the same solutions; with `positive`, one above 0."""
    if a == b:
        return True
    ratios = [sp.N(x / y, _DIGITS) for x, y in _values(a, b) if x is not None and y is not None and y != 0]
    if len(ratios) < _ENOUGH_POINTS or not all(_close(one, other) for one, other in pairwise(ratios)):
        return False
    return ratios[0] != 0 and (not positive or bool(_is_real(ratios[0]) and sp.re(ratios[0]) > 0))


def _values(a: Expression, b: Expression) -> Iterable[tuple[Expression | None, Expression | None]]:
    """Yield the values of two expressions at the points; None where one has none."""
    a, b = _opaque_as_symbols(a), _opaque_as_symbols(b)
    symbols = _symbols(a, b)
    for shift, point in enumerate(_POINTS[: 6 if symbols else 1]):
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
        value = expression.subs(values, simultaneous=True) if values else expression
        value = value.evalf(_DIGITS)
    except (ZeroDivisionError, ValueError, TypeError, AttributeError, OverflowError):
        return None
    return value if value.is_number and value.is_finite and _is_evaluated(value) else None


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


def _with_argument(named: Named, pattern: Named) -> Quantity | None:
    """Return the value of f(x) with the argument of another f(n) in place of x; None where they are not alike."""
    value, old, new = named.value, named.argument, pattern.argument
    if named.name.partition("(")[0] != pattern.name.partition("(")[0] or not isinstance(value, Quantity):
        return None
    if not isinstance(old, sp.Symbol) or not isinstance(new, sp.Symbol) or new in value.value.free_symbols:
        return None
    return Quantity(value.value.subs(old, new), value.unit, value.percent)


def _names(listed: Listed) -> set[str]:
    return {item.name for item in listed.items if isinstance(item, Named)}


def _name_shared(listed: Listed) -> Listed:
    """Read `n = 2, 3, 4` as three values of n: one name, given to the first entry, holds for all."""
    first, *rest = listed.items
    if isinstance(first, Named) and rest and not any(isinstance(item, Named) for item in rest):
        return Listed((first.value, *rest), listed.braces)
    return listed


def _as_interval(inequality: Inequality) -> Bracketed | None:
    r"""Read `a < x \le b` as the interval (a, b]."""
    items, strict = inequality.items, inequality.strict
    if None in strict or not 2 <= len(items) <= 3:
        return None
    if len(items) == 2:
        items, strict = (
            ((items[0], items[1], sp.oo), (strict[0], True))
            if _is_variable(items[1])
            else (
                (-sp.oo, items[0], items[1]),
                (True, strict[0]),
            )
        )
    low, middle, high = items
    if not _is_variable(middle) or not (low.is_number and high.is_number):
        return None
    return Bracketed((Quantity(low), Quantity(high)), "(" if strict[0] else "[", ")" if strict[1] else "]")


def _is_variable(expression: Expression) -> bool:
    return expression.is_Symbol or isinstance(expression, sp.core.function.AppliedUndef)


def _are_real_numbers(*values: Expression) -> bool:
    return all(value.is_number and value.is_extended_real for value in values)


def _as_set(answer: Answer) -> sp.Set | None:
    """Return a set of real numbers as sympy holds it; None where an end is no number."""
    match answer:
        case Region():
            parts = [_as_set(part) for part in answer.parts]
            if any(part is None for part in parts):
                return None
            join = {"\\cup": sp.Union, "\\cap": sp.Intersection}.get(answer.operator)
            return join(*parts) if join else sp.Complement(parts[0], sp.Union(*parts[1:]))
        case Bracketed(items=(Quantity(value=low), Quantity(value=high))) if _are_real_numbers(low, high):
            return sp.Interval(low, high, answer.opening == "(", answer.closing == ")")
        case Listed(braces=True) if all(isinstance(item, Quantity) for item in answer.items):
            return sp.FiniteSet(*(item.value for item in answer.items if isinstance(item, Quantity)))
        case Quantity(value=sp.Symbol(name="mathbbR")):
            return sp.S.Reals
    return None
