r"""Split a LaTeX answer into tokens, without typography.

Sizes, delimiters and spacing go away here, and spellings of one sign become one token, so that the reader of
expressions (`benchmark.evaluation.latex_expressions`) meets few cases. Plain text such as `sqrt(3)/3` goes through the
same tokens as LaTeX.

Some letters may be a unit or variables: `2mg`, `5\text{ m}`. Such an answer has two lists of tokens, and what it is
compared with shows which one was meant.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from benchmark.evaluation.equivalence import plain_characters
from benchmark.evaluation.units import is_abbreviation, is_unit_word, may_be_unit


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
    UNIT = "unit"
    """Letters of a formula that are read as a unit, where variables could be meant as well."""
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Token:
    """One token; the text of a command has its backslash."""

    kind: Kind
    text: str


TEXT_COMMANDS: Final = ("text", "textbf", "textit", "textrm", "textsf", "textnormal", "mbox", "hbox", "mathrm", "rm")
_GROUP: Final = re.compile(
    r"\\(" + "|".join((*TEXT_COMMANDS, "operatorname", "mathbf", "boldsymbol", "mathit")) + r")\s*\*?"
    r"\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_DROPPED: Final = re.compile(
    r"\\(?:displaystyle|textstyle|limits|boxed|fbox|mathstrut|(?:left|right)\s*\.|left|right|[bB]igg?[lr]?)(?![A-Za-z])"
    r"|(?<!\\)\\!"
)
_DEGREES: Final = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])|\u00b0")
_SPACES: Final = re.compile(r"(?<!\\)\\[,;:> ()\[\]]|\\q?quad(?![A-Za-z])|~|(?<!\\)\$")
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
    "varnothing": "emptyset",
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
    "\u2205": "\\emptyset ",
    "\u03a9": "\\Omega ",
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


def tokenise(answer: str, units: bool = False) -> list[Token]:
    """Return the tokens of a whole answer; raises UnreadableError where a formula holds words.

    Letters behind a value that may be a unit or variables are a unit with `units`, and variables without.
    """
    text = plain_characters(answer).strip()
    for char, spelling in _UNICODE.items():
        text = text.replace(char, spelling)
    if "\\begin" not in text:  # elsewhere a doubled backslash is one that was escaped once too often
        text = _DOUBLED.sub(r"\\", text)
    text = _DEGREES.sub(r" \\degree ", _THOUSANDS_MARK.sub("", text))
    tokens: list[Token] = []
    position = 0
    for group in _GROUP.finditer(text):  # text keeps its blanks, the rest does not need them
        tokens += _formula(text[position : group.start()], units)
        tokens += _text(group[1], group[2], units and _ends_a_value(tokens))
        position = group.end()
    tokens += _formula(text[position:], units)
    return [_as_ohm(tokens, place) for place in range(len(tokens))] if units else tokens


def _as_ohm(tokens: list[Token], place: int) -> Token:
    token = tokens[place]
    return Token(Kind.UNIT, "\u03a9") if token.text == "\\Omega" and _ends_a_value(tokens[:place]) else token


def _ends_a_value(tokens: list[Token]) -> bool:
    if len(tokens) > 1 and tokens[-1].text in ("*", "/") and tokens[-2].kind is Kind.TEXT:
        return True  # between two units
    return bool(tokens) and (tokens[-1].kind in (Kind.NUMBER, Kind.TEXT) or tokens[-1].text in ("}", ")", "\\degree"))


def _text(command: str, content: str, as_unit: bool) -> list[Token]:
    content = content.strip()
    if as_unit and command in TEXT_COMMANDS and (is_abbreviation(content) or not content.isalpha()):
        return [Token(Kind.TEXT, content)] if content else []
    if content in _WORDS:
        return [_command(content)]
    if _SINGLE_LETTER.fullmatch(content) or (command not in TEXT_COMMANDS[:8] and not content.isalpha()):
        return _formula(content, False)
    return [Token(Kind.TEXT, content)] if content else []


def _formula(text: str, units: bool) -> list[Token]:
    text = _PLAIN_PREFIX.sub("", _SPACES.sub(" ", _DROPPED.sub(" ", text)))
    tokens: list[Token] = []
    position = 0
    for word in _WORD_RUN.finditer(text):
        token = _word(word[0], units and _may_end_in_a_unit(text[: word.start()]))
        if token is not None:
            tokens += map(_token, _TOKEN.finditer(text, position, word.start()))
            tokens.append(token)
            position = word.end()
        elif len(word[0]) > _LONGEST_PRODUCT and text[word.start() - 1 : word.start()] != "{":
            raise UnreadableError(f"words in a formula: {word[0]}")
    return tokens + [_token(match) for match in _TOKEN.finditer(text, position)]


def _may_end_in_a_unit(before: str) -> bool:
    r"""Say whether letters behind this text may be a unit: after a blank or a whole number, not those of `\sqrt2mg`."""
    rest = before.rstrip("0123456789.")
    return before[-1:].isspace() or (rest != before and not rest[-1:].isalnum() and rest[-1:] not in ("_", "}", "^"))


def _word(word: str, as_unit: bool) -> Token | None:
    """Return what a run of letters is as a whole; None where each is for itself."""
    if word in _WORDS:
        return _command(word)
    if is_unit_word(word):
        return Token(Kind.TEXT, word)
    return Token(Kind.UNIT, word) if as_unit and may_be_unit(word) else None


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
