r"""Split a LaTeX answer into tokens, without typography.

Sizes, delimiters, spacing and degree signs go away here, and spellings of one sign become one token, so that the
reader of expressions (`benchmark.evaluation.latex_expressions`) meets few cases. Plain text such as `sqrt(3)/3` goes
through the same tokens as LaTeX.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from benchmark.evaluation.equivalence import plain_characters
from benchmark.evaluation.units import is_plain_unit


class UnreadableError(ValueError):
    """The text is no expression of the subset that is read, or evaluating it would cost too much."""


class Kind(StrEnum):
    """What a token is."""

    NUMBER = "number"
    LETTER = "letter"
    COMMAND = "command"
    r"""A backslash and a name; spellings of one sign share one, as `<=`, `\leq` and `\leqslant` do."""
    TEXT = "text"
    r"""The content of `\text{...}` and of its relatives, stripped."""
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Token:
    """One token; the text of a command has its backslash."""

    kind: Kind
    text: str


TEXT_COMMANDS: Final = ("text", "textbf", "textit", "textrm", "textsf", "textnormal", "mbox", "hbox", "mathrm", "rm")
_GROUP: Final = re.compile(
    r"\\(" + "|".join((*TEXT_COMMANDS, "operatorname", "mathbf", "boldsymbol", "mathit")) + r")\s*\*?\{([^{}]*)\}"
)
_DROPPED: Final = re.compile(
    r"\\(?:displaystyle|textstyle|limits|boxed|fbox|mathstrut|(?:left|right)\s*\.|left|right|[bB]igg?[lr]?)(?![A-Za-z])"
    r"|\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])|\u00b0|\\\$|(?<!\\)\\!"
)
_SPACES: Final = re.compile(r"(?<!\\)\\[,;:> ()\[\]]|\\q?quad(?![A-Za-z])|~|\$")
_THOUSANDS_MARK: Final = re.compile(r"(?<=\d)(?:,\s*\\!\s*|,\\,|\{,\}|\\,)(?=\d{3}(?!\d))")
_DOUBLED: Final = re.compile(r"\\\\(?=[A-Za-z])")
_PLAIN_PREFIX: Final = re.compile(r"(?<![A-Za-z])(?:np|numpy|math)\.(?=[a-z])")
_TOKEN: Final = re.compile(
    r"\\([A-Za-z]+)|\\(.)|(\d+\.?\d*(?:[eE][+-]?\d+(?![\w^]))?|\.\d+)|([A-Za-z])|(<=|>=|!=|=>|\*\*)|(\S)", re.DOTALL
)
_SPELLINGS: Final = {
    **dict.fromkeys(("dfrac", "tfrac", "cfrac"), "frac"),
    **dict.fromkeys(("leq", "leqslant", "leqq"), "le"),
    **dict.fromkeys(("geq", "geqslant", "geqq"), "ge"),
    **dict.fromkeys(("neq", "not="), "ne"),
    **dict.fromkeys(("lbrace",), "{"),
    **dict.fromkeys(("rbrace",), "}"),
    **dict.fromkeys(("vert", "lvert", "rvert", "mid"), "|"),
    **dict.fromkeys(("varphi",), "phi"),
    **dict.fromkeys(("varepsilon",), "epsilon"),
    **dict.fromkeys(("dbinom", "tbinom"), "binom"),
    **dict.fromkeys(("arcsin", "asin"), "asin"),
    **dict.fromkeys(("arccos", "acos"), "acos"),
    **dict.fromkeys(("arctan", "atan"), "atan"),
    "sim": "approx",
    "simeq": "approx",
    "infin": "infty",
    "setminus": "backslash",
}
_SIGNS: Final = {
    "lt": "<",
    "gt": ">",
    "times": "*",
    "cdot": "*",
    "ast": "*",
    "div": "/",
    "colon": ":",
    "|": "|",
    "%": "%",
    "&": "&",
    "#": "#",
    "_": "_",
}
_PAIRS: Final = {"<=": "le", ">=": "ge", "!=": "ne", "**": "^"}
_UNICODE: Final = {
    "\u2264": "\\le ",
    "\u2265": "\\ge ",
    "\u2260": "\\ne ",
    "\u00d7": "*",
    "\u00b7": "*",
    "\u22c5": "*",
    "\u00f7": "/",
    "\u221a": "\\sqrt ",
    "\u221e": "\\infty ",
    "\u03c0": "\\pi ",
    "\u2208": "\\in ",
    "\u222a": "\\cup ",
    "\u00b1": "\\pm ",
    "\u2248": "\\approx ",
    "\u222b": "\\int ",
    "\u221b": "\\sqrt[3] ",
    "\u03b8": "\\theta ",
    "\u03b1": "\\alpha ",
    "\u03b2": "\\beta ",
}
_WORDS: Final = {"sqrt", "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "pi", "asin", "acos", "atan"} | {
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "max",
    "min",
    "lcm",
    "gcd",
    "infty",
}
_WORD_RUN: Final = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}")
_LONGEST_PRODUCT: Final = 4  # letters in a row that may be variables
_SINGLE_LETTER: Final = re.compile(r"\(?[A-Za-z]\)?")


def tokenise(answer: str) -> list[Token]:
    """Return the tokens of a whole answer; raises UnreadableError where a formula holds words."""
    text = plain_characters(answer).strip()
    for char, spelling in _UNICODE.items():
        text = text.replace(char, spelling)
    if "\\begin" not in text:  # elsewhere a doubled backslash is one that was escaped once too often
        text = _DOUBLED.sub(r"\\", text)
    text = _THOUSANDS_MARK.sub("", text)
    tokens: list[Token] = []
    position = 0
    for group in _GROUP.finditer(text):  # text keeps its blanks, the rest does not need them
        tokens += _formula(text[position : group.start()])
        tokens += _text(group[1], group[2])
        position = group.end()
    return tokens + _formula(text[position:])


def _text(command: str, content: str) -> list[Token]:
    content = content.strip()
    if content in _WORDS:
        return [_command(content)]
    if _SINGLE_LETTER.fullmatch(content) or (command not in TEXT_COMMANDS[:8] and not content.isalpha()):
        return _formula(content)
    return [Token(Kind.TEXT, content)] if content else []


def _formula(text: str) -> list[Token]:
    text = _PLAIN_PREFIX.sub("", _SPACES.sub(" ", _DROPPED.sub(" ", text)))
    tokens: list[Token] = []
    position = 0
    for word in _WORD_RUN.finditer(text):
        if word[0] in _WORDS or is_plain_unit(word[0]):
            tokens += map(_token, _TOKEN.finditer(text, position, word.start()))
            tokens.append(_command(word[0]) if word[0] in _WORDS else Token(Kind.TEXT, word[0]))
            position = word.end()
        elif len(word[0]) > _LONGEST_PRODUCT and text[word.start() - 1 : word.start()] != "{":
            raise UnreadableError(f"words in a formula: {word[0]}")
    return tokens + [_token(match) for match in _TOKEN.finditer(text, position)]


def _token(match: re.Match[str]) -> Token:
    name, escaped, number, letter, pair, sign = match.groups()
    if name or escaped:
        return _command(name or escaped)
    if number:
        return Token(Kind.NUMBER, number)
    if letter:
        return Token(Kind.LETTER, letter)
    if pair:
        return Token(Kind.SIGN, "^") if pair == "**" else _command(_PAIRS.get(pair, "Rightarrow"))
    return Token(Kind.SIGN, sign)


def _command(name: str) -> Token:
    name = _SPELLINGS.get(name, name)
    return Token(Kind.SIGN, _SIGNS[name]) if name in _SIGNS else Token(Kind.COMMAND, "\\" + name)
