r"""Say whether an answer is worth the same as a gold, by structure and algebra.

Expressions are compared by their values at points (`benchmark.evaluation.sampled_values`). What the comparison allows
beyond equality of values is the table in `benchmark.evaluation.policy`. It is no equivalence relation (28 is 28\% and
28\% is 0.28), so it judges against golds and never counts votes.

Where an answer has two readings (`2mg` may be milligrams or a product) the two answers are the same if one reading of
each is; how letters are used in both answers together decides what they stand for.

Runs only inside a worker (`benchmark.evaluation.workers`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import sympy as sp

from benchmark.evaluation.answer_structure import (
    Answer,
    Bracketed,
    Equation,
    Inequality,
    Listed,
    Named,
    Ratio,
    Region,
    Words,
    read_answer,
)
from benchmark.evaluation.bounded_arithmetic import Expression
from benchmark.evaluation.latex_tokens import Token, UnreadableError, tokenise
from benchmark.evaluation.notation import Notation, notation_of
from benchmark.evaluation.quantities import Quantity, Reading, percentage_values, units_agree
from benchmark.evaluation.sampled_values import equal, is_within, proportional, same_solutions

_MAX_ITEMS: Final = 64
_REALS: Final = sp.Symbol("mathbbR")


def same_answer(answer: str, gold: str, tolerance: str | None = None) -> bool:
    """Say whether two answers are the same; `tolerance` is an allowed absolute error, as a decimal number.

    Raises UnreadableError where one of them is no structure that is read.
    """
    notation = _notation(answer, gold)
    truths = read_answer(gold, Reading(notation, of_gold=True))
    comparison = _Comparison(Fraction(tolerance) if tolerance else None)
    if comparison.same_reading(read_answer(answer, Reading(notation, of_gold=False)), truths):
        return True
    lists = [truth for truth in truths if isinstance(truth, Listed)]
    return bool(lists) and comparison.same_reading(
        read_answer(answer, Reading(notation, of_gold=False), thousands=False), lists
    )


def _notation(*answers: str) -> Notation:
    found: list[list[Token]] = []
    for answer in answers:
        try:
            found.append(tokenise(answer))
        except UnreadableError:  # words, where letters stand for nothing
            continue
    return notation_of(*found)


class _Comparison:
    def __init__(self, tolerance: Fraction | None):
        self.tolerance = tolerance

    def same_reading(self, answers: Sequence[Answer], golds: Sequence[Answer]) -> bool:
        """Compare two answers by any of their readings."""
        return any(self.same(answer, gold) for answer in answers for gold in golds)

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
                return lambda: a.difference is not None and same_solutions(a.difference, b.difference)
            case Named(), Listed():
                return lambda: self.same_named_list(a, b)
            case Named(), _:
                return lambda: self.same(a.value, b)
            case Equation(), Equation():
                return lambda: same_solutions(a.difference, b.difference)
            case Quantity(), Quantity():
                return lambda: self.same_quantity(a, b)
            case Words(), Words():
                return lambda: a.text == b.text
            case Ratio(), Ratio():
                return lambda: self.same_in_order(a.items, b.items)
            case Bracketed(), Bracketed():
                return lambda: self.same_bracketed(a, b)
            case Bracketed(), Listed():
                return lambda: not b.braces and self.same_in_order(a.items, _as_tuple(b))
            case Bracketed(), Quantity():
                return lambda: self.same_vector(a, b) or (_is_reals(b) and _as_set(a) == sp.S.Reals)
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
        if not units_agree(a, b):
            return False
        if a.letters and b.letters:  # IV is not VI, nor 1F F
            return a.letters == b.letters
        if a.percent == b.percent:
            return self.same_value(a.value, b.value)
        percentage, other = (a, b) if a.percent else (b, a)
        if isinstance(percentage.value, sp.MatrixBase):
            return False
        return any(self.same_value(value, other.value) for value in percentage_values(percentage, other))

    def same_value(self, a: Expression, b: Expression) -> bool:
        if isinstance(a, sp.MatrixBase) or isinstance(b, sp.MatrixBase):
            both = isinstance(a, sp.MatrixBase) and isinstance(b, sp.MatrixBase)
            return both and a.shape == b.shape and all(map(self.same_value, a, b))
        if equal(a, b):
            return True
        return self.tolerance is not None and is_within(a, b, self.tolerance)

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
            return self.same_in_order(_as_tuple(a), _as_tuple(b))
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
        return known and same_solutions(a.difference, b.difference)

    def same_named_list(self, a: Named, b: Listed) -> bool:
        if isinstance(a.value, Listed):
            return self.same(a.value, b)
        if isinstance(a.value, Bracketed) and not b.braces:  # (x,y)=(5,6) is x=5, y=6
            names = re.sub(r"[()\s]", "", a.name).split(",")
            items = {item.name: item.value for item in b.items if isinstance(item, Named)}
            known = len(items) == len(b.items) and sorted(items) == sorted(names)
            return known and self.same_in_order(a.value.items, [items[name] for name in names])
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


def _with_argument(named: Named, pattern: Named) -> Quantity | None:
    """Return the value of f(x) with the argument of another f(n) in place of x; None where they are not alike."""
    value, old, new = named.value, named.argument, pattern.argument
    if named.name.partition("(")[0] != pattern.name.partition("(")[0] or not isinstance(value, Quantity):
        return None
    if not isinstance(old, sp.Symbol) or not isinstance(new, sp.Symbol) or new in value.value.free_symbols:
        return None
    return replace(value, value=value.value.subs(old, new))


def _names(listed: Listed) -> set[str]:
    return {item.name for item in listed.items if isinstance(item, Named)}


_COORDINATES: Final = frozenset("xyz")


def _as_tuple(listed: Listed) -> Sequence[Answer]:
    """Return the entries of a list as a tuple has them: coordinates by their names, others as they are written."""
    named = {item.name: item for item in listed.items if isinstance(item, Named)}
    if len(named) < len(listed.items) or not named.keys() <= _COORDINATES:
        return listed.items
    return [named[name] for name in sorted(named)]


def _is_reals(quantity: Quantity) -> bool:
    return bool(quantity.value == _REALS)


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
        case Quantity(value=value) if value == _REALS:
            return sp.S.Reals
    return None
