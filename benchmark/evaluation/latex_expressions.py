r"""Read the tokens of one formula as a sympy expression, by recursive descent.

Why not a library: sympy's own LaTeX parser and `math-verify` both need antlr4, and `hydra-core`, which configures
training, pins its runtime to 4.9. Under that runtime math-verify reads `28\%` as 28, so that installing a
configuration library would change verdicts; it also evaluates towers of powers, and reads an unfinished formula up to
where it stops making sense. This reader takes the subset that benchmark answers are written in, all of a formula or
nothing, and refuses before it evaluates what would be too large.

Every number is exact, decimals included. `i` is the imaginary unit and `e` Euler's number, unless they carry a
subscript or are bound by a sum. Whether a letter in front of brackets is a function is said by
`benchmark.evaluation.notation`. A degree sign means pi/180 inside a trigonometric function and nothing elsewhere.
Runs only inside a worker (`benchmark.evaluation.workers`): sympy is imported here.
"""

from collections.abc import Sequence
from typing import Final

import sympy as sp

from benchmark.evaluation.bounded_arithmetic import MAX_FACTORIAL, Expression, divide, number, power, substitute
from benchmark.evaluation.derivatives import DOTS, derivative_name, read_derivative, slashed_derivative
from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError
from benchmark.evaluation.notation import Notation, is_applied
from benchmark.evaluation.token_cursor import TokenCursor

MAX_DEPTH: Final = 40
_MAX_TERMS: Final = 200

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
_TRIGONOMETRIC: Final = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_OF_NUMBERS: Final = {"min": sp.Min, "max": sp.Max, "gcd": sp.gcd, "lcm": sp.lcm}
_OPAQUE: Final = frozenset((*_OF_NUMBERS, "deg", "det", "arg"))
_ACCENTS: Final = frozenset(
    (
        *("overline", "bar", "vec", "hat", "tilde", "overrightarrow"),
        *("mathbf", "mathbb", "mathcal", "mathfrak", "mathrm", "mathit", "operatorname"),
    )
)
_NO_FACTORS: Final = frozenset(
    ("\\pm", "\\mp", "\\\\", "\\cup", "\\cap", "\\backslash", "\\in", "\\%", "\\$", "\\end", "\\degree")
)
_REPEATED: Final = ("\\overline", "\\bar", "\\dot")
_ENDS: Final = frozenset(
    (")", "]", "}", ",", "&", "=", "<", ">", ":", ";", ".", "\\}", "\\rfloor", "\\rceil", "\\rangle")
)
_MATRICES: Final = frozenset(("pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array"))
_GROUPS: Final = {"(": ")", "[": "]", "{": "}"}
_CONSTANTS: Final = {"\\pi": sp.pi, "\\infty": sp.oo}
_UNREAD: Final = frozenset(
    (
        *("begin", "end", "int", "lim", "prod", "to", "Rightarrow", "ldots", "dots", "cdots"),
        *("circ", "degree", "prime", "pm", "mp"),
    )
)


def read_expression(tokens: Sequence[Token], notation: Notation | None = None) -> Expression:
    """Return the expression that the tokens spell.

    Raises UnreadableError where they spell none, or one that is too large.
    """
    return read_measure(tokens, notation)[0]


def read_measure(tokens: Sequence[Token], notation: Notation | None = None) -> tuple[Expression, bool]:
    """Return the expression that the tokens spell, and whether degree signs stand in it outside functions."""
    reader = _Reader(tokens, notation or Notation())
    value = reader.whole()
    return value, reader.in_degrees


class _Reader(TokenCursor):
    def __init__(
        self,
        tokens: Sequence[Token],
        notation: Notation,
        bound: frozenset[str] = frozenset(),
        depth: int = 0,
        angle: bool = False,
    ):
        super().__init__(tokens)
        self.notation = notation
        self.bound = bound
        self.depth = depth
        self.angle = angle  # whether this is the argument of a trigonometric function
        self.bars = 0
        self.in_degrees = False

    def whole(self) -> Expression:
        value = self.sum()
        if not self.at_end():
            raise UnreadableError(f"not read from {self.peek()!r}")
        return value

    # --- grammar

    def sum(self) -> Expression:
        value = self.signed_term()
        while sign := self.accept("+", "-"):
            term = self.product()
            try:
                value = value + (-term if sign == "-" else term)
            except (TypeError, sp.ShapeError) as error:
                raise UnreadableError(str(error)) from error
        return value

    def signed_term(self) -> Expression:
        negative = False
        while sign := self.accept("+", "-"):
            negative ^= sign == "-"
        value = self.product()
        return -value if negative else value

    def product(self) -> Expression:
        value = self.power()
        while True:
            if self.accept("*"):
                value = self.times(value, self.signed_factor())
            elif self.accept("/"):
                value = divide(value, self.signed_factor())
            elif self.starts_factor():
                bracket = self.peek() == "("
                factor = self.power()
                if bracket and factor.is_zero and not value.is_number:
                    raise UnreadableError("a product with 0 that may be a function at 0")
                value = self.times(value, factor)
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
        if kind is Kind.NUMBER:  # (n-2)2 is a product, 2 2 is not, nor are degrees before minutes
            before = self.tokens[self.position - 1]
            return before.kind is not Kind.NUMBER and before.text != "\\degree"
        if kind in (None, Kind.TEXT, Kind.UNIT) or text in _ENDS or text in "+-*/^_!'":
            return False
        if text == "|":
            return self.bars == 0
        return text not in _NO_FACTORS

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
        if self.accept("!"):
            if self.peek() == "!":
                raise UnreadableError("a double factorial")
            if not (value.is_Integer and 0 <= value <= MAX_FACTORIAL) and value.is_number:
                raise UnreadableError("factorial of a number that is large or no natural number")
            value = sp.factorial(value)
        if self.accept("\\degree"):
            if self.angle:
                return value * sp.pi / 180
            self.in_degrees = True
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

    def inner(self, tokens: Sequence[Token], bound: frozenset[str] = frozenset(), angle: bool = False) -> "_Reader":
        if self.depth >= MAX_DEPTH:
            raise UnreadableError("nested too deeply")
        return _Reader(tokens, self.notation, self.bound | bound, self.depth + 1, self.angle or angle)

    def nested(self, tokens: Sequence[Token]) -> Expression:
        reader = self.inner(tokens)
        value = reader.whole()
        self.in_degrees |= reader.in_degrees
        return value

    def atom(self) -> Expression:
        text, kind = self.peek(), self.kind()
        if kind in (None, Kind.TEXT, Kind.UNIT):
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
        if "." in text and self.peek() in _REPEATED:
            return value + self.repeated(len(text.partition(".")[2]))
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

    def repeated(self, places: int) -> Expression:
        r"""Read the digits of a decimal that repeat, as in `0.1\overline{6}`, behind that many others."""
        self.position += 1
        digits = self.group_text()
        if not digits.isdigit():
            raise UnreadableError(f"repeated digits: found {digits!r}")
        return divide(sp.Integer(int(digits)), sp.Integer(10**places * (10 ** len(digits) - 1)))

    def symbol(self) -> Expression:
        if self.peek() == "d" and (sides := slashed_derivative(self)):
            return self.derivative(*sides)
        self.position += 1
        return self.named(self.tokens[self.position - 1].text)

    def named(self, base: str) -> Expression:
        """Read what a name stands for, with its subscript and its primes: a constant, a variable or an applied name."""
        base += self.subscript()
        order = self.primes()
        if base == "i" and not order and "i" not in self.bound:
            return sp.I
        if base == "e" and not order:
            return sp.E
        name = derivative_name(base, order, self.notation.differentiated_by)
        return self.applied(name, base + "'" * order)

    def applied(self, name: str, written: str) -> Expression:
        """Return the symbol of a name, or its value where brackets with its arguments follow."""
        if is_applied(self, written, self.notation):
            return sp.Function(name)(*self.arguments())
        return sp.Symbol(name)

    def derivative(self, top: Sequence[Token], bottom: Sequence[Token]) -> Expression | None:
        found = read_derivative(top, bottom)
        if found is None:
            return None
        name, arguments = found
        if not arguments:
            return sp.Symbol(name)
        reader = self.inner(arguments)
        values = reader.arguments()
        if not reader.at_end():
            raise UnreadableError("a derivative of another form")
        return sp.Function(name)(*values)

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

    def command(self) -> Expression:  # noqa: PLR0911 - one line per kind of command
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
            return self.opaque(name)
        if name in DOTS:
            base = self.group_text() + self.subscript()
            return self.applied(derivative_name(base, DOTS[name], "t"), text + base)
        if name in _ACCENTS:
            return self.named(text + self.group_text())
        if not name.isalpha() or name in _UNREAD:
            raise UnreadableError(f"{text} is not read")
        return self.named(text)

    def opaque(self, name: str) -> Expression:
        values = self.arguments() if self.peek() == "(" else [self.argument()]
        known = (value.is_Integer for value in values) if name in ("gcd", "lcm") else (v.is_real for v in values)
        if name in _OF_NUMBERS and len(values) > 1 and all(value.is_number for value in values) and all(known):
            return _OF_NUMBERS[name](*values) if name in ("min", "max") else _OF_NUMBERS[name](values)
        return sp.Function(name)(*values)

    def function(self, name: str) -> Expression:
        function, exponent = _FUNCTIONS[name], None
        if self.accept("^"):
            exponent = self.exponent()
            if exponent == -1 and name in _INVERSES:
                function, exponent = _INVERSES[name], None
        angle = self.angle
        self.angle = name in _TRIGONOMETRIC and function is _FUNCTIONS[name]
        value = function(self.function_argument())
        self.angle = angle
        return value if exponent is None else power(value, exponent)

    def function_argument(self) -> Expression:
        """Read the argument of a function: a bracketed group, or the factors up to a sign or another function."""
        if self.peek() in _GROUPS:
            value = self.nested(self.group_tokens(self.peek(), _GROUPS[self.peek()]))
            return self.postfixed(value) if self.peek() == "\\degree" else value
        value = self.power()
        while self.starts_factor() and self.peek()[1:] not in _FUNCTIONS and self.peek() not in ("(", "["):
            value = value * self.power()
        return value

    # --- commands by name

    def read_frac(self) -> Expression:
        start = self.position
        if self.peek() == "{":
            top = self.group_tokens()
            bottom = self.group_tokens() if self.peek() == "{" else []
            if (derivative := self.derivative(top, bottom)) is not None:
                return derivative
            self.position = start
        numerator = self.argument(digit=True)
        return divide(numerator, self.argument(digit=True))

    def read_sqrt(self) -> Expression:
        degree = self.nested(self.group_tokens("[", "]")) if self.peek() == "[" else sp.Integer(2)
        radicand, root = self.argument(), divide(sp.Integer(1), degree)
        if degree.is_odd and radicand.is_number and radicand.is_negative:  # the real root, not the principal one
            return -power(-radicand, root)
        return power(radicand, root)

    def read_angle(self) -> Expression:
        """An angle by its points, the same in both directions."""
        braces = self.group_tokens() if self.peek() == "{" else None
        cursor = self if braces is None else TokenCursor(braces)
        points = []
        while cursor.kind() in (Kind.LETTER, Kind.NUMBER):
            cursor.position += 1
            points.append(cursor.tokens[cursor.position - 1].text + cursor.subscript() + "'" * cursor.primes())
        if not points or (braces is not None and not cursor.at_end()):
            raise UnreadableError("an angle without its points")
        return sp.Symbol("angle " + " ".join(min(points, points[::-1])))

    def read_log(self) -> Expression:
        base = None
        if self.accept("_"):
            base = self.argument()
        value = sp.log(self.function_argument())
        return value if base is None else divide(value, sp.log(base))

    def read_binom(self) -> Expression:
        top = self.argument(digit=True)
        bottom = self.argument(digit=True)
        if any(part.is_number and abs(part) > MAX_FACTORIAL for part in (top, bottom)):
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
        reader = self.inner(rest, bound)
        body = reader.product()
        self.position -= len(rest) - reader.position
        index, first = sp.Symbol(lower[0].text), self.nested(lower[2:])
        short = first.is_Integer and upper.is_Integer and 0 <= upper - first < _MAX_TERMS
        if short and body.free_symbols <= {index} and not body.atoms(sp.core.function.AppliedUndef):
            terms = [substitute(body, {index: first + step}) for step in range(upper - first + 1)]
            if None not in terms:
                return sp.Add(*terms)
        return sp.Sum(body, (index, first, upper))

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
