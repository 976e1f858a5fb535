"""The words that may stand behind a number: units, multipliers, and words that change its meaning.

A unit is compared where both answers have one, and forgotten where one answer has none: a question that says "how many
square feet" is answered by 64. Any other noun behind a number ("64 apples") is forgotten likewise, unless one of its
words changes the number, as in "5 or more". No unit is converted: 100 cm is not 1 m, because a question asks for one
of them.
"""

import re
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
    "min": ("mins", "minute"),
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
    "V": ("V", "volt"),
    "A": ("A", "ampere", "amp"),
    "Pa": ("Pa", "pascal"),
    "square": ("square", "sq"),
    "cubic": ("cubic", "cu"),
    "per": ("per",),
    "degree": ("degree",),
}
_CANONICAL: Final = {spelling: name for name, spellings in _UNITS.items() for spelling in spellings}
PERCENT_WORDS: Final = frozenset(("percent", "pct", "percentage", "per cent"))
MULTIPLIERS: Final = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
CONNECTIVES: Final = frozenset(("and", "or"))
_MEANING: Final = frozenset(
    (
        *("if", "when", "where", "than", "more", "less", "least", "most", "not", "no", "mod", "modulo", "base"),
        *("such", "that", "to", "from", "for", "with", "at", "about", "between", "approximately", "over", "under"),
        *("up", "all", "any", "each", "other", "either", "except", "plus", "minus", "times", "only", "dozen"),
    )
)
_AMBIGUOUS: Final = frozenset(("in", "mi", "oz", "square", "cubic", "per", "sq", "cu", "min", "Pa"))


def is_plain_unit(word: str) -> bool:
    """Say whether a word in a formula, without `\\text`, can only be a unit: `cm` and `feet`, not `m` or `in`."""
    known = _CANONICAL.get(word) or _CANONICAL.get(word.removesuffix("s"))
    return word in PERCENT_WORDS | CONNECTIVES | MULTIPLIERS.keys() or (
        known is not None and len(word) > 1 and (word not in _AMBIGUOUS or len(word) > 2)
    )


def unit_name(words: str) -> str | None:
    """Return a text behind a number as a unit, its words under their shortest names; None where it is no unit.

    Degrees are the empty unit; a noun is a unit of its own.
    """
    found = []
    for word in re.findall(r"[A-Za-z]+|[/^\d.*-]+", words.replace("{", "").replace("}", "")):
        lower = word.lower()
        if lower in _MEANING or lower in CONNECTIVES or lower in MULTIPLIERS:
            return None
        singular = lower.removesuffix("s") if len(lower) > 3 else lower
        name = _CANONICAL.get(word) or _CANONICAL.get(lower) or _CANONICAL.get(singular) or singular
        if name != "degree":
            found.append(name)
    return _with_powers(" ".join(found))


def same_unit(a: str, b: str) -> bool:
    """Say whether two units agree; a missing one agrees with every unit."""
    return not a or not b or a == b


def _with_powers(name: str) -> str:
    name = re.sub(r"\bsquare (\w+)", r"\1 ^2", name)
    name = re.sub(r"\bcubic (\w+)", r"\1 ^3", name)
    return re.sub(r"\s*per\s*|\s*/\s*", "/", name).replace(" ^", "^")
