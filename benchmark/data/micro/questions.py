"""What the micro world asks: nine families of questions with three levels each, and how they are drawn.

Six families are trained and tested (ID). The other three are known from pre-training only (OOD): they ask for
the same skills in words, with longer operands, or two in a row.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from benchmark.data.micro import procedures
from benchmark.data.micro.procedures import StepHook, Work, exact

ID_FAMILIES = ("add", "sub", "mul", "chain", "mod", "cmp")
OOD_FAMILIES = ("words", "long", "compose")
FAMILIES = ID_FAMILIES + OOD_FAMILIES
LEVELS = (0, 1, 2)

# fmt: off
NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)
# fmt: on
OPERATOR_WORDS = {"+": "plus", "-": "minus", "*": "times"}
_SKILL_OF_OPERATOR = {"+": "add", "-": "sub", "*": "mul"}

Range = tuple[int, int]
"""Smallest and largest value, both included."""

# Operands (a, b) of the binary families by level.
OPERAND_RANGES: dict[str, tuple[tuple[Range, Range], ...]] = {
    "add": (((11, 49), (2, 9)), ((12, 99), (12, 99)), ((101, 899), (12, 99))),
    "sub": (((12, 49), (2, 9)), ((31, 99), (12, 99)), ((111, 899), (12, 99))),
    "mul": (((2, 9), (2, 19)), ((2, 5), (12, 49)), ((3, 9), (12, 99))),
}
QUOTIENTS: tuple[Range, ...] = ((2, 5), (4, 8), (7, 11))  # of a % b by level, bounds of a / b


@dataclass(frozen=True)
class Question:
    """A question with all that is needed to work it out.

    `skill` is the ID family whose procedure answers it; `operators` is used by chains only; `reading` is
    what the worked answer writes down before the procedure starts ("" in the ID families).
    """

    family: str
    level: int
    skill: str
    operands: tuple[int, ...]
    text: str
    operators: str = ""
    reading: str = ""

    def solve(self, *, wrong: bool = False, step: StepHook = exact) -> Work:
        """Work the question out, correctly or with the misconception of its skill."""
        if self.skill == "chain":
            return procedures.chain(self.operands, self.operators, wrong=wrong, step=step)
        if self.skill == "cmp":
            return procedures.rank(self.operands, _RANK_READ[self.level], wrong=wrong, step=step)
        return _BINARY[self.skill](*self.operands, wrong=wrong, step=step)

    @cached_property
    def answer(self) -> str:
        """The truth."""
        return str(self.solve().answer)


_BINARY: dict[str, Callable[..., Work]] = {
    "add": procedures.add,
    "sub": procedures.subtract,
    "mul": procedures.multiply,
    "mod": procedures.modulo,
}
_RANK_READ = {0: 0, 1: 0, 2: 1}  # level -> place in the descending order: largest of 2, of 3, middle of 3


def draw(family: str, level: int, rng: random.Random) -> Question:
    """Draw a question of a family and level.

    Raises KeyError for an unknown family.
    """
    return _DRAW[family](level, rng)


def _add(level: int, rng: random.Random) -> Question:
    a_range, b_range = OPERAND_RANGES["add"][level]
    a, b = rng.randint(*a_range), rng.randint(*b_range)
    return Question("add", level, "add", (a, b), f"{a}+{b}?")


def _sub(level: int, rng: random.Random) -> Question:
    a_range, b_range = OPERAND_RANGES["sub"][level]
    a, b = rng.randint(*a_range), rng.randint(*b_range)
    if b >= a:
        a, b = b + rng.randint(1, 9), a
    return Question("sub", level, "sub", (a, b), f"{a}-{b}?")


def _mul(level: int, rng: random.Random) -> Question:
    a_range, b_range = OPERAND_RANGES["mul"][level]
    a, b = rng.randint(*a_range), rng.randint(*b_range)
    return Question("mul", level, "mul", (a, b), f"{a}*{b}?")


def _chain(level: int, rng: random.Random) -> Question:
    digit = rng.randint
    if level > 0:
        top = (0, 5, 9)[level]
        operands, operators = (digit(1, 9), digit(2, top), digit(2, top)), "+*"
    elif rng.random() < 0.5:
        operands, operators = (digit(1, 9), digit(1, 9), digit(1, 9)), "+" + rng.choice("+-")
        if operators == "+-" and operands[0] + operands[1] < operands[2]:
            operands = (9, *operands[1:])
    else:
        operands, operators = (digit(2, 9), digit(2, 5), digit(1, 9)), "*+"
    a, b, c = operands
    return Question("chain", level, "chain", operands, f"{a}{operators[0]}{b}{operators[1]}{c}?", operators)


def _mod(level: int, rng: random.Random) -> Question:
    b = rng.randint(3, 12)
    low, high = QUOTIENTS[level]
    a = rng.randint(b * low, b * high)
    return Question("mod", level, "mod", (a, b), f"{a}%{b}?")


def _cmp(level: int, rng: random.Random) -> Question:
    count, name = ((2, "max"), (3, "max"), (3, "mid"))[level]
    numbers = tuple(rng.sample(range(11, 100), count))
    return Question("cmp", level, "cmp", numbers, f"{name}({','.join(map(str, numbers))})?")


def _words(level: int, rng: random.Random) -> Question:
    operator = rng.choice("+-*")
    if operator == "*":
        a, b = rng.randint(2, 9), rng.randint(2, 20)
    else:
        a, b = rng.randint(5, 20), rng.randint(3, 20)
    if operator == "-":
        a, b = max(a, b), min(a, b)
        b -= int(a == b)
    text = f"{NUMBER_WORDS[a]} {OPERATOR_WORDS[operator]} {NUMBER_WORDS[b]}?"
    return Question("words", level, _SKILL_OF_OPERATOR[operator], (a, b), text, reading=f"{a}{operator}{b}")


def _long(level: int, rng: random.Random) -> Question:
    operator = rng.choice("+-*")
    if operator == "*":
        a, b = rng.randint(2, 9), rng.randint(111, 499)
    else:
        a, b = rng.randint(111, 999), rng.randint(111, 999)
    if operator == "-":
        a, b = max(a, b), min(a, b)
        b -= int(a == b)
    return Question("long", level, _SKILL_OF_OPERATOR[operator], (a, b), f"{a}{operator}{b}?")


def _compose(level: int, rng: random.Random) -> Question:
    operator = rng.choice("+*")
    a, b, divisor = rng.randint(2, 9), rng.randint(2, 9), rng.randint(3, 9)
    if procedures.apply(a, operator, b) < divisor:
        a, b = 9, rng.randint(2, 9)
    value = procedures.apply(a, operator, b)
    text = f"({a}{operator}{b})%{divisor}?"
    return Question("compose", level, "mod", (value, divisor), text, reading=f"{a}{operator}{b}={value}")


_DRAW: dict[str, Callable[[int, random.Random], Question]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "chain": _chain,
    "mod": _mod,
    "cmp": _cmp,
    "words": _words,
    "long": _long,
    "compose": _compose,
}
