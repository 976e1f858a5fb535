r"""A second opinion that shares no code with the first grader, to publish how often two graders disagree.

It finds the box by counting braces backwards from the end, wipes typography from both answers with plain
replacements, and compares strings; where they differ it rewrites both into arithmetic, evaluates them in floating
point at fixed values of the variables and allows a relative error of 1e-6. That is how the string graders of earlier
work judge, with their known weaknesses: no equations, no intervals written as inequalities, no units in words, and
near misses are accepted. It never decides a score. Its disagreements with the first grader are a list of answers to
look at, and their rate bounds how much a table can depend on the grader.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Final

_LONGEST: Final = 300  # longer answers are compared as strings only
_WINDOW: Final = 20_000
_FLOAT: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII)
_PLAIN_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_RELATIVE_ERROR: Final = 1e-6
_WIPED: Final = (
    *("\\left", "\\right", "\\!", "\\,", "\\;", "\\:", "\\ ", "\\quad", "\\displaystyle", "\\$", "$", "\\boxed"),
    *("^{\\circ}", "^\\circ", "\\%", "%", "\\(", "\\)", " ", "\n", "\t", "~"),
)
_REPLACED: Final = (
    ("\\dfrac", "\\frac"),
    ("\\tfrac", "\\frac"),
    ("\\cfrac", "\\frac"),
    ("\\{", "{"),
    ("\\}", "}"),
    ("{,}", ""),
    ("\\cdot", "*"),
    ("\\times", "*"),
    ("\\div", "/"),
    ("\\infty", "inf"),
    ("−", "-"),
)
_TEXT: Final = re.compile(r"\\(?:text|mbox|mathrm|textbf|operatorname)\{([^{}]*)\}")
_UNIT: Final = re.compile(r"(?<=[\d})])\\(?:text|mbox|mathrm)\{[^{}]*\}(?:\^\{?[23]\}?)?$")
_NAME: Final = re.compile(r"^[A-Za-z](?:\([A-Za-z]\))?=|^[A-Za-z]\\in")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?:,\d{3})*(?:\.|$))")
_FRACTION: Final = re.compile(r"\\frac(?:\{([^{}]*)\}|(\d))(?:\{([^{}]*)\}|(\d))")
_ROOT: Final = re.compile(r"\\sqrt(?:\{([^{}]*)\}|(\d+|[A-Za-z]))")
_FUNCTION: Final = re.compile(r"\\(sin|cos|tan|ln|log|exp|pi)")
_PRODUCT: Final = re.compile(r"(?<=[\d)a-zA-Z])(?=\()|(?<=[\d)])(?=[A-Za-z])|(?<=\))(?=\d)")
_CALL: Final = re.compile(r"(sin|cos|tan|ln|log|exp|sqrt)\*\(")
_NO_PYTHON: Final = re.compile(r"[\d.][A-Za-z]|[^\w+\-*/().\s]")  # what ast.parse would warn about or refuse
_VARIABLE: Final = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_VALUES: Final = ({"base": 1.37, "step": 0.61}, {"base": 2.83, "step": 0.29}, {"base": 0.53, "step": 1.07})
_FUNCTIONS: Final[Mapping[str, Callable[[float], float]]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "ln": math.log,
    "log": math.log,
    "exp": math.exp,
    "sqrt": math.sqrt,
}
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}


def second_opinion(response: str, gold: str, last_number: bool = False) -> str:
    """Judge a response to a mathematical question; returns "correct", "wrong" or "no_answer".

    With `last_number` the last number of a response without a box is its answer.
    """
    text = response.rpartition("</think>")[2].partition("<think>")[0]
    answer = last_box(text)
    if answer is None and last_number:
        answer = (_PLAIN_NUMBER.findall(text[-_WINDOW:]) or [""])[-1]
    if answer is None or not answer.strip():
        return "no_answer"
    return "correct" if agree(answer, gold) else "wrong"


def second_choice(response: str, gold: str, labels: str) -> str:
    """Judge a response to a multiple-choice question by the patterns of the MMLU-Pro harness, without its guess."""
    text = response.rpartition("</think>")[2].partition("<think>")[0][-_WINDOW:]
    for pattern in (
        rf"\\boxed\{{\s*(?:\\text\{{)?\s*\(?([{labels}])\b",
        rf"answer is \**\(?([{labels}])\b",
        rf"[aA](?:nswer|NSWER)\**:\s*\**\(?([{labels}])\b",
        rf"\b([{labels}])\b",
    ):
        if found := re.findall(pattern, text):
            return "correct" if found[-1] == gold.strip(" ().").upper() else "wrong"
    return "no_answer"


def last_box(text: str) -> str | None:
    r"""Return what the last `\boxed` holds: up to the brace that closes it, or up to a dollar without braces."""
    start = text.rfind("\\boxed")
    if start < 0:
        return None
    rest = text[start + len("\\boxed") :][:_WINDOW].lstrip()
    if not rest.startswith("{"):
        return rest.partition("$")[0].strip()[:_LONGEST] or None
    depth = 0
    for place, char in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            return rest[1:place]
    return None


def agree(answer: str, gold: str) -> bool:  # noqa: PLR0911 - a ladder of comparisons, each with its own way out
    """Say whether two answers are the same to a grader of strings and floating-point numbers."""
    if len(answer) > _LONGEST or len(gold) > _LONGEST:
        return answer.strip() == gold.strip()
    one, other = _wipe(answer), _wipe(gold)
    if one == other:
        return bool(one)
    if _number(one) is not None and _number(other) is not None:
        return _near(_number(one), _number(other))
    parts, gold_parts = _split(one), _split(other)
    if len(parts) != len(gold_parts):
        return False
    if len(parts) == 1:
        return _same_value(one, other)
    if one[0] not in "([" and other[0] not in "([":
        parts, gold_parts = sorted(parts), sorted(gold_parts)
    elif (one[0], one[-1]) != (other[0], other[-1]):
        return False
    return all(a == b or _same_value(a, b) for a, b in zip(parts, gold_parts, strict=True))


def _wipe(text: str) -> str:
    text = _UNIT.sub("", text.strip().rstrip("."))
    text = _TEXT.sub(r"\1", text)
    for old, new in _REPLACED:
        text = text.replace(old, new)
    for piece in _WIPED:
        text = text.replace(piece, "")
    text = _NAME.sub("", text)
    return _THOUSANDS.sub("", text).replace("and", ",").replace("or", ",") if "," in text else text


def _number(text: str) -> float | None:
    return float(text) if _FLOAT.fullmatch(text) else None


def _split(text: str) -> list[str]:
    """Split at commas outside brackets, after the outer brackets are gone."""
    if len(text) > 1 and text[0] in "([{" and text[-1] in ")]}":
        text = text[1:-1]
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _same_value(a: str, b: str) -> bool:
    one, other = _arithmetic(a), _arithmetic(b)
    if one is None or other is None:
        return False
    names = sorted(set(_VARIABLE.findall(a)) | set(_VARIABLE.findall(b)))
    for point in _VALUES if names else _VALUES[:1]:
        values = {name: point["base"] + place * point["step"] for place, name in enumerate(names)} | {"e": math.e}
        try:
            if not _near(_evaluate(one.body, values), _evaluate(other.body, values)):
                return False
        except (ArithmeticError, ValueError, KeyError, TypeError):
            return False
    return True


def _near(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and math.isclose(a, b, rel_tol=_RELATIVE_ERROR)


def _arithmetic(text: str) -> ast.Expression | None:
    """Rewrite LaTeX into arithmetic, innermost fractions and roots first; None where it is none."""
    if "_" in text:
        return None
    for _ in range(20):
        changed = _ROOT.sub(r"(sqrt(\1\2))", _FRACTION.sub(r"((\1\2)/(\3\4))", text))
        if changed == text:
            break
        text = changed
    text = _FUNCTION.sub(lambda match: f" {match[1]} ", text).replace("{", "(").replace("}", ")").replace("^", "**")
    text = _PRODUCT.sub("*", text.replace(" pi ", f"({math.pi})").replace(" ", ""))
    text = _CALL.sub(r"\1(", text)
    if _NO_PYTHON.search(text):
        return None
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _evaluate(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name():
            return values[node.id]
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluate(node.operand, values)
        case ast.UnaryOp(op=ast.UAdd()):
            return _evaluate(node.operand, values)
        case ast.BinOp():
            return _OPERATORS[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            return _FUNCTIONS[name](_evaluate(argument, values))
    raise ValueError(f"no arithmetic: {type(node).__name__}")
