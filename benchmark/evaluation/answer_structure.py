r"""Read a whole answer as a structure: a quantity, a tuple or interval, a list or set, a region, an equation, words.

A list is what commas, semicolons, "and" and "or" separate outside brackets; `\pm` stands for two entries of it. Round
and square brackets keep their entries in order and may be tuples, intervals or vectors: which one matters only to
what they are compared with. The reading is all or nothing; what is left over makes the answer unreadable, and then
its text alone counts.

Runs only inside a worker (`benchmark.evaluation.workers`).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import sympy as sp

from benchmark.evaluation.bounded_arithmetic import Expression
from benchmark.evaluation.equivalence import MAX_LENGTH, normalise
from benchmark.evaluation.latex_expressions import read_expression
from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError, tokenise
from benchmark.evaluation.units import CONNECTIVES, MULTIPLIERS, PERCENT_WORDS, unit_name


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression or a matrix, with its unit ("" for none) and whether a percent sign follows."""

    value: Expression
    unit: str = ""
    percent: bool = False


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
_SHORT_WORDS: Final = frozenset(("yes", "no", "odd", "all"))
_THOUSANDS: Final = re.compile(r"(\D*)(\d{1,3}(?:,\d{3})+)((?:\.\d+)?)(\D*|\D*\^\{?[23]\}?)")


def read_answer(text: str, thousands: bool = True) -> Answer:
    """Return the structure of a whole answer; raises UnreadableError.

    `1,234` is a number with `thousands`, and a list of two without.
    """
    if len(text) > MAX_LENGTH:
        raise UnreadableError("too long")
    plain = normalise(text)
    if words := _as_words(text, plain):
        return words
    if thousands and (match := _with_thousands(text)):
        text = match[1] + match[2].replace(",", "") + match[3] + match[4]
    return _read_list(_without_trailing_stop(tokenise(text)))


def _with_thousands(text: str) -> re.Match[str] | None:
    match = _THOUSANDS.fullmatch(text.strip())
    return match if match and not re.search(r"[,;()\[\]]", match[1] + match[4]) else None


def _as_words(text: str, plain: str) -> Words | None:
    letters = re.sub(r"[^A-Za-z]", "", plain)
    long_enough = len(letters) >= 4 or letters.lower() in _SHORT_WORDS or (len(letters) > 1 and "\\text" in text)
    if not long_enough or not _WORDS.fullmatch(plain) or re.search(r"\b(?:and|or|pi|sqrt|infty)\b", plain):
        return None
    return Words(plain if letters.isupper() else plain.casefold())


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


def _read_list(tokens: list[Token], braces: bool = False) -> Answer:
    separated = [Token(Kind.SIGN, ",") if _is_connective(token) else token for token in tokens]
    parts = [part for part in _split(separated, _SEPARATORS)[0] if part]
    if not parts:
        raise UnreadableError("empty")
    items: list[Answer] = []
    for part in parts:
        items += _read_signs(part)
    return items[0] if len(items) == 1 and not braces else Listed(tuple(items), braces)


def _is_connective(token: Token) -> bool:
    return token.kind is Kind.TEXT and token.text.strip(" ,.").lower() in CONNECTIVES


def _read_signs(tokens: list[Token]) -> list[Answer]:
    r"""Read one entry, which is two where it holds `\pm`."""
    if any(token.text in ("\\pm", "\\mp") for token in tokens) and tokens[0].text != "\\{":
        return [_read_relation(tokens, sign) for sign in (1, -1)]
    return [_read_relation(tokens, 1)]


def _read_relation(tokens: list[Token], sign: int) -> Answer:
    tokens = _without_approximation(tokens)
    sides, relations = _split(tokens, ("=", "<", ">", "\\le", "\\ge", "\\ne", "\\in"))
    if not relations:
        return _read_region(tokens, sign)
    if any(not side for side in sides):
        raise UnreadableError("a relation without one of its sides")
    if set(relations) == {"="}:
        return _read_equation(sides, sign)
    if relations == ["\\in"]:
        return Named(_name(sides[0]), _read_region(sides[1], sign))
    return _read_inequality([_read_plain(side, sign) for side in sides], relations)


def _without_approximation(tokens: list[Token]) -> list[Token]:
    r"""Keep the exact value of `x = 1/3 \approx 0.33`, and read `x \approx 11` as `x = 11`."""
    parts = _split(tokens, ("\\approx",))[0]
    if len(parts) == 2 and all(token.kind is not Kind.NUMBER and token.text != "=" for token in parts[0]):
        return [*parts[0], Token(Kind.SIGN, "="), *parts[1]]
    return parts[0]


def _read_equation(sides: list[list[Token]], sign: int) -> Answer:
    name = _name(sides[0])
    last = sides[-1]
    left = _try_expression(sides[0], sign)
    if left is None or _is_a_name(left):
        value = _read_region(last, sign)
        right = value.value if isinstance(value, Quantity) else None
        argument = left.args[0] if isinstance(left, sp.core.function.AppliedUndef) else None
        known = left is not None and right is not None and not isinstance(right, sp.MatrixBase)
        return Named(name, value, argument, left - right if known else None)
    right = _read_plain(last, sign)
    if _is_a_name(right) and not right.is_number and left.is_number:  # 5 = x
        return Named(_name(last), Quantity(left), None, left - right)
    if isinstance(left, sp.MatrixBase) or isinstance(right, sp.MatrixBase):
        raise UnreadableError("an equation of matrices")
    if left == right or (left - right).is_number:
        raise UnreadableError("an equation that says nothing")
    return Equation(left - right)


def _is_a_name(expression: Expression) -> bool:
    """Say whether an expression stands for one thing: x, f(x), |AB|, the ratio NO/BO of two segments."""
    if isinstance(expression, (sp.Symbol, sp.core.function.AppliedUndef)):
        return True
    if isinstance(expression, sp.Abs):
        return _is_a_name(expression.args[0])
    if isinstance(expression, (sp.Mul, sp.Pow)):
        factors = [factor.base if isinstance(factor, sp.Pow) else factor for factor in sp.Mul.make_args(expression)]
        return all(isinstance(factor, sp.Symbol) and factor.name[0].isupper() for factor in factors)
    return False


def _read_inequality(items: list[Expression], relations: list[str]) -> Inequality:
    if all(relation in _GREATER for relation in relations):
        return Inequality(tuple(reversed(items)), tuple(_GREATER[relation] for relation in reversed(relations)))
    if all(relation in _LESS for relation in relations):
        return Inequality(tuple(items), tuple(_LESS[relation] for relation in relations))
    if relations == ["\\ne"]:
        return Inequality(tuple(items), (None,))
    raise UnreadableError("relations of several kinds")


def _read_region(tokens: list[Token], sign: int) -> Answer:
    parts, operators = _split(tokens, _SET_OPERATORS)
    if not operators:
        return _read_ratio(tokens, sign)
    if len(set(operators)) > 1 or any(not part for part in parts):
        raise UnreadableError("set operators of several kinds")
    return Region(tuple(_read_ratio(part, sign) for part in parts), operators[0])


def _read_ratio(tokens: list[Token], sign: int) -> Answer:
    parts, colons = _split(tokens, (":",))
    if not colons:
        return _read_bracketed(tokens, sign)
    return Ratio(tuple(_read_quantity(part, sign) for part in parts))


def _read_bracketed(tokens: list[Token], sign: int) -> Answer:
    """Read a bracketed group that is the whole entry, else a quantity."""
    if not tokens:
        raise UnreadableError("empty")
    opening, closing = tokens[0].text, tokens[-1].text
    if opening not in _OPENING or closing not in _CLOSING or not _one_group(tokens):
        return _read_quantity(tokens, sign)
    inner = tokens[1:-1]
    if opening == "\\{" and closing == "\\}":
        return _read_list(inner, braces=True)
    parts, commas = _split(inner, _SEPARATORS)
    if opening == "{":
        return _read_list(inner) if closing == "}" else _read_quantity(tokens, sign)
    if not commas or opening in ("\\lfloor", "\\lceil"):
        return _read_quantity(tokens, sign)
    kinds = {"\\langle": "(", "\\rangle": ")"}
    items = tuple(_read_relation(part, sign) for part in parts)
    return Bracketed(items, kinds.get(opening, opening), kinds.get(closing, closing))


def _one_group(tokens: Sequence[Token]) -> bool:
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth == 0:
            return place == len(tokens) - 1
    return False


def _read_quantity(tokens: list[Token], sign: int) -> Quantity:
    tokens, unit, percent = _take_unit(tokens)
    factor = 1
    while tokens and tokens[-1].kind is Kind.TEXT and tokens[-1].text.lower() in MULTIPLIERS:
        factor *= MULTIPLIERS[tokens[-1].text.lower()]
        tokens = tokens[:-1]
    value = read_expression(tokens, sign)
    return Quantity(value * factor if factor > 1 else value, unit, percent)


def _take_unit(tokens: list[Token]) -> tuple[list[Token], str, bool]:
    """Take what follows a number: a percent sign, or a unit, possibly with a power."""
    percent = False
    while tokens and (tokens[-1].text == "%" or _is_percent(tokens[-1])):
        tokens, percent = tokens[:-1], True
    end = len(tokens)
    words: list[str] = []
    while end > 1:
        token = tokens[end - 1]
        if token.kind is Kind.TEXT and token.text.lower() not in MULTIPLIERS:
            words.insert(0, token.text)
            end -= 1
        elif end > 2 and token.text.isdigit() and tokens[end - 2].text == "^" and tokens[end - 3].kind is Kind.TEXT:
            words.insert(0, "^" + token.text)
            end -= 2
        elif end > 4 and token.text == "}" and tokens[end - 4].text == "^" and tokens[end - 5].kind is Kind.TEXT:
            words.insert(0, "^" + tokens[end - 2].text)
            end -= 4
        elif token.text == "/" and words:
            words.insert(0, "/")
            end -= 1
        else:
            break
    unit = unit_name(" ".join(words).replace(" ^", "^"))
    if unit is None:
        raise UnreadableError(f"words that are no unit: {' '.join(words)}")
    return tokens[:end], unit, percent


def _is_percent(token: Token) -> bool:
    return token.kind is Kind.TEXT and token.text.strip(" .").lower() in PERCENT_WORDS


def _read_plain(tokens: list[Token], sign: int) -> Expression:
    value = _read_quantity(tokens, sign).value
    if isinstance(value, sp.MatrixBase):
        raise UnreadableError("a relation of matrices")
    return value


def _try_expression(tokens: list[Token], sign: int) -> Any:
    try:
        value = read_expression(tokens, sign)
    except UnreadableError:
        return None
    return None if isinstance(value, sp.MatrixBase) else value


def _name(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens if token.text not in "{}")
