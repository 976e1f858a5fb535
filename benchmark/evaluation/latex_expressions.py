r"""Read the tokens of one formula as a sympy expression, by recursive descent.

Why not a library: sympy's own LaTeX parser and `math-verify` both need antlr4, and `hydra-core`, which configures
training, pins its runtime to 4.9. Under that runtime math-verify reads `28\%` as 28, so that installing a
configuration library would change verdicts; it also evaluates towers of powers, and reads an unfinished formula up to
where it stops making sense. This reader takes the subset that benchmark answers are written in, all of a formula or
nothing, and refuses before it evaluates what would be too large.

Every number is exact, decimals included. `i` is the imaginary unit and `e` Euler's number, unless they carry a
subscript or are bound by a sum. Runs only inside a worker (`benchmark.evaluation.workers`): sympy is imported here.
"""

from collections.abc import Sequence
from typing import Final

import sympy as sp

from benchmark.evaluation.bounded_arithmetic import Expression, divide, number, power
from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError, tokenise
from benchmark.evaluation.token_cursor import TokenCursor

MAX_DEPTH: Final = 40
_MAX_FACTORIAL: Final = 5000

_FUNCTIONS: Final = {
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "cot": sp.cot,
    "sec": sp.sec,
    "csc": sp.csc,
    "asin": sp.asin,
    "acos": sp.acos,
    "atan": sp.atan,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "ln": sp.log,
    "exp": sp.exp,
}
_INVERSES: Final = {"sin": sp.asin, "cos": sp.acos, "tan": sp.atan, "cot": sp.acot, "sec": sp.asec, "csc": sp.acsc}
_OPAQUE: Final = frozenset(("min", "max", "gcd", "lcm", "deg", "det", "arg"))
_ACCENTS: Final = frozenset(
    (
        *("dot", "ddot", "overline", "bar", "vec", "hat", "tilde", "overrightarrow"),
        *("mathbf", "mathbb", "mathcal", "mathfrak", "mathrm", "mathit", "operatorname"),
    )
)
_FUNCTION_LETTERS: Final = frozenset("fghFGHPQW")
_ENDS: Final = frozenset(
    (")", "]", "}", ",", "&", "=", "<", ">", ":", ";", ".", "\\}", "\\rfloor", "\\rceil", "\\rangle")
)
_MATRICES: Final = frozenset(("pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array"))
_GROUPS: Final = {"(": ")", "[": "]", "{": "}"}
_CONSTANTS: Final = {"\\pi": sp.pi, "\\infty": sp.oo}


def read_expression(tokens: Sequence[Token], sign_of_pm: int = 1) -> Expression:
    r"""Return the expression that the tokens spell, with `\pm` read as `sign_of_pm` and `\mp` as its opposite.

    Raises UnreadableError where they spell none, or one that is too large.
    """
    return _Reader(tokens, sign_of_pm).whole()


class _Reader(TokenCursor):
    def __init__(self, tokens: Sequence[Token], sign_of_pm: int, bound: frozenset[str] = frozenset(), depth: int = 0):
        super().__init__(tokens)
        self.sign_of_pm = sign_of_pm
        self.bound = bound
        self.depth = depth
        self.bars = 0

    def whole(self) -> Expression:
        value = self.sum()
        if self.position != len(self.tokens):
            raise UnreadableError(f"not read from {self.peek()!r}")
        return value

    # --- grammar

    def sum(self) -> Expression:
        value = self.signed_term()
        while sign := self.accept("+", "-", "\\pm", "\\mp"):
            term = self.product()
            try:
                value = value + self.signed(sign, term)
            except (TypeError, sp.ShapeError) as error:
                raise UnreadableError(str(error)) from error
        return value

    def signed_term(self) -> Expression:
        signs = []
        while sign := self.accept("+", "-", "\\pm", "\\mp"):
            signs.append(sign)
        value = self.product()
        for sign in signs:
            value = self.signed(sign, value)
        return value

    def signed(self, sign: str, value: Expression) -> Expression:
        negative = {"-": True, "\\pm": self.sign_of_pm < 0, "\\mp": self.sign_of_pm > 0}.get(sign, False)
        return -value if negative else value

    def product(self) -> Expression:
        value = self.power()
        while True:
            if self.accept("*"):
                value = self.times(value, self.signed_factor())
            elif self.accept("/"):
                value = divide(value, self.signed_factor())
            elif self.starts_factor():
                value = self.times(value, self.power())
            else:
                return value

    def times(self, a: Expression, b: Expression) -> Expression:
        try:
            return a * b
        except (TypeError, sp.ShapeError) as error:
            raise UnreadableError(str(error)) from error

    def signed_factor(self) -> Expression:
        sign = self.accept("-", "+")
        value = self.power()
        return -value if sign == "-" else value

    def starts_factor(self) -> bool:
        text, kind = self.peek(), self.kind()
        if kind is Kind.NUMBER:  # (n-2)2 is a product, 2 2 is not
            return self.tokens[self.position - 1].kind is not Kind.NUMBER
        if kind is None or kind is Kind.TEXT or text in _ENDS or text in "+-*/^_!'":
            return False
        if text == "|":
            return self.bars == 0
        return text not in ("\\pm", "\\mp", "\\\\", "\\cup", "\\cap", "\\backslash", "\\in", "\\%", "\\end")

    def power(self) -> Expression:
        value = self.postfixed(self.atom())
        if self.accept("^"):
            exponent = self.exponent()
            value = power(value, exponent)
        return self.postfixed(value)

    def exponent(self) -> Expression:
        if self.accept("-"):
            return -self.argument()
        return self.argument()

    def postfixed(self, value: Expression) -> Expression:
        while self.accept("!"):
            if not (value.is_Integer and 0 <= value <= _MAX_FACTORIAL) and value.is_number:
                raise UnreadableError("factorial of a number that is large or no natural number")
            value = sp.factorial(value)
        return value

    def argument(self, digit: bool = False) -> Expression:
        """Read what a command applies to: a group, or one atom; with `digit` one digit of a number."""
        if self.peek() == "{":
            return self.nested(self.group_tokens())
        if digit and self.kind() is Kind.NUMBER and len(self.peek()) > 1 and self.peek().isdigit():
            first, rest = self.peek()[0], self.peek()[1:]
            self.tokens[self.position] = Token(Kind.NUMBER, rest)
            return number(first)
        return self.atom()

    def nested(self, tokens: Sequence[Token], bound: frozenset[str] = frozenset()) -> Expression:
        if self.depth >= MAX_DEPTH:
            raise UnreadableError("nested too deeply")
        return _Reader(tokens, self.sign_of_pm, self.bound | bound, self.depth + 1).whole()

    def atom(self) -> Expression:
        text, kind = self.peek(), self.kind()
        if kind is None or kind is Kind.TEXT:
            raise UnreadableError(f"found {text!r} instead of a value")
        if text in _GROUPS:
            return self.nested(self.group_tokens(text, _GROUPS[text]))
        if kind is Kind.NUMBER:
            return self.numeral()
        if kind is Kind.LETTER:
            return self.symbol()
        if self.accept("|"):
            self.bars += 1
            value = self.sum()
            self.bars -= 1
            self.expect("|")
            return sp.Abs(value)
        if kind is Kind.COMMAND:
            return self.command()
        raise UnreadableError(f"found {text!r} instead of a value")

    def numeral(self) -> Expression:
        text = self.peek()
        self.position += 1
        while text.isdigit() and len(text) <= 3 and self.kind() is Kind.NUMBER and len(self.peek()) == 3:
            text += self.peek()  # 1 000
            self.position += 1
        if self.peek() == "_":  # digits in a base: a name of their own
            return sp.Symbol(text + self.subscript())
        value = number(text)
        if not text.isdigit():
            return value
        start = self.position
        if self.kind() is Kind.NUMBER and self.peek(1) == "/" and self.kind(2) is Kind.NUMBER:
            part = divide(number(self.peek()), number(self.peek(2)))
            self.position += 3
        elif self.accept("\\frac"):
            part = divide(self.argument(digit=True), self.argument(digit=True))
            if not part.is_Rational:  # 2\frac{x}{3} is a product
                self.position = start
                return value
        else:
            return value
        if not 0 < part < 1:
            raise UnreadableError("a number before an improper fraction")
        return value + part

    def symbol(self) -> Expression:
        letter = self.peek()
        self.position += 1
        name = letter + self.subscript() + self.primes()
        if name == "i" and "i" not in self.bound:
            return sp.I
        if name == "e":
            return sp.E
        if letter in _FUNCTION_LETTERS and self.peek() == "(":
            return sp.Function(name)(*self.arguments())
        return sp.Symbol(name)

    def subscript(self) -> str:
        if not self.accept("_"):
            return ""
        if self.peek() == "{":
            return "_" + "".join(token.text.replace(" ", "") for token in self.group_tokens())
        self.position += 1
        return "_" + self.tokens[self.position - 1].text if self.position <= len(self.tokens) else "_"

    def primes(self) -> str:
        count = 0
        while True:
            if self.accept("'"):
                count += 1
            elif self.peek() == "^" and self.peek(1) == "\\prime":
                self.position += 2
                count += 1
            elif self.peek() == "^" and self.peek(1) == "{" and self.peek(2) == "\\prime" and self.peek(3) == "}":
                self.position += 4
                count += 1
            else:
                return "'" * count

    def arguments(self) -> list[Expression]:
        parts: list[list[Token]] = [[]]
        depth = 0
        for token in self.group_tokens("(", ")"):
            depth += (token.text in _GROUPS) - (token.text in _GROUPS.values())
            if token.text == "," and depth == 0:
                parts.append([])
            else:
                parts[-1].append(token)
        return [self.nested(part) for part in parts]

    def command(self) -> Expression:
        text = self.peek()
        self.position += 1
        name = text[1:]
        handler = getattr(self, f"read_{name}", None)
        if handler is not None:
            return handler()
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if name in _FUNCTIONS:
            return self.function(name)
        if name in _OPAQUE:
            return sp.Function(name)(*(self.arguments() if self.peek() == "(" else [self.argument()]))
        if name in _ACCENTS:
            return sp.Symbol(name + self.accented() + self.subscript() + self.primes())
        if not name.isalpha() or name in (
            "begin",
            "end",
            "int",
            "lim",
            "prod",
            "to",
            "Rightarrow",
            "ldots",
            "dots",
            "cdots",
        ):
            raise UnreadableError(f"{text} is not read")
        return sp.Symbol(name + self.subscript() + self.primes())

    def accented(self) -> str:
        if self.peek() == "{":
            return "".join(token.text for token in self.group_tokens())
        self.position += 1
        return self.tokens[self.position - 1].text if self.position <= len(self.tokens) else ""

    def function(self, name: str) -> Expression:
        function, exponent = _FUNCTIONS[name], None
        if self.accept("^"):
            exponent = self.exponent()
            if exponent == -1 and name in _INVERSES:
                function, exponent = _INVERSES[name], None
        value = function(self.function_argument())
        return value if exponent is None else power(value, exponent)

    def function_argument(self) -> Expression:
        """Read the argument of a function: a bracketed group, or the factors up to a sign or another function."""
        if self.peek() in _GROUPS:
            return self.nested(self.group_tokens(self.peek(), _GROUPS[self.peek()]))
        value = self.power()
        while self.starts_factor() and self.peek()[1:] not in _FUNCTIONS and self.peek() not in ("(", "["):
            value = value * self.power()
        return value

    # --- commands by name

    def read_frac(self) -> Expression:
        numerator = self.argument(digit=True)
        return divide(numerator, self.argument(digit=True))

    def read_sqrt(self) -> Expression:
        degree = self.nested(self.group_tokens("[", "]")) if self.peek() == "[" else sp.Integer(2)
        return power(self.argument(), divide(sp.Integer(1), degree))

    def read_log(self) -> Expression:
        base = None
        if self.accept("_"):
            base = self.argument()
        value = sp.log(self.function_argument())
        return value if base is None else divide(value, sp.log(base))

    def read_binom(self) -> Expression:
        top = self.argument(digit=True)
        bottom = self.argument(digit=True)
        if any(part.is_number and abs(part) > _MAX_FACTORIAL for part in (top, bottom)):
            raise UnreadableError("the binomial is too large")
        return sp.binomial(top, bottom)

    def read_lfloor(self) -> Expression:
        self.position -= 1
        return sp.floor(self.nested(self.group_tokens("\\lfloor", "\\rfloor")))

    def read_lceil(self) -> Expression:
        self.position -= 1
        return sp.ceiling(self.nested(self.group_tokens("\\lceil", "\\rceil")))

    def read_sum(self) -> Expression:
        """A sum with its limits, kept as it stands."""
        self.expect("_")
        lower = self.group_tokens()
        if len(lower) < 3 or lower[0].kind is not Kind.LETTER or lower[1].text != "=":
            raise UnreadableError("limits of a sum")
        self.expect("^")
        upper = self.argument()
        bound = frozenset((lower[0].text,))
        rest, self.position = self.tokens[self.position :], len(self.tokens)
        reader = _Reader(rest, self.sign_of_pm, self.bound | bound, self.depth + 1)
        body = reader.product()
        self.position -= len(rest) - reader.position
        return sp.Sum(body, (sp.Symbol(lower[0].text), self.nested(lower[2:]), upper))

    def read_begin(self) -> Expression:
        name = "".join(token.text for token in self.group_tokens())
        if name not in _MATRICES:
            raise UnreadableError(f"environment {name} is not read")
        if name == "array":
            self.group_tokens()
        rows: list[list[list[Token]]] = [[[]]]
        while self.peek() != "\\end":
            if self.position >= len(self.tokens):
                raise UnreadableError("a matrix does not end")
            if self.accept("\\\\"):
                rows.append([[]])
            elif self.accept("&"):
                rows[-1].append([])
            else:
                rows[-1][-1].append(self.tokens[self.position])
                self.position += 1
        self.expect("\\end")
        self.group_tokens()
        cells = [[self.nested(cell) for cell in row] for row in rows if row != [[]]]
        if not cells or len({len(row) for row in cells}) != 1:
            raise UnreadableError("rows of different lengths")
        return sp.ImmutableMatrix(cells)


def read_text(answer: str) -> Expression:
    """Return the expression that a text spells; raises UnreadableError."""
    return read_expression(tokenise(answer))
