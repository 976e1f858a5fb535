"""The public training sets: recipes in configs/data, counts, and files that say something else."""

import json

import pytest
from benchmark_files import real_file

from benchmark.data.data_files import data_directory, locate
from benchmark.data.sources import Columns, collect, rows_of, training_content_hash
from benchmark.data.training_sets import TRAINING_SETS, read_recipe
from benchmark.errors import DataError, UnknownNameError
from benchmark.suite.compose import CONFIGS, compose_profile

ROWS = [{"question": "What is 1+1?", "answer": "2"}, {"question": "What is 2+2?", "answer": "4"}]


def write(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return {"path": str(path), "rows": 2, "content_hash": training_content_hash(ROWS, Columns())}


# evaluation.md, section A: rows, without an answer, of unknown level.
@pytest.mark.parametrize(
    ("name", "rows", "empty", "unknown"),
    [("math_train", 7500, 2, 2), ("dapo14k", 14116, 0, 0), ("olr800", 800, 0, 0), ("gsm8k_train", 7473, 0, 0)],
)
def test_a_real_training_set_is_read_by_its_recipe(name, rows, empty, unknown):
    source, recipe = read_recipe(name, CONFIGS)
    real_file(recipe["path"])
    columns, opened = rows_of(source, recipe)
    report = collect(opened, columns)
    assert (report.rows, report.empty_answers, report.unknown_levels) == (rows, empty, unknown)
    assert len(report.items) == rows - empty - report.duplicates
    assert all(item.question.endswith(recipe["suffix"]) for item in report.items)


@pytest.mark.parametrize("training", TRAINING_SETS, ids=lambda each: each.name)
def test_every_training_set_has_a_licence_and_composes_into_a_profile(training):
    profile = compose_profile("paper", [f"data={training.name}"])
    assert training.licence
    assert profile.data.source in ("local", "hub")
    assert json.loads(profile.data.recipe) == read_recipe(training.name, CONFIGS)[1]


def test_no_recipe_knows_a_path_of_the_machine():
    for training in TRAINING_SETS:
        assert not read_recipe(training.name, CONFIGS)[1].get("path", "").startswith(("/", "~", "."))


def test_the_hash_of_a_training_set_ignores_the_order_of_rows_and_blanks():
    other = [{"question": "What  is 2+2? ", "answer": "4"}, ROWS[0]]
    assert training_content_hash(other, Columns()) == training_content_hash(ROWS, Columns())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:1], r"pool\.jsonl has missing or extra rows: found 1, allowed 2"),
        ([*ROWS, ROWS[0]], r"pool\.jsonl has missing or extra rows: found 3, allowed 2"),
        (
            [ROWS[0], {"question": "What is 2+2?", "answer": "5"}],
            r"changed rows: found content hash [0-9a-f]{64}, allowed",
        ),
    ],
)
def test_a_training_file_that_says_something_else_is_refused(tmp_path, rows, message):
    recipe = write(tmp_path / "pool.jsonl", ROWS)
    assert len(list(rows_of("local", recipe)[1])) == 2
    write(tmp_path / "pool.jsonl", rows)
    with pytest.raises(DataError, match=message):
        rows_of("local", recipe)


def test_a_relative_path_is_looked_for_here_and_below_the_data_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("VENUS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert data_directory() == tmp_path / "data"
    (tmp_path / "data" / "pool.jsonl").write_text("{}")
    assert locate("pool.jsonl") == tmp_path / "data" / "pool.jsonl"
    (tmp_path / "pool.jsonl").write_text("{}")
    assert locate("pool.jsonl").read_text() == "{}"
    assert locate("pool.jsonl").resolve() == tmp_path / "pool.jsonl"
    with pytest.raises(DataError, match=r"no such data file: found 'other\.jsonl', .* set VENUS_DATA"):
        locate("other.jsonl")


def test_an_unknown_training_set_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'dapo14k'"):
        read_recipe("dapo14", CONFIGS)


def test_bytes_that_are_not_utf8_are_refused_with_their_position(tmp_path):
    path = tmp_path / "pool.jsonl"
    path.write_bytes(b'{"question": "caf\xe9"}')
    with pytest.raises(DataError, match=r"pool\.jsonl is not UTF-8: found byte 17"):
        rows_of("local", {"path": str(path)})
