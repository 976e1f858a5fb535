"""Random questions: truth by independent arithmetic, demonstrations, tokens and lengths."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.micro import tokenizer
from benchmark.data.micro.demonstrations import (
    Corruption,
    Habits,
    correct_demonstration,
    demonstration,
    draw_demonstrations,
)
from benchmark.data.micro.questions import FAMILIES, ID_FAMILIES, LEVELS, NUMBER_WORDS, OPERATOR_WORDS, draw
from benchmark.data.micro.splits import Part, part

QUESTIONS = st.builds(
    lambda family, level, seed: draw(family, level, random.Random(seed)),
    st.sampled_from(FAMILIES),
    st.sampled_from(LEVELS),
    st.integers(0, 2**32),
)
HABITS = Habits()


def read_aloud(text):
    """Evaluate the text of a question with Python's own arithmetic."""
    for i in reversed(range(len(NUMBER_WORDS))):
        text = text.replace(NUMBER_WORDS[i], str(i))
    for sign, word in OPERATOR_WORDS.items():
        text = text.replace(word, sign)
    match = re.fullmatch(r"(max|mid)\((.*)\)\?", text)
    if match:
        numbers = sorted(map(int, match[2].split(",")))
        return numbers[-1] if match[1] == "max" else numbers[1]
    assert re.fullmatch(r"[\d+*%() -]+\?", text)
    return eval(text[:-1])


@given(QUESTIONS)
def test_the_truth_is_what_the_text_asks_for(question):
    assert question.answer == str(read_aloud(question.text))


@given(QUESTIONS)
def test_a_correct_demonstration_boxes_the_truth(question):
    assert correct_demonstration(question).endswith(f";\\boxed{{{question.answer}}}")


@given(QUESTIONS, st.integers(0, 2**32))
def test_questions_and_demonstrations_are_short_and_inside_the_vocabulary(question, seed):
    prompt = tokenizer.prompt_ids(question.text)
    response = [*tokenizer.encode(demonstration(question, HABITS, random.Random(seed))), tokenizer.EOS_ID]
    assert tokenizer.UNKNOWN_ID not in prompt + response
    assert len(prompt) <= 14
    assert len(response) <= 40


@given(QUESTIONS, st.integers(0, 2**32))
def test_without_corruption_every_demonstration_is_correct(question, seed):
    never = Corruption(misconception_logit=(-99, -99, -99), slip=(0, 0, 0), careless=0)
    assert demonstration(question, Habits(never), random.Random(seed)) == correct_demonstration(question)


@given(QUESTIONS, st.integers(0, 2**32))
def test_a_careless_answer_is_wrong_after_correct_steps(question, seed):
    careless = Corruption(misconception_logit=(-99, -99, -99), slip=(0, 0, 0), careless=1)
    steps, _, answer = demonstration(question, Habits(careless), random.Random(seed)).rpartition(";")
    assert steps == correct_demonstration(question).rpartition(";")[0]
    assert answer != f"\\boxed{{{question.answer}}}"


def test_the_misconception_rate_follows_the_logit_of_the_recipe():
    flat = Habits(Corruption(habit_weight=0))
    add = draw("add", 2, random.Random(0))
    words = next(q for q in (draw("words", 2, random.Random(i)) for i in range(99)) if q.skill == "add")
    assert flat.misconception_rate(add) == pytest.approx(0.401312)  # 1 / (1 + e^0.4)
    assert flat.misconception_rate(words) == pytest.approx(0.622459)  # 1 / (1 + e^-(-0.4 + 0.9))
    assert HABITS.misconception_rate(add) != flat.misconception_rate(add)


def test_an_ood_answer_first_writes_down_what_it_has_read():
    words = next(q for q in (draw("words", 0, random.Random(i)) for i in range(99)) if q.skill == "add")
    a, b = words.operands
    assert correct_demonstration(words).startswith(f"{a}+{b};{a % 10}+{b % 10}=")
    compose = draw("compose", 1, random.Random(0))
    assert correct_demonstration(compose).startswith(f"{compose.text[1:4]}={compose.operands[0]};")


def test_demonstrations_are_reproducible_and_never_touch_panel_or_benchmarks():
    pairs = draw_demonstrations(3000, seed=1)
    assert pairs == draw_demonstrations(3000, seed=1)
    assert {part(text) for text, _ in pairs} == {Part.TRAIN}


def test_harder_levels_are_demonstrated_worse():
    rng = random.Random(0)

    def accuracy(level):
        questions = [draw(rng.choice(ID_FAMILIES), level, rng) for _ in range(2000)]
        return sum(demonstration(q, HABITS, rng).endswith(f"{{{q.answer}}}") for q in questions) / len(questions)

    easy, middle, hard = map(accuracy, LEVELS)
    assert easy > middle + 0.1 > hard + 0.2


def test_the_tokenizer_agrees_with_the_fast_encoder_and_the_template_with_the_prompt():
    fast = tokenizer.build_tokenizer()
    assert len(fast) == len(tokenizer.VOCABULARY) == 65
    for text, answer in draw_demonstrations(300, seed=2):
        rendered = fast.apply_chat_template(
            [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
        )
        assert fast(rendered, add_special_tokens=False)["input_ids"] == tokenizer.prompt_ids(text)
        assert fast(answer, add_special_tokens=False)["input_ids"] == tokenizer.encode(answer)
        assert fast.decode([*tokenizer.encode(answer), tokenizer.EOS_ID], skip_special_tokens=True) == answer
