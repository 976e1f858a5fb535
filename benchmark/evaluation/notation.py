r"""What the letters of two answers stand for, as both of them together show.

`f(x)` applies f, `n(n+1)` is a product, and `h(a+b)` may be either. A letter in front of brackets is a function where
the brackets hold one number, one name or several entries; in front of anything longer it is one if it is applied like
that elsewhere, or if functions are usually called so and it stands nowhere without brackets. So `I(0)` is a value of I
and not 0, and `P(1+r)` is `P+Pr`, where P cannot be a function.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmark.evaluation.derivatives import OPERATORS, time_or_argument
from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError
from benchmark.evaluation.token_cursor import TokenCursor

_FUNCTION_LETTERS: Final = frozenset("fghFGHPQW")
_CONSTANTS: Final = frozenset(("e", "i", "\\pi", "\\infty"))
_NOT_NAMES: Final = frozenset(
    (
        *("\\frac", "\\sqrt", "\\binom", "\\log", "\\ln", "\\exp", "\\sum", "\\int", "\\lim", "\\prod", "\\degree"),
        *("\\sin", "\\cos", "\\tan", "\\cot", "\\sec", "\\csc", "\\sinh", "\\cosh", "\\tanh", "\\asin", "\\acos"),
        *("\\atan", "\\min", "\\max", "\\gcd", "\\lcm", "\\le", "\\ge", "\\ne", "\\in", "\\pm", "\\mp", "\\cup"),
        *("\\cap", "\\backslash", "\\approx", "\\begin", "\\end", "\\to", "\\Rightarrow", "\\prime", "\\angle"),
        *("\\langle", "\\rangle", "\\lfloor", "\\rfloor", "\\lceil", "\\rceil", "\\neg", "\\pmod", "\\mod", "\\bmod"),
    )
)


@dataclass(frozen=True, slots=True)
class Notation:
    """Names that stand without brackets, names that are applied, and what primes differentiate by ("" if unsaid)."""

    variables: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    differentiated_by: str = ""


def notation_of(*answers: Sequence[Token]) -> Notation:
    """Return what the letters of these answers stand for."""
    variables: set[str] = set()
    functions: set[str] = set()
    for tokens in answers:
        cursor = TokenCursor(tokens)
        while not cursor.at_end():
            name = _take_name(cursor)
            if not name:
                cursor.position += 1
            elif is_simply_applied(cursor, name):
                functions.add(name)
            elif cursor.peek() != "(":
                variables.add(name)
    return Notation(frozenset(variables), frozenset(functions), time_or_argument(answers))


def is_applied(cursor: TokenCursor, name: str, notation: Notation) -> bool:
    """Say whether the brackets that are next, if any, hold the arguments of this name."""
    if cursor.peek() != "(" or name in _CONSTANTS:
        return False
    if is_simply_applied(cursor, name) or name in notation.functions:
        return True
    return name[0] in _FUNCTION_LETTERS and name not in notation.variables


def is_simply_applied(cursor: TokenCursor, name: str) -> bool:
    """Say whether the next brackets hold what only arguments look like: one number, one name, or several entries."""
    if cursor.peek() != "(" or name in _CONSTANTS:
        return False
    ahead = TokenCursor(cursor.tokens[cursor.position :])
    try:
        inner = ahead.group_tokens("(", ")")
    except UnreadableError:
        return False
    if len(inner) == 1 and inner[0].kind is Kind.NUMBER:
        return ahead.peek() != "^" or name[0] in _FUNCTION_LETTERS  # a(2)^n is a product
    if _separates(inner):
        return True
    content = TokenCursor(inner)
    argument = _take_name(content)
    return bool(argument) and content.at_end() and argument not in (name, *_CONSTANTS)


def _separates(tokens: Sequence[Token]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text == "," and token.kind is Kind.SIGN:
            return True
    return False


def _take_name(cursor: TokenCursor) -> str:
    r"""Take a letter or a `\name` with its subscript and primes, and return it; empty where none is next."""
    text, kind = cursor.peek(), cursor.kind()
    named = kind is Kind.LETTER or (kind is Kind.COMMAND and text[1:].isalpha() and text not in _NOT_NAMES)
    if not named or (text in OPERATORS and cursor.kind(1) in (Kind.LETTER, Kind.COMMAND)):  # the d of dx
        return ""
    cursor.position += 1
    return text + cursor.subscript() + "'" * cursor.primes()
