"""A second way to ask a question of the micro world, for methods that compare two views of it (Co-rewarding I).

A paraphrase is another question with the same answer, found by rules of arithmetic:

    add     exchange the terms, or move a part of one to the other   46+12?     -> 12+46?  45+13?   (46+012?)
    sub     move both numbers by the same amount                     46-12?     -> 49-15?           (46-012?)
    mul     factor the product otherwise                             4*18?      -> 6*12?            (?4*18?)
    chain   the same on its terms, and within its product            3+4*6?     -> 3+8*3?  6*4+3?   (:3+4*6?)
    mod     add or take multiples of the divisor                     46%12?     -> 70%12?           (046%12?)
    cmp     list the numbers in another order                        max(46,12)? -> max(12,46)?     (:max(46,12)?)

In parentheses: the spare form, for a question whose rewritings are all taken. It is the question itself with
a mark that changes nothing, so no family can draw it and it is never the text of another question. (A chain tries its
product first before that, written as no family writes it.)

Trade-off taken: equal-value rewritings instead of other words. The base policy reads no wording but that of its
families. Measured before any method was run (recipe v3, temperature 1, 4 answers to each of 900 questions), it answers
"46 minus 12?", "46-12=?" or "(46)-12?" in 0 to 5% of the cases (mul: 15%, mod: 19%) where it answers the
original in 33 to 44%, so such a view would vote at random. Rewritings within the operands of the question's own level
are as easy as the original, and the spare forms are among the most readable of some 300 marks that were tried. In a
pool of 1,536, where 30% of the questions need a spare form (mul: 87%), the policy is right on

    add 42% (original 43%)   sub 39% (38%)   mul 25% (32%)   chain 40% (36%)   mod 29% (35%)   cmp 41% (46%)

Operator words were left out for a second reason: they belong to a family that training must not touch.

A text that a family can draw is used only where it belongs to the training part, so no panel or benchmark question is
ever a paraphrase.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

from benchmark.data.micro.questions import LEVELS, OPERAND_RANGES, QUOTIENTS, Question, Range
from benchmark.data.micro.splits import Part, part

_SHIFTS = [shift for shift in range(-9, 10) if shift]
_DIGIT: Range = (1, 9)
_PRODUCT_FIRST: tuple[Range, Range] = ((2, 9), (2, 5))  # factors of a*b+c
_PRODUCT_LAST: dict[int, tuple[Range, Range]] = {1: ((2, 5), (2, 5)), 2: ((2, 9), (2, 9))}  # of a+b*c, by level


@dataclass(frozen=True, slots=True)
class _Forms:
    """The paraphrases of one question."""

    drawable: list[list[str]]  # in tiers, the preferred one first; within a tier none is better than another
    spare: list[str]  # that no family can draw, in order of preference; the last is unique to the question


def paraphrase(question: Question) -> str:
    """Return the preferred paraphrase of a question of the ID families; never the text of the question itself."""
    return next(candidates(question))


def candidates(question: Question) -> Iterator[str]:
    """Yield the paraphrases of a question of the ID families, preferred first; at least one.

    The order depends on the text of the question only. Raises KeyError for another family.
    """
    forms = _FORMS[question.family](question)
    for tier in forms.drawable:
        for text in sorted(set(tier), key=lambda text: hashlib.sha256(f"{question.text}/{text}".encode()).digest()):
            if text != question.text and part(text) is Part.TRAIN:
                yield text
    yield from forms.spare


def _add(question: Question) -> _Forms:
    a, b = question.operands
    ranges = OPERAND_RANGES["add"][question.level]
    moved = ((a + shift, b - shift) for shift in _SHIFTS)
    exchanged = [f"{b}+{a}?"] if _within((b, a), ranges) else []
    return _Forms([exchanged, [f"{x}+{y}?" for x, y in moved if _within((x, y), ranges)]], [f"{a}+0{b}?"])


def _sub(question: Question) -> _Forms:
    a, b = question.operands
    ranges = OPERAND_RANGES["sub"][question.level]
    moved = ((a + shift, b + shift) for shift in _SHIFTS)
    return _Forms([[f"{x}-{y}?" for x, y in moved if _within((x, y), ranges)]], [f"{a}-0{b}?"])


def _mul(question: Question) -> _Forms:
    product = question.operands[0] * question.operands[1]
    levels = sorted(LEVELS, key=lambda level: level != question.level)  # its own first
    tiers = [[f"{x}*{y}?" for x, y in _factors(product, OPERAND_RANGES["mul"][level])] for level in levels]
    return _Forms(tiers, [f"?{question.text}"])


def _chain(question: Question) -> _Forms:
    a, b, c = question.operands
    marked = f":{question.text}"
    if question.operators == "++":
        return _Forms([[f"{x}+{y}+{z}?" for x, y, z in permutations((a, b, c))]], [marked])
    if question.operators == "+-":
        moved = ((a + shift, b - shift) for shift in _SHIFTS)
        return _Forms(
            [[f"{b}+{a}-{c}?"], [f"{x}+{y}-{c}?" for x, y in moved if _within((x, y), (_DIGIT, _DIGIT))]], [marked]
        )
    if question.operators == "*+":
        first = [f"{x}*{y}+{c}?" for x, y in _factors(a * b, _PRODUCT_FIRST)]
        return _Forms([first, [f"{c}+{x}*{y}?" for x, y in _factors(a * b, _PRODUCT_LAST[2])]], [marked])
    last = [f"{a}+{x}*{y}?" for x, y in _factors(b * c, _PRODUCT_LAST[question.level])]
    first = [f"{x}*{y}+{a}?" for x, y in _factors(b * c, _PRODUCT_FIRST)]
    turned = [f"{x}*{y}+{a}" for x, y in ((b, c), (c, b))]
    unseen = [f"{text}?" for text, y in zip(turned, (c, b), strict=True) if y > _PRODUCT_FIRST[1][1]]
    stopped = [f"{text}." for text in turned if f"{text}?" in unseen or part(f"{text}?") is Part.TRAIN]
    return _Forms([last, first], [*unseen, *stopped, marked])


def _mod(question: Question) -> _Forms:
    a, b = question.operands
    bounds = (QUOTIENTS[question.level], (QUOTIENTS[0][0], QUOTIENTS[-1][1]))  # its own level, any level
    tiers = [[f"{x}%{b}?" for x in range(b * low + a % b, b * high + 1, b)] for low, high in bounds]
    return _Forms(tiers, [f"0{question.text}"])


def _cmp(question: Question) -> _Forms:
    name = question.text.partition("(")[0]
    orders = permutations(question.operands)
    return _Forms([[f"{name}({','.join(map(str, order))})?" for order in orders]], [f":{question.text}"])


def _factors(product: int, ranges: tuple[Range, Range]) -> Iterator[tuple[int, int]]:
    for x in range(ranges[0][0], ranges[0][1] + 1):
        if product % x == 0 and _within((x, product // x), ranges):
            yield x, product // x


def _within(operands: tuple[int, int], ranges: tuple[Range, Range]) -> bool:
    return all(low <= value <= high for value, (low, high) in zip(operands, ranges, strict=True))


_FORMS: dict[str, Callable[[Question], _Forms]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "chain": _chain,
    "mod": _mod,
    "cmp": _cmp,
}
