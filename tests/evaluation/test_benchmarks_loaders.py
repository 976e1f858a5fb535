"""The loader lint: every defect of the public files as a hand-written fixture, and what the loader does about it."""

import json
from dataclasses import replace

import pytest
from benchmark_files import CHOICE, CHOICE_ROWS, MATH, MATH_ROWS, changed, pinned

from benchmark.data.schema import write_rows
from benchmark.errors import DataError
from benchmark.evaluation.benchmarks.defects import Defect, Known
from benchmark.evaluation.benchmarks.loaders import examine, load


def findings(benchmark, rows):
    return {(found.defect, found.item, found.detail) for found in examine(benchmark, rows).findings}


def write(folder, benchmark, rows):
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / benchmark.file).write_text(text + "\n", encoding="utf-8")
    return folder


def test_a_clean_file_loads_in_its_order(tmp_path):
    items = load(pinned(MATH, MATH_ROWS), "local", write(tmp_path, MATH, MATH_ROWS))
    assert [(item.source_id, item.gold) for item in items] == [("i-0", "2"), ("i-1", "4"), ("i-2", "6")]


@pytest.mark.parametrize(
    ("raw", "gold", "defect"),
    [
        ("142.0", "142", Defect.FLOAT_GOLD),
        ("-3.00", "-3", Defect.FLOAT_GOLD),
        (r"336^\circ", "336", Defect.DEGREE_GOLD),
        (r"336^{\circ}", "336", Defect.DEGREE_GOLD),
        ("336°", "336", Defect.DEGREE_GOLD),
        (" 7\n", "7", Defect.GOLD_BLANKS),
    ],
)
def test_a_whole_number_that_is_written_oddly_is_repaired(raw, gold, defect):
    rows = changed(MATH_ROWS, answer=raw)
    assert examine(MATH, rows).items[0].gold == gold
    assert findings(MATH, rows) == {(defect, "i-0", "")}


def test_the_raw_gold_is_read_where_a_file_keeps_it():
    rows = changed(MATH_ROWS, answer="142", raw_answer="142.0")
    assert findings(MATH, rows) == {(Defect.FLOAT_GOLD, "i-0", "")}


@pytest.mark.parametrize("gold", ["2.0", r"90^\circ"])
def test_elsewhere_a_decimal_or_a_degree_sign_is_meant(gold):
    benchmark = replace(MATH, integers=False)
    assert examine(benchmark, changed(MATH_ROWS, answer=gold)).items[0].gold == gold
    assert not findings(benchmark, changed(MATH_ROWS, answer=gold))


@pytest.mark.parametrize(
    ("changes", "defect", "detail"),
    [
        ({"question": "Let $x=\x0crac12$."}, Defect.CONTROL_CHARACTER, "U+000C"),
        ({"question": "Let $\x07lpha=\x08eta$."}, Defect.CONTROL_CHARACTER, "U+0007 U+0008"),
        ({"question": " \n"}, Defect.EMPTY_QUESTION, ""),
        ({"answer": ""}, Defect.EMPTY_GOLD, ""),
        ({"answer": None}, Defect.EMPTY_GOLD, ""),
        ({"answer": "__NoCorrectAnswer__"}, Defect.PLACEHOLDER_GOLD, ""),
        ({"answer": "two"}, Defect.GOLD_NOT_AN_INTEGER, ""),
        ({"id": "i-2"}, Defect.DUPLICATE_INDEX, "2 items"),
    ],
)
def test_a_defect_without_a_right_reading_refuses_the_file(tmp_path, changes, defect, detail):
    rows = changed(MATH_ROWS, **changes)
    named = changes.get("id", "i-0")
    assert (defect, named, detail) in findings(MATH, rows)
    benchmark = pinned(MATH, rows)  # even where somebody pins the hash of the bad file
    with pytest.raises(DataError, match=rf"benchmark integers: {defect.value}: found 1 items \({named}"):
        load(benchmark, "local", write(tmp_path, MATH, rows))


@pytest.mark.parametrize(
    ("changes", "defect", "detail"),
    [
        ({"answer": "$221,$8$"}, Defect.STRAY_DOLLAR, ""),
        ({"answer": r"x+$ $\dot{x}"}, Defect.STRAY_DOLLAR, ""),
        ({"answer": r"$(-\infty, 0) \cup\{1\}$."}, Defect.GOLD_FULL_STOP, ""),
        ({"question": "What is\u2028this?"}, Defect.LINE_SEPARATOR, "U+2028"),
        ({"question": "It\x80\x99s what?"}, Defect.ENCODING_RESIDUE, "U+0080 U+0099"),
    ],
)
def test_what_was_published_so_is_noted_and_kept(tmp_path, changes, defect, detail):
    benchmark = replace(MATH, integers=False)
    rows = changed(MATH_ROWS, **changes)
    assert findings(benchmark, rows) == {(defect, "i-0", detail)}
    item = load(pinned(benchmark, rows), "local", write(tmp_path, MATH, rows))[0]
    assert item.question == changes.get("question", item.question)
    assert item.gold == changes.get("answer", item.gold)


def test_dollars_that_enclose_or_mean_money_are_not_stray():
    for gold in (r"\$18.90", "$1$, $2$", r"$\frac12$"):
        assert not findings(replace(MATH, integers=False), changed(MATH_ROWS, answer=gold))


def test_a_line_separator_does_not_cut_an_item_in_two(tmp_path):
    rows = changed(MATH_ROWS, question="one\u2028two\u2029three\x85four")
    items = load(pinned(MATH, rows), "local", write(tmp_path, MATH, rows))
    assert len(items) == 3
    assert items[0].question == "one\u2028two\u2029three\x85four"


def test_rows_that_all_repeat_to_express_avg_at_32_become_one(tmp_path):
    benchmark = pinned(MATH, MATH_ROWS)
    rows = list(MATH_ROWS) * 32
    assert findings(benchmark, rows) == {(Defect.ROWS_REPEATED, "*", "each 32 times")}
    assert load(benchmark, "local", write(tmp_path, MATH, rows)) == examine(benchmark, MATH_ROWS).items


def test_an_index_that_restarts_over_repeated_rows_is_refused():
    """LUFFY's validation file: 6,023 rows, 675 indices."""
    rows = [row | {"id": str(number % 2)} for number, row in enumerate(MATH_ROWS)] * 32
    problems = examine(pinned(MATH, MATH_ROWS), rows).problems
    assert [problem.partition(":")[0] for problem in problems] == ["duplicate_index"]


def test_uneven_repeats_are_refused_unless_the_benchmark_lists_them(tmp_path):
    rows = [*MATH_ROWS, MATH_ROWS[1] | {"id": "i-3"}]
    four = replace(MATH, items=4)
    with pytest.raises(DataError, match=r"repeated_item: found 1 items \(i-3\)"):
        load(pinned(four, rows), "local", write(tmp_path, MATH, rows))
    listed = replace(four, known=(Known(Defect.REPEATED_ITEM, "published twice", count=1),))
    items = load(pinned(listed, rows), "local", tmp_path)
    assert [item.occurrence for item in items] == [1, 1, 2, 1]


def test_one_question_with_two_answers_is_refused():
    rows = [*MATH_ROWS, MATH_ROWS[1] | {"id": "i-3", "answer": "5"}]
    assert any(problem.startswith("conflicting_item") for problem in examine(MATH, rows).problems)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (MATH_ROWS[:2], "missing or extra items: found 2, allowed 3"),
        ([*MATH_ROWS, {"id": "i-3", "question": "What is $4+4$?", "answer": "8"}], "found 4, allowed 3"),
        (changed(MATH_ROWS, answer="3"), "changed items: found content hash [0-9a-f]{64}, allowed [0-9a-f]{64}"),
        (changed(MATH_ROWS, question="What is $1+2$?"), "changed items: found content hash"),
    ],
)
def test_missing_extra_or_changed_items_are_refused_with_both_figures(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        load(pinned(MATH, MATH_ROWS), "local", write(tmp_path, MATH, rows))


def test_the_order_of_rows_is_no_change_and_the_spacing_of_a_prompt_is_one(tmp_path):
    benchmark = pinned(MATH, MATH_ROWS)
    assert len(load(benchmark, "local", write(tmp_path, MATH, MATH_ROWS[::-1]))) == 3
    spaced = changed(MATH_ROWS, question="What  is $1+1$?")
    with pytest.raises(DataError, match="changed items: found content hash"):
        load(benchmark, "local", write(tmp_path, MATH, spaced))


def test_digit_labels_become_letters():
    rows = changed(CHOICE_ROWS, 1, choice_labels=["1", "2", "3", "4"], answer="2")
    assert examine(CHOICE, rows).items[1].gold == "B"
    assert findings(CHOICE, rows) == {(Defect.DIGIT_LABELS, "q-1", "4 options")}


@pytest.mark.parametrize("options", [["red", "two", "left"], ["red", "two", "left", "up", "down"]])
def test_an_unusual_number_of_options_is_noted(options):
    rows = changed(CHOICE_ROWS, choices=options)
    assert findings(CHOICE, rows) == {(Defect.OPTION_COUNT, "q-0", str(len(options)))}


@pytest.mark.parametrize(
    ("changes", "defect"),
    [
        ({"choices": ["red", "", "bread", "left"]}, Defect.EMPTY_OPTION),
        ({"choices": ["red", None, "bread", "left"]}, Defect.EMPTY_OPTION),
        ({"choices": ["red", "two", "two ", "left"]}, Defect.REPEATED_OPTION),
        ({"answer": "E"}, Defect.GOLD_NOT_AN_OPTION),
        ({"answer": "red"}, Defect.GOLD_NOT_AN_OPTION),
        ({"choices": ["red"]}, Defect.GOLD_NOT_AN_OPTION),
        ({"choice_labels": ["1", "2", "3", "4"], "answer": "5"}, Defect.GOLD_NOT_AN_OPTION),
        ({"answer_index": 1}, Defect.LETTER_INDEX_DISAGREE),
    ],
)
def test_options_that_cannot_be_right_refuse_the_file(changes, defect):
    problems = examine(CHOICE, changed(CHOICE_ROWS, **changes)).problems
    assert any(problem.startswith(f"{defect.value}: found 1 items (q-0") for problem in problems)


def test_a_listed_defect_passes_only_for_the_listed_item():
    listed = replace(CHOICE, known=(Known(Defect.LETTER_INDEX_DISAGREE, "the letter is right", ("q-0",)),))
    rows = changed(CHOICE_ROWS, answer_index=1)
    assert not examine(pinned(listed, rows), rows).problems
    worse = [row | {"answer_index": 3} for row in CHOICE_ROWS]
    problem = examine(pinned(listed, worse), worse).problems
    assert [line.partition(",")[0] for line in problem] == ["letter_index_disagree: found 1 items (q-1 (B and 3))"]


def test_a_row_without_a_column_names_the_item():
    with pytest.raises(DataError, match="item i-0 has no column 'answer'; allowed id, question"):
        examine(MATH, [{"id": "i-0", "question": "What is $1+1$?"}])


def test_a_hub_dataset_is_read_into_the_same_items(tmp_path, monkeypatch):
    """`datasets` reads a local folder as it reads the hub: names of columns differ, content does not."""
    import datasets.config
    import pyarrow as pa

    from benchmark.evaluation.benchmarks.hub import HubSource

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "quiz"
    folder.mkdir()
    option = pa.struct([("text", pa.list_(pa.string())), ("label", pa.list_(pa.string()))])
    schema = pa.schema([("question", pa.string()), ("choices", option), ("answerKey", pa.string())])
    rows = [
        {
            "question": row["question"],
            "choices": {"text": row["choices"], "label": list("1234")},
            "answerKey": str("ABCD".index(row["answer"]) + 1),
        }
        for row in CHOICE_ROWS
    ]
    write_rows(folder / "test.parquet", rows, schema)
    benchmark = replace(pinned(CHOICE, CHOICE_ROWS), hub=HubSource(str(folder), gold="answerKey"))
    items = load(benchmark, "hub")
    assert [(item.question, item.choices, item.gold) for item in items] == [
        (row["question"], tuple(row["choices"]), row["answer"]) for row in CHOICE_ROWS
    ]
