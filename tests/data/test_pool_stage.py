"""The pool stage: generated, local and hub questions, and how they are divided."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import artifacts
from benchmark.data import pool
from benchmark.data.content import content_index
from benchmark.data.micro.paraphrase import paraphrase
from benchmark.data.micro.splits import training_pool
from benchmark.data.schema import read_rows
from benchmark.data.sources import Columns, PoolItem, collect, rows_of
from benchmark.errors import DataError, UnknownNameError
from benchmark.stage import StageJob, StageKind


def run(out, source="micro", pool_rows=36, panel=18, recipe=None):
    out.mkdir()
    params = {"source": source, "pool": pool_rows, "panel": panel, "recipe": recipe or {}}
    pool.run(StageJob(StageKind.POOL, "k", params, {}, out, out, 0, {}))
    return (
        read_rows(out / artifacts.POOL, artifacts.POOL_SCHEMA),
        read_rows(out / artifacts.PANEL, artifacts.POOL_SCHEMA),
        json.loads((out / artifacts.POOL_INFO).read_text()),
    )


def write_jsonl(path, rows):
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8")
    return {"path": str(path)}


def test_a_micro_pool_has_unique_positive_indices_derived_from_the_text(tmp_path):
    rows, panel, info = run(tmp_path / "out")
    indices = [row["index"] for row in rows + panel]
    assert len(set(indices)) == 54
    assert all(0 <= index < 2**63 for index in indices)
    assert [row["index"] for row in rows] == [content_index(row["question"]) for row in rows]
    assert (info["pool"], info["panel"]) == (36, 18)


def test_a_small_micro_pool_is_a_prefix_of_a_larger_one_with_the_same_panel(tmp_path):
    small, large = run(tmp_path / "small", pool_rows=20), run(tmp_path / "large", pool_rows=50)
    assert small[0] == large[0][:20]
    assert small[1] == large[1]


def test_every_micro_question_has_a_paraphrase_that_no_other_row_says(tmp_path):
    rows, panel, info = run(tmp_path / "out", pool_rows=600)
    paraphrases = [row["paraphrase"] for row in rows]
    assert all(paraphrases)
    assert len(set(paraphrases)) == info["paraphrases"] == 600
    assert not {content_index(text) for text in paraphrases} & {row["index"] for row in rows + panel}
    assert {row["paraphrase"] for row in panel} == {""}


def test_two_questions_that_paraphrase_into_each_other_take_other_forms(tmp_path):
    rows, _, _ = run(tmp_path / "out", pool_rows=1536)
    taken = {row["question"]: row["paraphrase"] for row in rows}
    preferred = {question.text: paraphrase(question) for question in training_pool(1536)}
    mutual = [text for text, other in preferred.items() if preferred.get(other) == text]
    assert mutual  # such as 14+35? and 35+14?
    assert all(taken[text] not in (preferred[text], text) for text in mutual)


def test_paraphrases_do_not_depend_on_the_size_of_the_pool(tmp_path):
    small, large = (run(tmp_path / str(size), pool_rows=size)[0] for size in (100, 1000))
    assert small == large[:100]


PARAPHRASED = [
    {"question": "What is 1+1?", "answer": 2, "other": "Add 1 and 1."},
    {"question": "What is 1+2?", "answer": 3, "other": ""},
    {"question": "What is 2+2?", "answer": 4, "other": None},
    {"question": "What is 3+2?", "answer": 5, "other": "What is  1+2?"},
    {"question": "What is 3+3?", "answer": 6, "other": "Double 3."},
    {"question": "What is 2*3?", "answer": 6, "other": "Double 3."},
]


def test_paraphrases_of_a_file_are_read_with_the_suffix_and_must_be_distinct(tmp_path):
    recipe = write_jsonl(tmp_path / "data.jsonl", PARAPHRASED) | {"paraphrase": "other", "suffix": " Box it."}
    rows, panel, info = run(tmp_path / "out", "local", 6, 0, recipe)
    assert not panel
    found = {row["question"].removesuffix(" Box it."): row["paraphrase"] for row in rows}
    assert found["What is 1+1?"] == "Add 1 and 1. Box it."
    assert found["What is 1+2?"] == found["What is 2+2?"] == ""
    assert found["What is 3+2?"] == ""  # the text of another question
    assert sorted([found["What is 3+3?"], found["What is 2*3?"]]) == ["", "Double 3. Box it."]
    assert (info["paraphrases"], info["repeated_paraphrases"]) == (2, 2)


def test_paraphrases_do_not_depend_on_the_order_of_the_source(tmp_path):
    names = {"paraphrase": "other"}
    one = run(tmp_path / "a", "local", 4, 1, write_jsonl(tmp_path / "1.jsonl", PARAPHRASED) | names)
    two = run(tmp_path / "b", "local", 4, 1, write_jsonl(tmp_path / "2.jsonl", PARAPHRASED[::-1]) | names)
    assert one == two


def test_a_missing_paraphrase_column_is_refused(tmp_path):
    recipe = write_jsonl(tmp_path / "data.jsonl", PARAPHRASED) | {"paraphrase": "rewritten"}
    with pytest.raises(DataError, match="row 0 has no column 'rewritten'"):
        run(tmp_path / "out", "local", 4, 1, recipe)


def test_the_content_index_is_the_top_63_bits_of_the_sha256():
    # printf '1+1?' | sha256sum -> cfe29f43bcc21dd4...; shifted right by one
    assert content_index("1+1?") == 0xCFE29F43BCC21DD4 >> 1
    assert content_index(" 1+1? \n") == content_index("1+1?")


def test_local_rows_are_filtered_deduplicated_and_suffixed(tmp_path):
    rows = [
        {"problem": "What is 1+1?", "final_answer": 2, "difficulty": 6.5, "topic": "sums"},
        {"problem": "What  is 1+1?", "final_answer": "2", "difficulty": 7, "topic": "sums"},
        {"problem": "What is 1+1? ", "final_answer": "3", "difficulty": 7, "topic": "sums"},
        {"problem": "Too easy", "final_answer": "1", "difficulty": 5.9, "topic": "x"},
        {"problem": "Line\u2028separator", "final_answer": "4", "difficulty": 6, "topic": "y"},
        {"problem": "Third", "final_answer": "5", "difficulty": 9, "topic": "z"},
    ]
    recipe = write_jsonl(tmp_path / "data.jsonl", rows) | {
        "question": "problem",
        "answer": "final_answer",
        "level": "difficulty",
        "family": "topic",
        "min_level": 6,
        "suffix": " Box it.",
    }
    found, panel, info = run(tmp_path / "out", "local", 0, 1, recipe)
    assert sorted(row["question"] for row in found + panel) == [
        "Line\u2028separator Box it.",
        "Third Box it.",
        "What is 1+1? Box it.",
    ]
    assert {(row["answer"], row["family"], row["level"]) for row in found + panel} == {
        ("2", "sums", 6),
        ("4", "y", 6),
        ("5", "z", 9),
    }
    assert info | {"source": "local"} == {
        "source": "local",
        "pool": 2,
        "panel": 1,
        "rows_read": 6,
        "below_min_level": 1,
        "empty_answers": 0,
        "duplicates": 2,
        "conflicting_duplicates": 1,
        "repeated_paraphrases": 0,
        "paraphrases": 0,
    }


def test_parquet_files_are_read_too(tmp_path):
    pq.write_table(pa.table({"question": ["a?", "b?", "c?"], "answer": ["1", "2", "3"]}), tmp_path / "d.parquet")
    found, panel, _ = run(tmp_path / "out", "local", 2, 1, {"path": str(tmp_path / "d.parquet")})
    assert {(row["question"], row["answer"]) for row in found + panel} == {("a?", "1"), ("b?", "2"), ("c?", "3")}
    assert all(row["level"] == -1 for row in found)


ITEMS = [PoolItem(content_index(f"q{i}"), f"q{i}", str(i), "", -1) for i in range(60)]


@given(st.permutations(ITEMS), st.integers(1, 50))
def test_dividing_ignores_the_order_of_the_source_and_nests_pools(items, size):
    whole, panel = pool.divide(ITEMS, 0, 10)
    part, same_panel = pool.divide(items, size, 10)
    assert part == whole[:size]
    assert same_panel == panel
    assert not {item.index for item in whole} & {item.index for item in panel}
    assert len(whole) == 50


@pytest.mark.parametrize("sizes", [(51, 10), (0, 60), (-1, 10), (10, -1)])
def test_too_few_questions_are_refused(sizes):
    with pytest.raises(DataError, match="found 60, wanted"):
        pool.divide(ITEMS, *sizes)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "q", "answer": " "}, "row 1 has no answer"),
        ({"question": "q", "answer": None}, "row 1 has no answer"),
        ({"question": "", "answer": "1"}, "row 1 has an empty question"),
        ({"question": "q"}, "row 1 has no column 'answer'"),
    ],
)
def test_a_defective_row_is_refused_by_its_number(row, message):
    with pytest.raises(DataError, match=message):
        collect([{"question": "fine", "answer": "1"}, row], Columns())


def test_rows_without_an_answer_can_be_left_out_and_are_counted():
    report = collect([{"question": "q", "answer": ""}, {"question": "r", "answer": "1"}], Columns(drop_empty=True))
    assert [item.question for item in report.items] == ["r"]
    assert report.empty_answers == 1


def test_a_level_is_read_as_math_writes_it_and_an_unknown_one_is_counted():
    rows = [{"question": "q", "answer": "1", "level": "Level 5"}, {"question": "r", "answer": "1", "level": "Level ?"}]
    report = collect(rows, Columns(level="level"))
    assert [item.level for item in report.items] == [5, -1]
    assert report.unknown_levels == 1


def test_a_level_that_is_no_number_is_refused():
    with pytest.raises(DataError, match="row 0: found level='hard', allowed a number"):
        collect([{"question": "q", "answer": "1", "level": "hard"}], Columns(level="level"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.jsonl", '{"question": 1}\nnot json\n', "d.jsonl line 2 is not JSON"),
        ("d.jsonl", "[1]\n", "d.jsonl line 1: found list"),
        ("d.csv", "question,answer\n", "unknown kind of data file"),
        ("d.parquet", "not parquet", "not a parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        rows_of("local", {"path": str(tmp_path / name)})


def test_an_unreachable_hub_is_one_line(tmp_path, monkeypatch):
    import datasets.config
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    with pytest.raises(DataError, match="dataset 'venus-bench/none' at revision 'main' could not be fetched") as caught:
        run(tmp_path / "out", "hub", 10, 5, {"id": "venus-bench/none", "revision": "main"})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "recipe", "error"),
    [
        ("micros", {}, UnknownNameError),
        ("micro", {"path": "x"}, UnknownNameError),
        ("local", {"pth": "x"}, UnknownNameError),
        ("local", {}, DataError),
        ("hub", {}, DataError),
    ],
)
def test_a_wrong_source_or_recipe_is_refused(tmp_path, source, recipe, error):
    with pytest.raises(error):
        run(tmp_path / "out", source, recipe=recipe)
