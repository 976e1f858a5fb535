r"""Read a whole answer as a structure: a quantity, a tuple or interval, a list or set, a region, an equation, words.

A list is what commas, semicolons, "and" and "or" separate outside brackets; `\pm` stands for two entries of it. Round
and square brackets keep their entries in order and may be tuples, intervals or vectors: which one matters only to
what they are compared with. An answer whose letters may be a unit or variables (`2mg`) has two readings. A reading is
all or nothing; what is left over makes the answer unreadable, and then its text alone counts.

Runs only inside a worker (`benchmark.evaluation.workers`).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeAlias

import sympy as sp

from benchmark.evaluation.bounded_arithmetic import Expression
from benchmark.evaluation.derivatives import differentiated
from benchmark.evaluation.equivalence import MAX_LENGTH, normalise
from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError, tokenise
from benchmark.evaluation.quantities import Quantity, Reading, plain_expression, read_quantity
from benchmark.evaluation.units import CONNECTIVES, is_name


@dataclass(frozen=True, slots=True)
class Words:
    """An answer in words, without its case where it has small letters."""

    text: str


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Entries in order between brackets: a tuple, an interval or a vector."""

    items: tuple["Answer", ...]
    opening: str
    closing: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Entries without an order; `braces` says that they are written as a set."""

    items: tuple["Answer", ...]
    braces: bool


@dataclass(frozen=True, slots=True)
class Ratio:
    """Parts of a proportion, in order."""

    items: tuple["Answer", ...]


@dataclass(frozen=True, slots=True)
class Region:
    r"""Parts that `\cup`, `\cap` or `\setminus` join, all by the same operator."""

    parts: tuple["Answer", ...]
    operator: str


@dataclass(frozen=True, slots=True)
class Inequality:
    """A chain of expressions, smallest first; strict says for each step whether it excludes equality.

    A step that is None says that its two sides differ.
    """

    items: tuple[Expression, ...]
    strict: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A value with the name that the answer gives it, as in `x = 5` or `x \\in S`.

    `argument` is the variable of a named function, `difference` the two sides subtracted, where both are expressions.
    """

    name: str
    value: "Answer"
    argument: Expression | None = None
    difference: Expression | None = None


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation that names no value: its two sides subtracted."""

    difference: Expression


Answer: TypeAlias = Quantity | Words | Bracketed | Listed | Ratio | Region | Inequality | Named | Equation

_OPENING: Final = {"(": ")", "[": "]", "\\{": "\\}", "{": "}", "\\langle": "\\rangle", "\\lfloor": "\\rfloor"} | {
    "\\lceil": "\\rceil"
}
_CLOSING: Final = frozenset(_OPENING.values())
_SEPARATORS: Final = frozenset((",", ";"))
_LESS: Final = {"<": True, "\\le": False}
_GREATER: Final = {">": True, "\\ge": False}
_SET_OPERATORS: Final = ("\\cup", "\\cap", "\\backslash")
_WORDS: Final = re.compile(r"[A-Za-z][A-Za-z0-9 '.,-]*")
_KNOWN_WORDS: Final = frozenset(("yes", "no", "odd", "even", "true", "all", "none", "both", "zero", "east", "west"))
_LONGEST_CODE: Final = 4  # capitals in a row that may be a code, a word or a product
_COMPUTATIONS: Final = ("\\int", "\\iint", "\\iiint", "\\oint", "\\lim", "\\sum", "\\prod")
_MOST_SIGNS: Final = 3
_EMPTY_SET: Final = sp.Symbol("emptyset")
_MODULUS: Final = sp.Symbol("z")  # whose absolute value is asked for, and solved for nothing
_DIGITS: Final = 30
_ZERO: Final = sp.Float(10) ** -20
_THOUSANDS: Final = re.compile(r"(\D*)(\d{1,3}(?:,\d{3})+)((?:\.\d+)?)(\D*|\D*\^\{?[23]\}?)")


def read_answer(text: str, how: Reading, thousands: bool = True) -> list[Answer]:
    """Return the structures that a whole answer may be, at least one; raises UnreadableError.

    `1,234` is a number with `thousands`, and a list of two without.
    """
    if len(text) > MAX_LENGTH:
        raise UnreadableError("too long")
    if words := _as_words(text, normalise(text)):
        return [words]
    if thousands and (match := _with_thousands(text)):
        text = match[1] + match[2].replace(",", "") + match[3] + match[4]
    variables, units = (_without_trailing_stop(tokenise(text, units)) for units in (False, True))
    if variables == units:
        return [_read_list(variables, how)]
    found: list[Answer] = []
    reasons = []
    for tokens in (variables, units):
        try:
            found.append(_read_list(tokens, how))
        except UnreadableError as reason:
            reasons.append(reason)
    if not found:
        raise reasons[0]
    return found


def _with_thousands(text: str) -> re.Match[str] | None:
    match = _THOUSANDS.fullmatch(text.strip())
    return match if match and not re.search(r"[,;()\[\]]", match[1] + match[4]) else None


def _as_words(text: str, plain: str) -> Words | None:
    letters = re.sub(r"[^A-Za-z]", "", plain)
    known = letters.lower() in _KNOWN_WORDS or (len(letters) > 1 and "\\text" in text)
    long_enough = known or len(letters) >= 4
    if not long_enough or not _WORDS.fullmatch(plain) or re.search(r"\b(?:and|or|pi|sqrt|infty)\b", plain):
        return None
    code = letters.isupper() and len(letters) <= _LONGEST_CODE and not known
    return Words(plain if code else plain.casefold())


def _without_trailing_stop(tokens: list[Token]) -> list[Token]:
    while tokens and tokens[-1].text in (".", ","):
        tokens = tokens[:-1]
    return tokens


def _split(tokens: Sequence[Token], separators: Collection[str]) -> tuple[list[list[Token]], list[str]]:
    """Split at separators outside brackets; return the parts and the separators between them."""
    parts: list[list[Token]] = [[]]
    found: list[str] = []
    depth = 0
    for token in tokens:
        if token.kind is not Kind.TEXT:
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth == 0 and token.text in separators and token.kind is not Kind.TEXT:
            parts.append([])
            found.append(token.text)
        else:
            parts[-1].append(token)
    return parts, found


def _read_list(tokens: list[Token], how: Reading, braces: bool = False) -> Answer:
    separated = [Token(Kind.SIGN, ",") if _is_connective(token) else token for token in tokens]
    parts = [part for part in _split(separated, _SEPARATORS)[0] if part]
    if not parts:
        raise UnreadableError("empty")
    items = [_read_relation(signed, how) for part in parts for signed in _with_signs(part)]
    return items[0] if len(items) == 1 and not braces else Listed(tuple(items), braces)


def _is_connective(token: Token) -> bool:
    return token.kind is Kind.TEXT and token.text.strip(" ,.").lower() in CONNECTIVES


def _with_signs(tokens: list[Token]) -> list[list[Token]]:
    r"""Return the entries that one with `\pm` stands for: each sign by itself, or all together where `\mp` says so."""
    places = []
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token.text == "\\{") - (token.text == "\\}")
        if depth == 0 and token.text in ("\\pm", "\\mp"):  # those of a set are signs of its entries
            places.append(place)
    together = any(tokens[place].text == "\\mp" for place in places)
    if len(places) > 1 and not together and (len(places) > _MOST_SIGNS or any(token.text == "," for token in tokens)):
        raise UnreadableError("signs that may belong together or not")
    choices = product((False, True), repeat=min(len(places), 1) if together else len(places))
    return [_signed(tokens, places, flips * len(places) if together else flips) for flips in choices]


def _signed(tokens: list[Token], places: list[int], flips: Sequence[bool]) -> list[Token]:
    found = list(tokens)
    for place, flip in zip(places, flips, strict=True):
        found[place] = Token(Kind.SIGN, "-" if flip != (tokens[place].text == "\\mp") else "+")
    return found


def _read_relation(tokens: list[Token], how: Reading) -> Answer:
    tokens = _without_approximation(tokens)
    sides, relations = _split(tokens, ("=", "<", ">", "\\le", "\\ge", "\\ne", "\\in"))
    if not relations:
        return _read_region(tokens, how)
    if any(not side for side in sides):
        raise UnreadableError("a relation without one of its sides")
    if set(relations) == {"="}:
        return _read_equation(sides, how)
    if relations == ["\\in"]:
        return Named(_name(sides[0]), _read_region(sides[1], how))
    return _read_inequality([_read_plain(side, how) for side in sides], relations)


def _without_approximation(tokens: list[Token]) -> list[Token]:
    r"""Keep the exact value of `x = 1/3 \approx 0.33`, and read `x \approx 11` as `x = 11`."""
    parts = _split(tokens, ("\\approx",))[0]
    if len(parts) == 2 and all(token.kind is not Kind.NUMBER and token.text != "=" for token in parts[0]):
        return [*parts[0], Token(Kind.SIGN, "="), *parts[1]]
    return parts[0]


def _read_equation(sides: list[list[Token]], how: Reading) -> Answer:
    first, last = sides[0], sides[-1]
    left = plain_expression(first, how)
    if _gives_two_numbers(sides, how):
        raise UnreadableError("a name for two numbers")
    if (left is None and _names_a_value(first)) or (left is not None and _is_a_name(left)):
        value = _read_region(last, how)
        right = value.value if isinstance(value, Quantity) else None
        argument = left.args[0] if isinstance(left, sp.core.function.AppliedUndef) else None
        if left is None or right is None or isinstance(right, sp.MatrixBase):
            return Named(_name(first), value, argument)
        if not _defined_names(left) & _names(right):
            return Named(_name(first), value, argument, left - right)
    if left is None:
        raise UnreadableError("a side of an equation that is no name")
    right = _read_plain(last, how)
    if _is_a_name(right) and not right.is_number and left.is_number:  # 5 = x
        return Named(_name(last), read_quantity(first, how), None, left - right)
    if left.is_number and right.is_number and _is_zero(left - right):  # 2 + 3 = 5
        return read_quantity(last, how)
    if left == right or (left - right).is_number:
        raise UnreadableError("an equation that says nothing")
    return Equation(left - right)


def _gives_two_numbers(sides: list[list[Token]], how: Reading) -> bool:
    """Say whether a chain gives a plain number and then another, as `x = 6 = 5` does; computations may be rounded."""
    if len(sides) < 3 or any(token.kind is not Kind.NUMBER and token.text != "-" for token in sides[1]):
        return False
    first, last = plain_expression(sides[1], how), plain_expression(sides[-1], how)
    if first is None or last is None or not (first.is_number and last.is_number):
        return False
    return not _is_zero(first - last)


def _is_zero(number: Expression) -> bool:
    return bool(number == 0 or abs(number).evalf(_DIGITS) < _ZERO)


def _names_a_value(tokens: list[Token]) -> bool:
    """Say whether tokens that are no expression name a value: words, a tuple of names, an integral, not a sum."""
    if tokens[0].text in _COMPUTATIONS:
        return True
    if any(token.kind is Kind.TEXT and not is_name(token.text) for token in tokens):
        return False
    return not _split(tokens, ("+", "-", "*", "/", "^", "!", "|", "%"))[1]


def _is_a_name(expression: Expression) -> bool:
    """Say whether an expression stands for one thing: x, f(x), |AB|, the ratio NO/BO of two segments; |x| does not."""
    if isinstance(expression, (sp.Symbol, sp.core.function.AppliedUndef)):
        return True
    if isinstance(expression, sp.Abs):
        inner = expression.args[0]
        return _is_a_name(inner) and not any(symbol.name[0].islower() for symbol in inner.free_symbols - {_MODULUS})
    if isinstance(expression, (sp.Mul, sp.Pow)):
        factors = [factor.as_base_exp() for factor in sp.Mul.make_args(expression)]
        capitals = all(isinstance(base, sp.Symbol) and base.name[0].isupper() for base, _ in factors)
        return capitals and any(exponent.is_positive for _, exponent in factors)
    return False


def _defined_names(expression: Expression) -> set[str]:
    """Return the name that an equation solves for, of a derivative that of its function; `x' = kx` is not solved."""
    if isinstance(expression, sp.core.function.AppliedUndef):
        name = expression.func.__name__
    elif isinstance(expression, sp.Symbol):
        name = expression.name
    else:
        return set()
    return {differentiated(name) or name}


def _names(expression: Expression) -> set[str]:
    """Return the names that an expression varies with; f(0) is a constant."""
    applied = {one for one in expression.atoms(sp.core.function.AppliedUndef) if one.free_symbols}
    return {one.func.__name__ for one in applied} | {symbol.name for symbol in expression.free_symbols}


def _read_inequality(items: list[Expression], relations: list[str]) -> Inequality:
    if all(relation in _GREATER for relation in relations):
        return Inequality(tuple(reversed(items)), tuple(_GREATER[relation] for relation in reversed(relations)))
    if all(relation in _LESS for relation in relations):
        return Inequality(tuple(items), tuple(_LESS[relation] for relation in relations))
    if relations == ["\\ne"]:
        return Inequality(tuple(items), (None,))
    raise UnreadableError("relations of several kinds")


def _read_region(tokens: list[Token], how: Reading) -> Answer:
    parts, operators = _split(tokens, _SET_OPERATORS)
    if not operators:
        return _read_ratio(tokens, how)
    if len(set(operators)) > 1 or any(not part for part in parts):
        raise UnreadableError("set operators of several kinds")
    return Region(tuple(_read_ratio(part, how) for part in parts), operators[0])


def _read_ratio(tokens: list[Token], how: Reading) -> Answer:
    parts, colons = _split(tokens, (":",))
    if not colons:
        return _read_bracketed(tokens, how)
    return Ratio(tuple(read_quantity(part, how) for part in parts))


def _read_bracketed(tokens: list[Token], how: Reading) -> Answer:
    """Read a bracketed group that is the whole entry, else a quantity."""
    if not tokens:
        raise UnreadableError("empty")
    opening, closing = tokens[0].text, tokens[-1].text
    if opening not in _OPENING or closing not in _CLOSING or not _one_group(tokens):
        return read_quantity(tokens, how)
    inner = tokens[1:-1]
    if opening == "\\{" and closing == "\\}":
        return _read_list(inner, how, braces=True) if inner else Quantity(_EMPTY_SET)
    parts, commas = _split(inner, _SEPARATORS)
    if opening == "{":
        return _read_list(inner, how) if closing == "}" else read_quantity(tokens, how)
    if not commas or opening in ("\\lfloor", "\\lceil"):
        return read_quantity(tokens, how)
    kinds = {"\\langle": "(", "\\rangle": ")"}
    items = tuple(_read_relation(part, how) for part in parts)
    return Bracketed(items, kinds.get(opening, opening), kinds.get(closing, closing))


def _one_group(tokens: Sequence[Token]) -> bool:
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth == 0:
            return place == len(tokens) - 1
    return False


def _read_plain(tokens: list[Token], how: Reading) -> Expression:
    value = read_quantity(tokens, how).value
    if isinstance(value, sp.MatrixBase):
        raise UnreadableError("a relation of matrices")
    return value


def _name(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens if token.text not in "{}")
