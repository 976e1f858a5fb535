"""Paraphrases in the micro world: the same answer, another text, and nothing that is tested."""

import random
import re
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.micro import splits, tokenizer
from benchmark.data.micro.paraphrase import candidates, paraphrase
from benchmark.data.micro.questions import FAMILIES, ID_FAMILIES, LEVELS, Question, draw
from benchmark.data.micro.splits import Part, part

QUESTIONS = st.builds(
    lambda family, level, seed: draw(family, level, random.Random(seed)),
    st.sampled_from(ID_FAMILIES),
    st.sampled_from(LEVELS),
    st.integers(0, 2**32),
)


def read_aloud(text):
    """Evaluate a text with Python's own arithmetic; the marks of the spare forms say nothing."""
    plain = re.sub(r"\b0+(?=\d)", "", text.strip("?:."))
    listed = re.fullmatch(r"(max|mid)\((.*)\)", plain)
    if listed:
        numbers = sorted(map(int, listed[2].split(",")))
        return numbers[-1] if listed[1] == "max" else numbers[1]
    assert re.fullmatch(r"[\d+*%-]+", plain)
    return eval(plain)


@given(QUESTIONS)
def test_every_candidate_is_another_text_with_the_same_answer(question):
    texts = list(candidates(question))
    assert texts
    assert question.text not in texts
    assert {str(read_aloud(text)) for text in texts} == {question.answer}


@given(QUESTIONS)
def test_candidates_are_short_and_inside_the_vocabulary(question):
    for text in candidates(question):
        assert tokenizer.UNKNOWN_ID not in tokenizer.encode(text)
        assert len(tokenizer.prompt_ids(text)) <= 15  # the longest question has 14: max of three numbers


def test_whatever_a_family_can_draw_is_a_paraphrase_only_in_the_training_part():
    rng = random.Random(0)
    drawn = {draw(family, level, rng).text for family in FAMILIES for level in LEVELS for _ in range(4000)}
    texts = [text for question in splits.training_pool(1536) for text in candidates(question)]
    elsewhere = [text for text in texts if part(text) is not Part.TRAIN]
    assert elsewhere  # spare forms fall into any part
    assert not drawn & set(elsewhere)
    assert len(drawn & set(texts)) > 1000  # so the comparison is not empty


def test_no_panel_or_benchmark_question_is_a_paraphrase():
    tested = {question.text for question in splits.validation_panel(198)}
    tested |= {question.text for family in FAMILIES for question in splits.benchmark_items(family, 100)}
    paraphrased = {text for question in splits.training_pool(1536) for text in candidates(question)}
    assert not tested & paraphrased


def test_a_question_prefers_a_rewriting_within_its_own_family():
    def question(family, level, operands, text, operators=""):
        return Question(family, level, family, operands, text, operators)

    assert set(candidates(question("cmp", 0, (46, 12), "max(46,12)?"))) <= {"max(12,46)?", ":max(46,12)?"}
    mod = set(islice(candidates(question("mod", 0, (16, 5), "16%5?")), 1))
    assert mod <= {"11%5?", "21%5?"}  # quotients 2 to 5: 10 to 25 with rest 1
    chain = set(islice(candidates(question("chain", 2, (3, 4, 6), "3+4*6?", "+*")), 1))
    assert chain <= {"3+6*4?", "3+3*8?", "3+8*3?"}  # the products 24 of factors 2 to 9


def test_the_last_candidate_is_unique_to_the_question():
    last = [list(candidates(question))[-1] for question in splits.training_pool(1536)]
    assert len(set(last)) == 1536


@given(QUESTIONS)
def test_a_paraphrase_is_the_first_candidate_each_time(question):
    assert paraphrase(question) == next(candidates(question)) == paraphrase(question)
