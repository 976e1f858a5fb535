r"""Read one entry of an answer as a quantity: an expression with the unit, the currency or the percent sign behind it.

Runs only inside a worker (`benchmark.evaluation.workers`).
"""

from dataclasses import dataclass
from typing import Final

import sympy as sp

from benchmark.evaluation.bounded_arithmetic import Expression
from benchmark.evaluation.latex_expressions import read_expression, read_measure
from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError
from benchmark.evaluation.notation import Notation
from benchmark.evaluation.units import MULTIPLIERS, PERCENT_WORDS, same_unit, unit_name


@dataclass(frozen=True, slots=True)
class Reading:
    """How an answer is read: what its letters stand for, and whether it is the gold."""

    notation: Notation
    of_gold: bool


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression or a matrix, with its unit ("" for none) and whether a percent sign follows.

    `unit_required` says that the unit may not be left out, `letters` is the text where it is nothing but capital
    letters and digits, and `of_gold` says which side of the comparison this is.
    """

    value: Expression
    unit: str = ""
    percent: bool = False
    unit_required: bool = False
    letters: str = ""
    of_gold: bool = False


_CURRENCY: Final = "\\$"
_OTHER_CURRENCIES: Final = ("cent", "euro")
_SCALES: Final = ("C", "F", "K")


def read_quantity(tokens: list[Token], how: Reading) -> Quantity:
    """Return the quantity that the tokens spell; raises UnreadableError."""
    plain = [token for token in tokens if token.text != _CURRENCY]
    rest, unit, percent = _take_unit(plain)
    words = plain[len(rest) :]
    factor = 1
    while rest and rest[-1].kind is Kind.TEXT and rest[-1].text.lower() in MULTIPLIERS:
        factor *= MULTIPLIERS[rest[-1].text.lower()]
        rest = rest[:-1]
    value, in_degrees = read_measure(rest, how.notation)
    if any(_may_be_variable(token) for token in words) and not value.is_number:
        raise UnreadableError("letters behind an expression that may be variables or a unit")
    if len(plain) < len(tokens):
        unit = _in_dollars(unit)
    return Quantity(
        value * factor if factor > 1 else value,
        unit or ("degree^1" if in_degrees else ""),
        percent,
        unit_required=how.of_gold and any(token.kind is Kind.UNIT for token in words),
        letters=_letters(tokens),
        of_gold=how.of_gold,
    )


def plain_expression(tokens: list[Token], how: Reading) -> Expression | None:
    """Return the expression that the tokens spell, its currency left out; None where they spell none or a matrix."""
    try:
        value = read_expression([token for token in tokens if token.text != _CURRENCY], how.notation)
    except UnreadableError:
        return None
    return None if isinstance(value, sp.MatrixBase) else value


def units_agree(a: Quantity, b: Quantity) -> bool:
    """Say whether the units of two quantities agree: one may be left out, and none is a percent sign."""
    if (a.percent and b.unit) or (b.percent and a.unit):
        return False
    if (a.unit_required and not b.unit) or (b.unit_required and not a.unit):
        return False
    return same_unit(a.unit, b.unit)


def percentage_values(percentage: Quantity, other: Quantity) -> list[Expression]:
    """Return what a percentage may be worth beside a number without a sign: its number, or a hundredth of it.

    Beside a gold of at most 1 only the hundredth counts: 0.05 is 5%, and not 0.05%.
    """
    share = percentage.value / 100
    small = other.of_gold and other.value.is_number and other.value.is_real and bool(abs(other.value) <= 1)
    return [share] if small else [percentage.value, share]


def _take_unit(tokens: list[Token]) -> tuple[list[Token], str, bool]:
    """Take what follows a number: a percent sign, or a unit, possibly with a power."""
    percent = False
    while tokens and (tokens[-1].text == "%" or _is_percent(tokens[-1])):
        tokens, percent = tokens[:-1], True
    end = len(tokens)
    words: list[str] = []
    if end > 2 and tokens[end - 2].text == "\\degree" and tokens[end - 1].text in _SCALES:
        return tokens[: end - 1], f"{tokens[end - 1].text}^1", percent
    while end > 1:
        token = tokens[end - 1]
        if token.kind in (Kind.TEXT, Kind.UNIT) and token.text.lower() not in MULTIPLIERS:
            words.insert(0, token.text)
            end -= 1
        elif length := _power_length(tokens[:end]):
            words.insert(0, "".join(part.text for part in tokens[end - length : end] if part.text not in "{}"))
            end -= length
        elif token.text in ("/", "*") and words and tokens[end - 2].text not in MULTIPLIERS:
            words.insert(0, token.text)
            end -= 1
        else:
            break
    while words and words[0] == "*":  # 3 \times \text{m} is no unit
        raise UnreadableError("a unit as a factor")
    unit = unit_name(" ".join(words))
    if unit is None:
        raise UnreadableError(f"words that are no unit: {' '.join(words)}")
    return tokens[:end], unit, percent


def _power_length(tokens: list[Token]) -> int:
    """Return of how many tokens the power of a unit at the end consists; 0 where there is none."""
    texts = [token.text for token in tokens[-6:]]
    for length in (2, 4, 5):
        if len(texts) <= length or texts[-length] != "^" or tokens[-length - 1].kind not in (Kind.TEXT, Kind.UNIT):
            continue
        if "".join(texts[1 - length :]).strip("{}").lstrip("-").isdigit():
            return length
    return 0


def _may_be_variable(token: Token) -> bool:
    return token.kind is Kind.UNIT or (token.kind is Kind.TEXT and len(token.text) == 1)


def _in_dollars(unit: str) -> str:
    """Return a unit with the currency that stands in front; a noun behind says what is paid for."""
    if any(unit.startswith(currency) for currency in _OTHER_CURRENCIES):
        raise UnreadableError("two currencies")
    return " ".join(sorted({"dollar^1", *(part for part in unit.split() if part.endswith("^-1"))}))


def _letters(tokens: list[Token]) -> str:
    """Return the text of an entry of capital letters and digits, which may be a name, a code or a product."""
    text = "".join(token.text for token in tokens)
    return text if text.isalnum() and text.isupper() and text.isascii() else ""


def _is_percent(token: Token) -> bool:
    return token.kind is Kind.TEXT and token.text.strip(" .").lower() in PERCENT_WORDS
