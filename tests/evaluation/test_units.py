import pytest

from benchmark.evaluation.units import is_name, is_unit_word, may_be_unit, same_unit, unit_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("square feet", "ft^2"),
        ("cm squared", "square centimeters"),
        ("m/s", r"m\,s^{-1}"),
        ("meters per second squared", "m/s^2"),
        ("kg m^2", "m^2 kg"),
        ("miles per hour", "mph"),
        ("N m", "newton meters"),
        ("degrees Celsius", "C"),
        ("apples", "apple"),
        ("the apples", "apple"),
    ],
)
def test_spellings_of_one_unit(one, other):
    assert unit_name(one) == unit_name(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("m/s", "m"), ("cm", "cm^2"), ("MW", "mW"), ("minutes", "meters"), ("dollars", "cents"), ("radians", "degrees")],
)
def test_different_units(one, other):
    assert not same_unit(unit_name(one), unit_name(other))


@pytest.mark.parametrize(
    "words",
    [
        *("millions", "dozens", "hundredths", "halves", "pairs", "quadrillionths", "squared", "below zero", "or more"),
        *("per mille", "is wrong", "unless n is even", "cm or km", "2 cm", "(roughly)", "x + 1", "percent of them"),
    ],
)
def test_words_that_change_a_number_are_no_unit(words):
    assert unit_name(words) is None


def test_a_missing_unit_agrees_with_every_unit():
    assert unit_name("") == ""
    assert same_unit("", unit_name("cm"))
    assert same_unit(unit_name("degrees"), unit_name("Celsius"))


def test_letters_of_a_formula_are_a_unit_or_variables_and_longer_words_are_a_unit():
    assert [word for word in ("mg", "lbs", "m", "in", "min", "feet", "abc") if may_be_unit(word)] == ["mg", "lbs"]
    assert [word for word in ("mg", "feet", "hours", "percent", "and", "area") if is_unit_word(word)] == [
        *("feet", "hours", "percent", "and"),
    ]


def test_a_name_in_front_of_an_equals_sign_says_nothing_about_the_value():
    assert is_name("Area of")
    assert not is_name("not")
    assert not is_name("twice")
