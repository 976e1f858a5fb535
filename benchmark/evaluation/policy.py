r"""What counts as the same answer, where reasonable people differ: a table of decisions, each with an example.

The rule behind the table: a response is correct where a reader who knows the question could not say that it states
anything but the gold. Typography, an omitted unit and an omitted name are forgiven; another value, another structure or
a contradicting unit is not. Decimals are exact: 3.14 is not \pi, because most questions ask for the exact value, and a
benchmark that does not says so with a tolerance. Every row is a test.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether `answer`, in a box, is accepted against `gold`, and why."""

    topic: str
    gold: str
    answer: str
    accepted: bool
    reason: str
    tolerance: str | None = None


def _decide(topic: str, reason: str, accepted: str, *rows: tuple[str, str]) -> tuple[Decision, ...]:
    return tuple(Decision(topic, gold, answer, accepted == "accept", reason) for gold, answer in rows)


POLICY: Final = (
    *_decide(
        "percent",
        "a percentage may be written as its number or as its value",
        "accept",
        ("28", r"28\%"),
        (r"28\%", "28"),
        (r"28\%", "0.28"),
        ("0.28", r"28\%"),
        (r"62.5\%", r"\frac{5}{8}"),
        (r"28\%", "28 percent"),
    ),
    *_decide("percent", "neither its number nor its value", "refuse", (r"28\%", "2800"), (r"28\%", r"0.28\%")),
    *_decide(
        "mixed numbers",
        "a whole number before a proper fraction is their sum",
        "accept",
        ("2.5", r"2\frac{1}{2}"),
        (r"137 \frac{1}{2}", "137.5"),
        (r"\frac{8}{3}", "2 2/3"),
    ),
    *_decide(
        "mixed numbers",
        "part of one is another number; before an improper fraction it may be a product",
        "refuse",
        ("2", "2 2/3"),
        ("22/3", "2 2/3"),
        ("13/3", r"2\frac{7}{3}"),
    ),
    *_decide(
        "tiny values",
        "values are compared exactly, or relative to their size",
        "refuse",
        (r"\frac{1}{2004!}", r"\frac{1}{2006!}"),
        ("6.63e-34", "1.05e-34"),
        (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}"),
    ),
    *_decide(
        "towers of exponents",
        "a power of more than 50,000 bits is refused before it is evaluated; only its text counts",
        "refuse",
        ("16", "9^{9^{9^{9}}}"),
        ("16", r"\dfrac{7^{\left(7^{\left(7^{\left(7^7\right)}\right)} - 4\right)} - 7}{16}"),
        ("1", "(10^{10})!"),
    ),
    *_decide("towers of exponents", "the text is the same", "accept", ("9^{9^{9^{9}}}", r"9^{9^{9^9}}")),
    *_decide(
        "decimals",
        "decimals are exact; no rounding is assumed",
        "refuse",
        (r"\pi", "3.14"),
        (r"\frac{1}{3}", "0.3333"),
        (r"\sqrt{2}", "1.41421356237"),
    ),
    Decision("tolerance", "14.2", "14.1", False, "no tolerance is stated"),
    Decision("tolerance", "14.2", "14.1", True, "the benchmark states an absolute error of 0.1", "1e-1"),
    Decision("tolerance", r"\sqrt{2}", "1.4", True, "it holds for formulas too", "0.1"),
    Decision("tolerance", "14.2", "14.3001", False, "beyond the stated error", "1e-1"),
    *_decide(
        "lists and sets",
        "roots and solutions have no order; braces do not matter",
        "accept",
        ("1,-2", "-2,1"),
        (r"\{1\pm\sqrt{5},-2\}", r"-2, 1-\sqrt{5}, 1+\sqrt{5}"),
        ("3, 5, 7", r"\{7, 5, 3\}"),
        ("1331 and 1728", r"1728 \text{ and } 1331"),
        (r"a=1 \text{ or } a=-2", "1, -2"),
    ),
    *_decide(
        "lists and sets",
        "all entries, each as often as in the gold, and no other",
        "refuse",
        ("2", "2, 3"),
        ("1331 and 1728", "1728"),
        ("-2,-2", "-2"),
    ),
    *_decide(
        "tuples",
        "round brackets keep an order; a bare list in that order is the tuple",
        "accept",
        ("(1,3)", "1, 3"),
        ("(3,4)", r"\left(3, \frac{8}{2}\right)"),
        ("(1,2,3)", r"\begin{pmatrix} 1 \\ 2 \\ 3 \end{pmatrix}"),
    ),
    *_decide(
        "tuples", "another order, or a set", "refuse", ("(3,1)", "1, 3"), ("(1,3)", "(3,1)"), ("(1,3)", r"\{1,3\}")
    ),
    *_decide(
        "intervals and inequalities",
        "an interval and the inequality of one variable say the same, in both directions",
        "accept",
        ("(0, 12.5)", "0 < x < 12.5"),
        ("0 < x < 12.5", "(0, 12.5)"),
        (r"k \geqslant 2", r"[2, \infty)"),
        (r"x \in [-2,7]", r"-2 \le x \le 7"),
        (r"x \in [-2,7]", "[-2,7]"),
        ("x < 1", "-x > -1"),
        (r"(2,12) \cup (12,102)", r"(12,102) \cup (2,12)"),
    ),
    *_decide(
        "intervals and inequalities",
        "an end that belongs to one and not to the other, or the other direction",
        "refuse",
        ("[2,5)", "(2,5)"),
        ("(0, 12.5)", r"0 \le x < 12.5"),
        ("x > 5", "x < 5"),
    ),
    *_decide(
        "units",
        "a missing unit is forgiven, and so is a noun",
        "accept",
        ("64", r"64 \text{ square feet}"),
        (r"15\mbox{ cm}^2", "15"),
        (r"5 \text{ cm}", "5 cm"),
        (r"5 \text{ cm}", r"5 \text{ centimeters}"),
        ("12", r"12 \text{ apples}"),
        (r"\$32", "32"),
        ("3,000,000", r"3 \text{ million}"),
    ),
    *_decide(
        "units",
        "another unit, or words that change the number; units are not converted",
        "refuse",
        (r"5 \text{ cm}", r"5 \text{ km}"),
        (r"100 \text{ cm}", r"1 \text{ m}"),
        ("5", r"5 \text{ or more}"),
        ("12", "12abc"),
    ),
    *_decide(
        "degrees",
        "the sign and the word are typography",
        "accept",
        (r"336^\circ", "336"),
        ("72", r"72^{\circ}"),
        (r"\frac{270}7\text{ degrees}", r"\frac{270}{7}"),
    ),
    *_decide("bases", "the same digits in the same base", "accept", ("52_8", "52_{8}")),
    *_decide(
        "bases",
        "without its base, or converted, it is not the form that was asked for",
        "refuse",
        ("52_8", "52"),
        ("52_8", "42"),
        ("52_8", "52_9"),
    ),
    *_decide(
        "plus-minus",
        "it stands for both values, and both must be there",
        "accept",
        (r"\pm 2021", "2021, -2021"),
        (r"1 \pm \sqrt{19}", r"1+\sqrt{19}, 1-\sqrt{19}"),
    ),
    *_decide("plus-minus", "one of two values", "refuse", (r"\pm 2021", "2021")),
    *_decide(
        "digits",
        "digits of any script are digits",
        "accept",
        ("12", "\uff11\uff12"),
        ("12", "\u0661\u0662"),
        ("-5", "\u22125"),
    ),
    *_decide("digits", "a comma is a mark of thousands, not of decimals", "refuse", ("1000.99", "1000,99")),
    *_decide(
        "equations",
        "a name before the value may be left out; equations with the same solutions are the same",
        "accept",
        ("x=5", "5"),
        ("5", "x=5"),
        ("y = 2x + 3", "2x+3"),
        ("y = 2x + 3", "2x - y + 3 = 0"),
        ("f(n)=2n+1007", "f(x)=2x+1007"),
        ("(p,q)=(3,2)", "(3,2)"),
        ("x=1, y=2", "y=2, x=1"),
        ("n=2, 3, 4", "2, 3, 4"),
    ),
    *_decide(
        "equations",
        "another name, another curve, half of an equation, or entries under each other's names",
        "refuse",
        ("x=5", "y=5"),
        ("3x-y+13=0", "3x+4y+14=0"),
        ("7 = 11a+c", "11a+c"),
        ("x=1, y=2", "2, 1"),
        (r"Y(x)=-x+C+\frac{D}{x}", r"Y(x)=A+\frac{B}{x}-x"),
    ),
    *_decide(
        "variables",
        "expressions are functions of real variables: the same wherever both are real",
        "accept",
        (r"\sqrt{1/n}", r"\frac{1}{\sqrt{n}}"),
        ("9a+11", "11+9a"),
        (r"\tan^2(y)+1", r"\sec^2(y)"),
    ),
    *_decide("variables", "different for negative x", "refuse", ("|x|", "x")),
    *_decide(
        "plain text",
        "functions in the notation of programs are read",
        "accept",
        (r"\frac{\sqrt{3}}{3}", "sqrt(3)/3"),
        (r"\arcsin(10/13)", "np.arcsin(10/13)"),
        ("4.5e33", r"4.5 \times 10^{33}"),
    ),
    *_decide(
        "words", "case and the full stop do not matter", "accept", (r"\text{Yes}", "yes"), ("even", r"\text{Even.}")
    ),
    *_decide("words", "another word; one letter keeps its case", "refuse", (r"\text{Yes}", r"\text{No}"), ("A", "a")),
)

GOLD_INVALID: Final = ("", "  ", "$$ $$", "__NoCorrectAnswer__", r"\frac{1}{2", "1}", "1\x0crac{1}{2}")
"""Golds that nothing can be compared with: empty, a placeholder, broken braces, a control character."""
