"""GPQA: read from an encrypted file, shown in an order that follows from the item, quoted nowhere."""

import base64
import json
import sys
from collections import Counter
from dataclasses import replace

import pytest
from benchmark_files import real_file
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import DataError
from benchmark.evaluation.benchmarks import benchmark_named, benchmark_rows
from benchmark.evaluation.benchmarks.gpqa import PASSWORD_VARIABLE, read_restricted_rows
from benchmark.evaluation.benchmarks.items import item_id
from benchmark.evaluation.benchmarks.loaders import examine, load
from benchmark.evaluation.benchmarks.options import list_options, permutation

GPQA = benchmark_named("gpqa_diamond")
SECRET = "zorblion"  # occurs in question and options of the fixture

# One invented item in the format of the shared copy: `openssl enc -aes-256-cbc -pbkdf2 -pass pass:swordfish`.
ENCRYPTED = base64.b64decode(
    "U2FsdGVkX1/0iUp95FwzqY0lrub9Oau+ffLxv8dzA1GTrGanv2nxKzv3JfuvhxDs0KNISd2d0tJc3UaEH9nyq9fB03kSzfdUn738"
    "5cYZ9Y+NHax5fzQaYYQd2V+Lc/mR3MLYqvgKRa2osuWCR7cTOOfvp6Kz2VtG+xCjHOjFprQPPZMuj5IxFH9g4Y+JMSn029zItN7p"
    "HLcYfSO5XEIuc6MF1Vxrks08M9U3kNeQ+D8BT9vdt0YVHozjvX5t0Y9GM7K8bGVz3i1G2C1mbdW/v4YCwZ5PDne4djOcGPwBE9MK"
    "xNgh2jY2/3pFTgfEDf0wHCiRnwkWAsvuahyu/J33VvVnokNet3IQqWQKgpvUmS0nReKUMEtLwfFwriufsEwPKkmCBFDRnay3aHJK"
    "fLfwyvgifZlpdaI2QdjgFZyS7yU="
)


@pytest.fixture
def encrypted(tmp_path, monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, "swordfish")
    path = tmp_path / "test.jsonl.enc"
    path.write_bytes(ENCRYPTED)
    return path


def plain_row(encrypted):
    return read_restricted_rows(encrypted)[0]


@pytest.mark.parametrize("with_package", [True, False])
def test_an_encrypted_file_is_read_in_memory(encrypted, monkeypatch, with_package):
    if not with_package:  # the program openssl then does it
        monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    (row,) = read_restricted_rows(encrypted)
    assert row["choices"] == ["the quibbon", "the flarnon", "the zorblion", "the merkon"]
    assert list(encrypted.parent.iterdir()) == [encrypted]


@pytest.mark.parametrize("with_package", [True, False])
def test_a_wrong_password_is_one_line_that_names_the_variable(encrypted, monkeypatch, with_package):
    if not with_package:
        monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    monkeypatch.setenv(PASSWORD_VARIABLE, "wrong")
    with pytest.raises(DataError, match=f"wrong password or damaged file; fix: set {PASSWORD_VARIABLE}"):
        read_restricted_rows(encrypted)


def test_another_kind_of_file_is_refused(encrypted):
    encrypted.write_bytes(b"PK plainly a zip archive")
    with pytest.raises(DataError, match="was not written by `openssl enc -aes-256-cbc -pbkdf2`"):
        read_restricted_rows(encrypted)


def test_the_question_is_cut_out_of_the_stored_prompt_and_options_are_permuted_with_the_gold(encrypted):
    (item,) = examine(GPQA, [plain_row(encrypted)]).items
    assert item.question == "Which of these made-up particles is the zorblion?"
    assert item.choices is not None
    assert sorted(item.choices) == ["the flarnon", "the merkon", "the quibbon", "the zorblion"]
    assert item.choices[ord(item.gold) - ord("A")] == "the zorblion"


def test_the_order_of_options_in_the_file_does_not_matter(encrypted):
    row = plain_row(encrypted)
    other = {"id": "x", "question": "Which of these made-up particles is the zorblion?", "answer": "B"} | {
        "choices": [row["choices"][position] for position in (3, 2, 1, 0)]
    }
    (one,), (two,) = examine(GPQA, [row]).items, examine(GPQA, [other]).items
    assert (one.choices, one.gold) == (two.choices, two.gold)


@given(st.lists(st.text(min_size=1), min_size=2, max_size=10, unique_by=lambda text: " ".join(text.split())))
def test_a_permutation_depends_on_item_and_texts_only(choices):
    order = permutation("id", choices)
    assert sorted(order) == list(range(len(choices)))
    backwards = permutation("id", choices[::-1])
    assert [choices[position] for position in order] == [choices[::-1][position] for position in backwards]


def test_options_are_listed_one_a_line():
    assert list_options(["red", "two"]) == "A) red\nB) two"


def test_plain_text_inside_a_git_repository_is_refused_and_outside_is_read(encrypted, tmp_path):
    plain = tmp_path / "test.jsonl"
    plain.write_text(json.dumps(plain_row(encrypted)), encoding="utf-8")
    assert len(read_restricted_rows(plain)) == 1
    (tmp_path / ".git").mkdir()
    with pytest.raises(DataError, match=r"inside a git repository: found test\.jsonl") as caught:
        read_restricted_rows(plain)
    assert SECRET not in str(caught.value)


def test_no_error_and_no_context_of_one_quotes_an_item(encrypted, tmp_path):
    row = plain_row(encrypted)
    broken = [
        [row | {"answer": "E"}],
        [row | {"choices": [SECRET, SECRET, "a", "b"], "question": SECRET}],
        [row, row | {"id": "gpqa-1"}],
        [row | {"prompt": SECRET}],
        [row | {"prompt": row["prompt"].replace("Answer the following", "Please answer the")}],
        [{"id": "gpqa-0", "prompt": SECRET}],
    ]
    folder = tmp_path / "gpqa_diamond"
    folder.mkdir()
    for rows in broken:
        text = "\n".join(json.dumps(each) for each in rows)
        (folder / "test.jsonl").write_text(text, encoding="utf-8")
        with pytest.raises(DataError) as caught:
            load(GPQA, "local", tmp_path)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None
        assert "gpqa" in str(caught.value)
    (folder / "test.jsonl").write_text('{"prompt": "' + SECRET, encoding="utf-8")
    with pytest.raises(DataError, match=r"test.jsonl line 1 is not JSON: .* at character \d+") as caught:
        load(GPQA, "local", tmp_path)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__


def test_the_real_file_gives_198_items_with_the_right_option_in_every_place():
    real_file(GPQA.file)
    rows = benchmark_rows("local", ["gpqa_diamond"], 0)
    assert len({row["item_id"] for row in rows}) == 198
    assert set(Counter(row["gold"] for row in rows)) == set("ABCD")
    assert min(Counter(row["gold"] for row in rows).values()) >= 35
    wrong = [
        row["item_id"] for row in rows if row["item_id"] != item_id("gpqa_diamond", row["question"], row["choices"])
    ]
    assert not wrong


def test_the_two_items_with_equal_wrong_options_are_the_only_ones():
    real_file(GPQA.file)
    unlisted = replace(GPQA, known=())
    with pytest.raises(DataError, match=r"repeated_option: found 2 items \(gpqa-89, gpqa-126\)"):
        load(unlisted)
