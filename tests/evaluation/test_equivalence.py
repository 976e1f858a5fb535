from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.evaluation.equivalence import MAX_LENGTH, Layer, canonical, deciding_layer, normalise, same

# Pieces that LaTeX answers are made of, so that random strings reach every rewrite.
PIECES = st.sampled_from(
    [
        *"0123456789.,+-/{}()$^_ xe\\%=~½²₂−１٣°\n\u200b\u2044",
        *(r"\frac", r"\dfrac", r"\text{", r"\left", r"\right", r"\!", r"\,", r"^\circ", r"\boxed"),
        *(r"\times10^{", "1,234", r"\$", r"\(", r"\)", r"\sin ", r"\sqrt", r"\degree", r"\boxed{", "}"),
    ]
)
ANSWERS = st.lists(PIECES, max_size=12).map("".join)
NUMBERS = st.fractions(max_denominator=999).filter(lambda value: abs(value) < 10**6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1/2", "0.5"),
        ("1/2", r"\frac{1}{2}"),
        (r"\frac12", r"\dfrac{1}{2}"),
        (r"\frac 1 2", ".5"),
        (r"-\frac{3}{6}", r"\frac{3}{-6}"),
        (r"2\frac{1}{2}", "2.5"),
        ("2 1/2", "2½"),
        ("142.0", "142"),  # AMC golds are stored as floats
        ("12.", "12"),
        ("-0", "0"),
        ("+7", "007"),
        ("\u22125", "-5"),
        ("１２", "12"),
        ("١٢", "12"),
        ("1,234", "1234"),
        (r"11,\! 111,\! 111,\! 100", "11111111100"),
        ("1{,}234", r"1\,234"),
        ("4.5e33", r"4.5 \times 10^{33}"),
        (r"336^\circ", "336"),
        (r"72^{\circ}", "72°"),
        (r"\$32", "32"),
        ("$29.00", "29"),
        (r"$\frac{9}{7}$", r"\(\dfrac{9}{7}\)"),
        (r"\text{Evelyn}", "Evelyn"),
        ("52_8", "52_{8}"),
        (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\frac{\pi}{2})"),
        (r"28\%", "28%"),
        ("x ^ { 2 }", "x^2"),
        (r"\sqrt2", r"\sqrt{2}"),
        (r"\boxed{\frac12}", "0.5"),
        (r"\sin 30^\circ", r"\sin 30°"),
    ],
)
def test_spellings_of_one_answer_are_the_same(one, other):
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12abc", "12"),
        ("12 abc", "12"),
        ("2 2/3", "22/3"),
        ("2½", "21/2"),
        ("5²", "52"),
        ("x₁₂", "x1_2"),
        ("1, 234", "1234"),  # a list of two numbers
        ("(1,234)", "1234"),  # a pair
        ("0.1", "0.10000000000000001"),
        ("1/3", "0.3333333333333333"),
        ("6.63e-34", "1.05e-34"),  # absolute rounding would call them equal
        (r"\pi", "3.14"),
        (r"\pm 2021", "2021"),
        ("0.333...", "0.333"),
        (r"1-\sqrt{2}", "1"),
        ("[2,5)", "(2,5)"),
        (r"5 \text{ cm}", r"5 \text{ km}"),
        ("A", "a"),
        (r"\leftarrow", "arrow"),
        ("1/0", "2/0"),
        (r"2\frac{7}{3}", "13/3"),
        (r"\sin 30^\circ", r"\sin 30"),
        (r"30^\circ 150", "30150"),
    ],
)
def test_different_answers_are_not_the_same(one, other):
    assert not same(one, other)
    assert not same(other, one)


@pytest.mark.parametrize("nothing", [None, "", "  ", "$$ $$", r"\text{}", "\u200b"])
def test_no_answer_is_the_same_as_nothing_itself_included(nothing):
    assert not same(nothing, nothing)
    assert not same(nothing, "1")
    assert not same("1", nothing)


def test_numbers_are_exact():
    assert canonical("0.1") == Fraction(1, 10)
    assert canonical("1e-3") == Fraction(1, 1000)
    assert canonical("1e9999") == "1e9999"  # no number worth building


def test_the_deciding_layer_is_named():
    assert deciding_layer("$12$", "12") is Layer.TEXT
    assert deciding_layer("12.0", "12") is Layer.RATIONAL
    assert deciding_layer("13", "12") is Layer.RATIONAL
    assert deciding_layer("x", "12") is Layer.TEXT


def test_huge_answers_are_compared_as_they_stand():
    digits = "1" + "0" * 5000  # int() refuses more than 4300 digits
    assert same(digits, digits + "\n")
    assert not same(digits, digits + "0")
    assert normalise("$" + "x" * MAX_LENGTH + "$").startswith("$")


@given(ANSWERS)
def test_normalising_is_idempotent_and_keeps_the_meaning(answer):
    once = normalise(answer)
    assert normalise(once) == once
    assert canonical(once) == canonical(answer)


@given(st.lists(ANSWERS, min_size=3, max_size=3))
def test_same_is_symmetric_and_transitive(answers):
    a, b, c = answers
    assert same(a, b) == same(b, a)
    if same(a, b) and same(b, c):
        assert same(a, c)


@given(NUMBERS, NUMBERS)
def test_ratios_are_the_same_exactly_when_their_values_are(one, other):
    spelt = rf"\frac{{{other.numerator}}}{{{other.denominator}}}"
    assert same(f"{one.numerator}/{one.denominator}", spelt) == (one == other)


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_thousands_separators_and_trailing_zeros_do_not_matter(number, zeros):
    assert same(f"{number:,}" + ("." + "0" * zeros if zeros else ""), str(number))
