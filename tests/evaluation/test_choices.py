import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.evaluation.choices import ChoiceMethod, extract_choice, gold_label

DATA = Path(os.environ.get("VENUS_DATA", Path(__file__).parents[3] / "shared" / "data"))
FOUR = ("The density decreases.", "Years become longer.", "$x^2$", "twelve")
NUMBERS = ("10", "12", "20", "30")


@pytest.mark.parametrize(
    ("response", "label"),
    [
        (r"\boxed{C}", "C"),
        (r"\boxed{c}", "C"),
        (r"The final answer is $\boxed{\text{E}}$.", "E"),
        (r"\boxed{\text{(C)}}", "C"),
        (r"\boxed{E: A polygenic score}", "E"),
        (r"\boxed{\textbf{(B)}\ 3}", "B"),
        (r"\boxed{(D) twelve}", "D"),
        (r"\boxed{B. It grows}", "B"),
        (r"\boxed{A} no, \boxed{B}", "B"),
    ],
)
def test_the_label_in_the_last_box_is_the_choice(response, label):
    choice = extract_choice(response)
    assert (choice.label, choice.method) == (label, ChoiceMethod.BOX)


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("So the answer is B", "B"),
        ("the answer is (b)", "B"),
        ("the answer is b).", "B"),
        ("ANSWER: D", "D"),
        ("**Answer: C**", "C"),
        ("Answer:\n\nAnswer: C", "C"),
        ("The correct option is **(B)**.", "B"),
        ("The best choice is therefore option D.", "D"),
        ("The correct answer is: B) Years become longer", "B"),
        ("The answer is A. On second thought, the answer is C.", "C"),
        ("The answer is C because I computed the integral.", "C"),
        ("The answer is I because only this one is even.", "I"),
        ("The answer is $\\text{D}$", "D"),
    ],
)
def test_the_label_after_the_last_cue_is_the_choice(response, label):
    choice = extract_choice(response)
    assert (choice.label, choice.method) == (label, ChoiceMethod.CUE)


@pytest.mark.parametrize(
    "response",
    [
        "",
        "The answer is I think hard to say",
        "Answer: A large number of cells",
        "It may be A or B. It is hard.",
        "The answer is be careful",
        "answer: 3.5",
        "I",
    ],
)
def test_words_are_no_labels_and_nothing_is_guessed(response):
    choice = extract_choice(response, FOUR)
    assert choice.label is None
    assert choice.method is ChoiceMethod.NONE


def test_the_labels_are_those_of_the_item():
    assert extract_choice("The answer is J").label == "J"
    assert extract_choice("The answer is J", FOUR).label is None
    assert extract_choice("The answer is C. Not J: the answer is J", FOUR).label == "C"
    assert extract_choice("The answer is C", FOUR[:2]).label is None


@pytest.mark.parametrize(
    ("response", "label"),
    [
        (r"\boxed{Years become longer}", "B"),
        (r"\boxed{x^2}", "C"),
        ("The answer is the density decreases.", "A"),
        ("The answer is: The density decreases.", "A"),
        ("So we have found\n**twelve**", "D"),
        ("Hence\n(B) Years become longer.", "B"),
        ("I conclude\n**A**", "A"),
    ],
)
def test_the_text_of_one_option_stands_for_its_label(response, label):
    assert extract_choice(response, FOUR).label == label


def test_text_that_two_options_share_stands_for_none():
    assert extract_choice(r"\boxed{red}", ("red", "Red.", "blue")).label is None


def test_a_number_is_a_label_unless_the_options_are_numbers():
    assert extract_choice("Answer: 3", FOUR).label == "C"
    assert extract_choice(r"\boxed{2}", FOUR).label == "B"
    assert extract_choice(r"\boxed{12}", NUMBERS).label == "B"
    assert extract_choice(r"\boxed{2}", NUMBERS).label is None
    assert extract_choice("Answer: 9", FOUR).label is None


def test_a_box_without_a_label_is_a_choice_of_nothing():
    choice = extract_choice(r"\boxed{blue whales}", FOUR)
    assert (choice.label, choice.text, choice.method) == (None, "blue whales", ChoiceMethod.BOX)
    assert extract_choice(r"\boxed{A, C}", FOUR).label is None
    assert extract_choice(r"\boxed{A}, \boxed{C}", FOUR).label is None


def test_a_choice_inside_the_reasoning_block_does_not_count():
    assert extract_choice("<think>the answer is B").label is None
    assert extract_choice("<think>the answer is B</think>the answer is C").label == "C"


@pytest.mark.parametrize(
    ("gold", "choices", "label"),
    [
        ("B", FOUR, "B"),
        (" (b). ", FOUR, "B"),
        (r"\text{C}", None, "C"),
        ("E", FOUR, None),
        ("", FOUR, None),
        ("3", FOUR, "C"),
        ("5", FOUR, None),
        ("3", None, None),
        ("AB", None, None),
    ],
)
def test_a_gold_names_an_option_of_the_item_or_nothing(gold, choices, label):
    assert gold_label(gold, choices) == label


COLOURS = ("red", "green", "blue", "yellow")


@pytest.mark.parametrize("choices", [COLOURS, None], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "response",
    [
        *(r"\boxed{(A) or (B)}", r"\boxed{(A), (B)}", r"\boxed{(A)(B)}", r"\boxed{A.C}", r"\boxed{A:C}"),
        *(r"\boxed{A. red and C. blue}", r"\boxed{A. is not the answer, it is B}", r"\boxed{not A}"),
        *("Answer: A,C,D", "Answer: A/B", "Answer: A-C", "Answer: A to C", "Answer: 2, 3", "Answer: (B), (C), (D)"),
        *("The answer is A and B", "The answer is (A) or (B)", "The answer is B or C", "The answer is both A and C"),
        *("The correct answer is neither A nor B.", "None of A, B, or C is correct."),
        "The answer is (A) red and (B) green",
        "The answer is A, B, or C depending on x.",
        "Option A is correct. Option B is wrong. Option C is correct.",
        "The answer is A. On reflection, the answer is B or C.",
    ],
)
def test_several_options_are_no_choice(response, choices):
    assert extract_choice(response, choices).label is None


@pytest.mark.parametrize("choices", [COLOURS, None], ids=["known", "unknown"])
@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("It is false that the answer is A", None),
        ("I don't think the answer is A.", None),
        ("I'm not sure the answer is A.", None),
        ("Answer: A is incorrect", None),
        ("The answer is A?", None),
        ("The answer is B. But wait, the answer is not B.", None),
        ("I would not choose B.", None),
        ("The answer is A? No. It is B.", "B"),
        ("I doubt the answer is A; it's D.", "D"),
        ("The answer is not A, it is B", "B"),
        ("The answer isn't A but D.", "D"),
        ("I don't think the answer is A. I think the answer is B.", "B"),
        ("The answer is A not B", "A"),
        ("The answer is B; C and D are wrong", "B"),
        ("The answer is A because (B) is wrong and (C) is wrong", "A"),
    ],
)
def test_a_denial_takes_an_option_back_and_may_name_another(response, label, choices):
    assert extract_choice(response, choices).label == label


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("If the answer is B, then x=3, contradiction.", None),
        ("If the answer is B, then x=3, contradiction. Therefore C.", "C"),
        ("If B is correct, then x=1.", None),
        ("The answer is B. If the answer is A, we get a contradiction.", "B"),
    ],
)
def test_what_is_only_supposed_is_no_choice(response, label):
    assert extract_choice(response, COLOURS).label == label


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("**C.** blue", "C"),
        ("Thus, (B) is the answer.", "B"),
        ("Option B is correct", "B"),
        ("B is the correct answer", "B"),
        ("I choose B.", "B"),
        ("I'll go with option C.", "C"),
        ("So, it's C.", "C"),
        ("B\n\nExplanation: grass is of that colour.", "B"),
        ("The answer is \u201cC\u201d.", "C"),
        ("The answer is 'B'.", "B"),
        (r"\boxed{A - red}", "A"),
        (r"\boxed{A\text{ (red)}}", "A"),
        (r"\boxed{\text{(A) red}}", "A"),
        (r"\boxed{\text{A. }red}", "A"),
        (r"the final answer is: $\boxed{B", "B"),
        ("The answer is C, 12 meters", "C"),
        ("The answer is C, I believe.", "C"),
        ("Statement B is correct.\n\nThe answer is (D).", "D"),
        ("Answer: 3.", "C"),
    ],
)
def test_common_phrases_name_their_option(response, label):
    assert extract_choice(response, COLOURS).label == label


@pytest.mark.parametrize(
    "response",
    [
        *(
            "The answer is D-glucose",
            "The answer is A/2",
            "The answer is B = 5",
            "We choose B to be the midpoint of AC.",
        ),
        *(
            "Let's call it B. f(b) is correct.",
            "(apple) is correct",
            "Statement B is correct.",
            "therefore A large one",
        ),
    ],
)
def test_a_letter_of_a_formula_or_a_name_is_no_label(response):
    assert extract_choice(response, COLOURS).label is None


def test_what_follows_a_label_is_the_text_of_its_option():
    assert extract_choice(r"\boxed{A. green}", COLOURS).label is None
    assert extract_choice(r"\boxed{C: blue whale}", COLOURS).label is None
    assert extract_choice("The answer is A. blue", COLOURS).label is None
    assert extract_choice("The answer is C. blue", COLOURS).label == "C"
    assert extract_choice("The answer is D. (a) and (b)", ("a", "b", "c", "(a) and (b)")).label == "D"


@given(st.sampled_from("ABCD"), st.text(alphabet="aB. (I\n", max_size=30))
def test_what_stands_before_the_statement_does_not_matter(label, before):
    assert extract_choice(f"{before}\nThe answer is ({label}).", FOUR).label == label


@pytest.mark.parametrize(
    "piece", ["answer is ", "Answer: A x\n", "(A", "**", r"\boxed{", "A is ", "A, ", "so it is B ", "not "]
)
def test_a_megabyte_is_read_in_less_than_seconds(piece):
    started = time.process_time()
    extract_choice(piece * (1_000_000 // len(piece)), FOUR)
    assert time.process_time() - started < 5


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder at {DATA}; set VENUS_DATA")
@pytest.mark.parametrize("name", ["arc_challenge/test.jsonl", "mmlu_pro/test_sample_280.jsonl"])
def test_every_published_item_is_answered_by_its_label_and_by_its_text(name):
    text = (DATA / name).read_text(encoding="utf-8")
    items = [json.loads(line) for line in text.split("\n") if line]
    for item in items:
        choices = item["choices"]
        gold = gold_label(item["answer"], choices)  # 22 items of ARC have digits
        assert gold is not None, item["id"]
        assert extract_choice(f"I think so.\n\nANSWER: {gold}", choices).label == gold, item["id"]
        option = choices["ABCDEFGHIJ".index(gold)]
        if option not in "ABCDEFGHIJ":  # a letter is read as what the prompt asks for, a label
            stated = extract_choice(rf"\boxed{{{option}}}", choices).label
            assert stated in (gold, None), item["id"]  # None where two options are spelt alike
