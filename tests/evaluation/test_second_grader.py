import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.evaluation.second_grader import agree, last_box, second_choice, second_opinion


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("12", "12.0"),
        (r"\frac{1}{2}", "0.5"),
        (r"\dfrac12", r"\frac{1}{2}"),
        ("9a+11", "11+9a"),
        (r"2\sqrt{3}", r"\sqrt{12}"),
        (r"\frac{\sqrt{3}}{3}", r"\frac{1}{\sqrt 3}"),
        ("1,-2", "-2,1"),
        ("x=5", "5"),
        (r"64\text{ feet}", "64"),
        ("10,080", r"10,\!080"),
        (r"\left(3, \frac{\pi}{2}\right)", r"(3,\frac{\pi}{2})"),
        (r"28\%", "28"),
        ("0.33333333", "1/3"),
        (r"\text{Evelyn}", "Evelyn"),
    ],
)
def test_it_agrees_by_strings_and_floating_point_numbers(answer, gold):
    assert agree(answer, gold)
    assert agree(gold, answer)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("13", "12"),
        ("(3,4)", "(4,3)"),
        ("[2,5)", "(2,5)"),
        ("2, 3", "2"),
        ("0.333", "1/3"),
        ("9^{9^{9^{9}}}", "1"),
        ("6.63e-34", "1.05e-34"),
        ("52_8", "528"),
        ("", ""),
        ("x" * 400, "x"),
        ("(" * 200, "1"),
    ],
)
def test_it_disagrees_and_never_hangs(answer, gold):
    assert not agree(answer, gold)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (r"\boxed{1} and \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"$\boxed 25$", "25"),
        (r"\boxed{12", None),
        ("12", None),
    ],
)
def test_it_finds_the_last_box_by_itself(text, box):
    assert last_box(text) == box


def test_it_judges_responses():
    assert second_opinion(r"<think>\boxed{8}</think>\boxed{9}", "9") == "correct"
    assert second_opinion(r"<think>\boxed{8}", "8") == "no_answer"
    assert second_opinion("it is 12", "12") == "no_answer"
    assert second_opinion("it is 12", "12", last_number=True) == "correct"
    assert second_opinion(r"\boxed{11}", "12") == "wrong"


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        (r"\boxed{\text{(B)}}", "correct"),
        ("the answer is (B)", "correct"),
        ("Answer: C", "wrong"),
        ("all in all B", "correct"),
        ("none of them", "no_answer"),
    ],
)
def test_it_reads_choices_by_the_patterns_of_a_harness(response, verdict):
    assert second_choice(response, "B", "ABCD") == verdict


@given(st.text(alphabet=r"\frac{}^_()+-*/0123456789xye,.=sqrt ", max_size=60))
def test_any_text_is_compared_without_an_error(text):
    assert agree(text, "x+1") == agree("x+1", text)
