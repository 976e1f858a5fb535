r"""The words that may stand behind a number: units, multipliers, and words that change its meaning.

A unit is compared where both answers have one, and forgotten where one answer has none: a question that says "how many
square feet" is answered by 64. Any other noun behind a number ("64 apples") is forgotten likewise, unless one of its
words changes the number, as in "5 or more", "5 tenths" or "5 is wrong". No unit is converted: 100 cm is not 1 m,
because a question asks for one of them.

Two or three letters in a formula, as `mg`, may be a unit or a product of variables; which one is meant shows only in
what they are compared with (`benchmark.evaluation.symbolic`).
"""

import re
from collections import Counter
from typing import Final

_UNITS: Final = {
    "mm": ("mm", "millimeter", "millimetre"),
    "cm": ("cm", "centimeter", "centimetre"),
    "m": ("m", "meter", "metre"),
    "km": ("km", "kilometer", "kilometre"),
    "nm": ("nm", "nanometer", "nanometre"),
    "in": ("in", "inch", "inches"),
    "ft": ("ft", "foot", "feet"),
    "yd": ("yd", "yard"),
    "mi": ("mi", "mile"),
    "mg": ("mg", "milligram"),
    "g": ("g", "gram"),
    "kg": ("kg", "kilogram"),
    "lb": ("lb", "lbs", "pound"),
    "oz": ("oz", "ounce"),
    "ml": ("ml", "mL", "milliliter", "millilitre"),
    "L": ("L", "l", "liter", "litre"),
    "s": ("s", "sec", "secs", "second"),
    "min": ("min", "mins", "minute"),
    "h": ("h", "hr", "hrs", "hour"),
    "day": ("day",),
    "week": ("week",),
    "month": ("month",),
    "year": ("yr", "yrs", "year"),
    "mi/h": ("mph",),
    "km/h": ("kmh", "kph"),
    "dollar": ("dollar", "USD", "usd"),
    "cent": ("cent",),
    "euro": ("euro", "EUR"),
    "unit": ("unit",),
    "rad": ("rad", "radian"),
    "N": ("N", "newton"),
    "J": ("J", "joule"),
    "W": ("W", "watt"),
    "Hz": ("Hz", "hertz"),
    "eV": ("eV",),
    "K": ("K", "kelvin"),
    "C": ("C", "celsius", "coulomb"),
    "F": ("F", "fahrenheit", "farad"),
    "T": ("T", "tesla"),
    "V": ("V", "volt"),
    "A": ("A", "ampere", "amp"),
    "Pa": ("Pa", "pascal"),
    "mol": ("mol", "mole"),
    "ohm": ("ohm", "\N{GREEK CAPITAL LETTER OMEGA}"),
    "square": ("square", "sq"),
    "cubic": ("cubic", "cu"),
    "per": ("per",),
    "degree": ("degree",),
}
_CANONICAL: Final = {spelling: name for name, spellings in _UNITS.items() for spelling in spellings}
PERCENT_WORDS: Final = frozenset(("percent", "pct", "percentage", "per cent"))
MULTIPLIERS: Final = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
CONNECTIVES: Final = frozenset(("and", "or"))
_RELATIONS: Final = (
    *("if", "when", "where", "than", "more", "less", "least", "most", "not", "no", "mod", "modulo", "base"),
    *("such", "that", "to", "from", "for", "with", "at", "about", "between", "approximately", "over", "under"),
    *("up", "down", "out", "off", "all", "any", "each", "other", "either", "neither", "nor", "except", "only"),
    *("above", "below", "before", "after", "within", "without", "beyond", "unless", "until", "while"),
    *("but", "because", "since", "so", "then", "thus", "given", "assuming", "provided", "otherwise", "instead"),
    *("approx", "roughly", "around", "almost", "nearly", "maybe", "perhaps", "possibly", "probably", "never"),
    *("greater", "fewer", "smaller", "larger", "bigger", "higher", "lower", "decrease", "loss", "deficit"),
)
_STATEMENTS: Final = (
    *("is", "isn", "are", "aren", "was", "wasn", "were", "be", "does", "doesn", "do", "don", "can", "cannot"),
    *("may", "might", "must", "should", "will", "would", "equals", "equal", "wrong", "incorrect", "false", "invalid"),
)
_ARITHMETIC: Final = (
    *("plus", "minus", "times", "divided", "multiplied", "by", "squared", "cubed", "factorial", "power", "root"),
    *("exponent", "reciprocal", "inverse", "negative", "mille", "permille", "ppm", "ppb", "basis", "repeating"),
    *("recurring", "percent", "percentage", "percentile", "pct", "double", "triple", "twice", "thrice", "fold"),
)
_NUMBER_WORDS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty"),
    *("forty", "fifty", "sixty", "seventy", "eighty", "ninety", "pair", "couple", "dozen", "score", "gross"),
    *("half", "halve", "third", "quarter", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "twentieth", "fiftieth", "hundredth", "thousandth"),
)
_MEANING: Final = frozenset((*_RELATIONS, *_STATEMENTS, *_ARITHMETIC, *_NUMBER_WORDS, *CONNECTIVES, *MULTIPLIERS))
_CHANGES_A_NAME: Final = frozenset(
    (*_STATEMENTS, *_ARITHMETIC, *_NUMBER_WORDS, "not", "no", "neither", "nor", "never", "if", "unless")
)
_LARGE_NUMBER: Final = re.compile(r"\w*illion(?:th)?|googol")
_ARTICLES: Final = frozenset(("a", "an", "the", "of"))
_AMBIGUOUS: Final = frozenset(("in", "mi", "oz", "per", "sq", "cu", "min", "Pa"))
_LONGEST_PRODUCT: Final = 3  # letters of a unit that may be a product of variables as well
_PIECE: Final = re.compile(r"[A-Za-z\u03a9]+|\^\s*-?\d+|\d+|[^\s,.*'\u00b7-]")
_TYPOGRAPHY: Final = re.compile(r"\\[,;:!> ]|\\q?quad|\\cdot|\\times|~|[{}$]|\(s\)")


def is_unit_word(word: str) -> bool:
    r"""Say whether a word in a formula, without `\text`, can be no product: `feet`, `percent`, `million`, `and`."""
    if word in PERCENT_WORDS | CONNECTIVES | MULTIPLIERS.keys():
        return True
    return len(word) > _LONGEST_PRODUCT and _is_known(word)


def may_be_unit(word: str) -> bool:
    r"""Say whether letters in a formula, without `\text`, may be a unit as well as a product: `cm`, not `m` or `in`."""
    return 1 < len(word) <= _LONGEST_PRODUCT and word not in _AMBIGUOUS and _is_known(word)


def is_abbreviation(word: str) -> bool:
    r"""Say whether a text behind a number is a unit although it might be a variable or a function: `m`, `min`."""
    return word in _CANONICAL


def unit_name(words: str) -> str | None:
    """Return a text behind a number as a unit, its words under their shortest names; None where it is no unit.

    A noun is a unit of its own. The factors of a unit have no order, and `/` or "per" divides by the next one. Degrees
    are the unit "degree" unless a scale follows.
    """
    powers: Counter[str] = Counter()
    last, sign, prefix, degrees = "", 1, 1, False
    for piece in _PIECE.findall(_TYPOGRAPHY.sub(" ", words)):
        name = _factor(piece)
        if piece == "/" or name == "per":
            last, sign = "", -1
        elif name in ("square", "cubic"):
            prefix = 2 if name == "square" else 3
        elif last and _power_of(piece):  # of the factor before
            powers[last] += (1 if powers[last] > 0 else -1) * (_power_of(piece) - 1)
        elif not name:
            return None
        elif name == "degree":
            degrees = True
        elif piece.lower() not in _ARTICLES:
            top, _, bottom = name.partition("/")
            powers[top] += sign * prefix
            if bottom:
                powers[bottom] -= sign * prefix
            last, sign, prefix = top, 1, 1
    if prefix > 1:  # "5 squares"
        powers["square" if prefix == 2 else "cube"] += 1
    found = " ".join(f"{name}^{power}" for name, power in sorted(powers.items()) if power)
    return found or ("degree^1" if degrees else "")


def is_name(words: str) -> bool:
    """Say whether a text in front of an equals sign names what the value belongs to: "Area of ABC", not "not"."""
    return not any(word in _CHANGES_A_NAME for word in re.findall(r"[a-z]+", words.lower()))


def same_unit(a: str, b: str) -> bool:
    """Say whether two units agree; a missing one agrees with every unit, and degrees with degrees of a scale."""
    return not a or not b or a == b or {a, b} in ({"degree^1", "C^1"}, {"degree^1", "F^1"})


def _is_known(word: str) -> bool:
    return word in _CANONICAL or word.removesuffix("s") in _CANONICAL


def _factor(piece: str) -> str:
    """Return the shortest name of one word; empty where it is no word or changes the number."""
    if not piece[0].isalpha():
        return ""
    lower = piece.lower()
    singular = lower.removesuffix("s") if len(lower) > 3 else lower
    if {lower, singular} & _MEANING or _LARGE_NUMBER.fullmatch(singular):
        return ""
    if len(piece) == 1:
        return _CANONICAL.get(piece, piece)
    noun = singular if piece.islower() or piece.istitle() else piece  # MW is not mW
    return _CANONICAL.get(piece) or _CANONICAL.get(lower) or _CANONICAL.get(singular) or noun


def _power_of(piece: str) -> int:
    """Return the power that a piece behind a unit raises it to; 0 where it is none."""
    if piece.startswith("^"):
        return int(piece[1:])
    return {"2": 2, "3": 3, "squared": 2, "cubed": 3}.get(piece, 0)
