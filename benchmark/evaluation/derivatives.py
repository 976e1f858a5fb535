r"""Derivatives as names: `\frac{dx}{dt}`, `dx/dt`, `\dot{x}` and `x'` are one symbol, and the d does not cancel.

A dot differentiates by t. A prime does not say by what: it is what the fractions and dots of both answers
differentiate by, if that is one variable.
"""

from collections.abc import Sequence
from typing import Final

from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError
from benchmark.evaluation.token_cursor import TokenCursor

OPERATORS: Final = ("d", "\\partial")
DOTS: Final = {"dot": 1, "ddot": 2, "dddot": 3}
_BY: Final = " by "
_FRACTION: Final = "\\frac"


def derivative_name(base: str, order: int, by: str, operator: str = "d") -> str:
    """Return the name of a derivative of `base`; of order 0 the name itself."""
    base = base.replace("\\", "")
    if order == 0:
        return base
    return ("" if operator == "d" else "partial ") + base + "'" * order + _BY + by


def differentiated(name: str) -> str | None:
    """Return the name whose derivative this is; None where it is none."""
    start, found, _ = name.removeprefix("partial ").partition(_BY)
    return start.rstrip("'") if found else None


def read_derivative(top: Sequence[Token], bottom: Sequence[Token]) -> tuple[str, list[Token]] | None:
    r"""Return the name of the derivative that a fraction spells and the tokens behind it, as the (t) of `dx(t)`.

    None where the fraction is an ordinary one; raises UnreadableError where it looks like a derivative and is none
    that is read, as `\frac{d}{dx}` in front of a function: cancelling the d would make it a ratio.
    """
    above, below = TokenCursor(top), TokenCursor(bottom)
    operator = above.accept(*OPERATORS)
    if not operator or not below.accept(operator) or above.peek() == "_" or below.peek() == "_":
        return None
    if below.kind() not in (Kind.LETTER, Kind.COMMAND) or not _continues_a_derivative(above):
        return None
    order = _power(above)
    base = _name(above)
    by = _name(below)
    if not (base and order) or _power(below) != order or not below.at_end() or above.peek() not in ("", "("):
        raise UnreadableError("a derivative of another form")
    return derivative_name(base, order, by.replace("\\", ""), operator), above.tokens[above.position :]


def slashed_derivative(cursor: TokenCursor) -> tuple[list[Token], list[Token]] | None:
    """Take `dx/dt`, if it is next, and return its two sides; None, and nothing taken, where it is not."""
    ahead = TokenCursor(cursor.tokens[cursor.position :])
    sides = []
    for side in range(2):
        start = ahead.position
        if (side and not ahead.accept("/")) or not ahead.accept("d"):
            return None
        _power(ahead)
        if not _name(ahead):
            return None
        if side:
            _power(ahead)
        sides.append(ahead.tokens[start + side : ahead.position])
    cursor.position += ahead.position
    return sides[0], sides[1]


def time_or_argument(answers: Sequence[Sequence[Token]]) -> str:
    """Return what the answers differentiate by, where it is one variable, else an empty text."""
    found = set()
    for tokens in answers:
        for place, token in enumerate(tokens):
            if token.kind is Kind.COMMAND and token.text[1:] in DOTS:
                found.add("t")
            elif token.text == "d" and place > 1 and _opens_a_denominator(tokens, place):
                found.add(_name(TokenCursor(tokens[place + 1 :])).replace("\\", ""))
    found.discard("")
    return found.pop() if len(found) == 1 else ""


def _opens_a_denominator(tokens: Sequence[Token], place: int) -> bool:
    before = tokens[place - 1].text
    return before == "/" or (before == "{" and tokens[place - 2].text == "}")


def _continues_a_derivative(cursor: TokenCursor) -> bool:
    return cursor.at_end() or cursor.peek() in ("^", "(", "[", "{") or cursor.kind() in (Kind.LETTER, Kind.COMMAND)


def _power(cursor: TokenCursor) -> int:
    """Take an exponent, if one is next: its value, 1 where there is none, 0 where it is no order of a derivative."""
    if not cursor.accept("^"):
        return 1
    text = cursor.group_text()
    return int(text) if len(text) == 1 and text.isdigit() else 0


def _name(cursor: TokenCursor) -> str:
    text, kind = cursor.peek(), cursor.kind()
    if kind is not Kind.LETTER and not (kind is Kind.COMMAND and text[1:].isalpha() and text != _FRACTION):
        return ""
    cursor.position += 1
    inner = cursor.group_text() if kind is Kind.COMMAND and cursor.peek() == "{" else ""
    return text + inner + cursor.subscript()
