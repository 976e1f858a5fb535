"""Overlap of training sets with benchmarks: what counts as the same question, and the measured table."""

import pytest
from benchmark_files import real_file
from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.data_files import read_data_rows
from benchmark.data.micro.splits import training_pool
from benchmark.data.overlap import overlap_report, question_fingerprint, repeated_questions
from benchmark.evaluation.benchmarks import MICRO_BENCHMARKS, benchmark_named, benchmark_rows

FOURTEEN = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def item(question, name="b", item_id="i"):
    return {"benchmark": name, "item_id": item_id, "question": question}


def counts(pool, question):
    own = overlap_report(pool, [item(question)])["benchmarks"]["b"]
    return own["exact"], own["grams"]


@pytest.mark.parametrize(
    "other",
    [
        r"Compute $\sin 60^\circ$.",
        r"  compute \( \sin{60}^{\circ} \)",
        r"COMPUTE $\sin60^\circ$!",
    ],
)
def test_spelling_of_latex_blanks_and_case_do_not_hide_a_leak(other):
    assert counts(["Find the sum of it all.", other], r"Compute $\sin 60^\circ$.") == (1, 0)


def test_where_symbols_carry_the_meaning_questions_are_compared_as_written():
    assert counts(["6*4?"], "6+4?") == (0, 0)
    assert counts(["6+4? "], "6+4?") == (1, 0)
    assert question_fingerprint("(6*4)%8?") != question_fingerprint("6*4%8?")


def test_questions_in_other_scripts_are_not_empty():
    assert counts(["Найдите сумму корней уравнения"], "Найдите произведение корней уравнения") == (0, 0)


def test_thirteen_words_in_a_row_are_an_overlap_and_twelve_are_none():
    words = FOURTEEN.split()
    thirteen = " ".join(words[:13])
    assert counts([f"Before {thirteen} after"], f"Else {thirteen} other") == (0, 1)
    assert counts([f"Before {' '.join(words[:12])} after"], f"Else {thirteen} other") == (0, 0)


def test_an_instruction_that_ends_every_question_of_the_pool_is_no_overlap():
    suffix = " Let's think step by step and output the final answer within \\boxed{}."
    pool = [question + suffix for question in ("How many cats are there?", "How many dogs are here now?")]
    assert counts(pool, "How many cats are there?") == (1, 0)
    assert counts(pool, "How many birds are there?" + suffix) == (0, 0)


def test_the_report_names_items_by_id_and_quotes_nothing():
    report = overlap_report([FOURTEEN], [item(FOURTEEN, "x", "1"), item("Something else", "x", "2"), item("?", "y")])
    assert report == {
        "pool": 1,
        "gram": 13,
        "benchmarks": {
            "x": {"items": 2, "exact": 1, "grams": 1, "exact_items": ["1"], "gram_items": ["1"]},
            "y": {"items": 1, "exact": 0, "grams": 0, "exact_items": [], "gram_items": []},
        },
    }


@given(st.lists(st.text(min_size=1)), st.text(min_size=1))
def test_a_question_of_the_pool_is_always_found(pool, question):
    assert counts([*pool, question], question)[0] == 1


def test_the_micro_pool_and_the_micro_benchmarks_are_disjoint():
    items = benchmark_rows("micro", [benchmark.name for benchmark in MICRO_BENCHMARKS], 100)
    report = overlap_report([question.text for question in training_pool(1536)], items)
    assert {name: own["exact"] for name, own in report["benchmarks"].items()} == dict.fromkeys(report["benchmarks"], 0)


# evaluation.md, section A: equal questions / items that share a 13-gram; what is not named there is 0 or boilerplate.
LEAKAGE = {
    "dapo14k/train_14116.parquet": {"amc": (14, 57), "math500": (7, 45), "olympiad": (10, 90), "minerva": (0, 0)},
    "olr_noise/questions_800.parquet": {"amc": (1, 3), "math500": (1, 4), "olympiad": (1, 2)},
    "math_train/train_7500.parquet": {"math500": (1, 58), "olympiad": (2, 9)},
    "gsm8k/train.parquet": {"gsm8k": (0, 3), "math500": (0, 0)},
}


@pytest.mark.parametrize("file", LEAKAGE)
def test_the_measured_leakage_table_is_reproduced(file):
    pool = [row["question"] for row in read_data_rows(real_file(file))]
    for name in LEAKAGE[file]:
        real_file(benchmark_named(name).file)
    report = overlap_report(pool, benchmark_rows("local", list(LEAKAGE[file]), 0))["benchmarks"]
    assert {name: (own["exact"], own["grams"]) for name, own in report.items()} == LEAKAGE[file]


@pytest.mark.parametrize(
    ("file", "repeated"), [("dapo14k/train_14116.parquet", 730), ("math_train/train_7500.parquet", 9)]
)
def test_repeated_questions_of_the_training_sets_are_counted(file, repeated):
    assert repeated_questions(row["question"] for row in read_data_rows(real_file(file))) == repeated
