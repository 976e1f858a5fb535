"""Responses beside their questions and verdicts: which are read, in which order, and what is withheld."""

import pytest
from judged_cell import RESPONSES, SECRET, write_parts

from benchmark.errors import DataError, UnknownNameError
from benchmark.report.samples import ResponseFolders, is_restricted, read_responses


@pytest.fixture
def folders(tmp_path):
    return ResponseFolders(**write_parts(tmp_path))


def keys(found):
    return [(response.benchmark, response.sample) for response in found.responses]


def test_responses_come_in_the_order_of_the_evaluation_with_question_and_verdict(folders):
    found = read_responses(folders)
    assert keys(found) == [(benchmark, sample) for benchmark, _, sample, *_ in RESPONSES]
    second = found.responses[1]
    assert (second.question, second.gold, second.extracted, second.verdict) == ("3*4?", "12", "13", "wrong")
    assert second.response.startswith("line one\nso")
    assert (found.matching, found.total) == (6, 6)


def test_wrong_keeps_all_that_is_not_correct(folders):
    found = read_responses(folders, wrong=True)
    assert [response.verdict for response in found.responses] == ["wrong", "no_answer", "wrong"]
    assert (found.matching, found.total) == (3, 6)


def test_a_limit_shortens_the_list_and_not_the_count(folders):
    found = read_responses(folders, wrong=True, limit=1)
    assert keys(found) == [("mul", 1)]
    assert found.matching == 3


def test_one_benchmark_may_be_asked_for_and_a_misspelt_one_is_refused(folders):
    assert keys(read_responses(folders, benchmark="add")) == [("add", 0), ("add", 1)]
    with pytest.raises(UnknownNameError, match=r"unknown benchmark 'ad'; did you mean 'add'\?"):
        read_responses(folders, benchmark="ad")


def test_a_restricted_benchmark_shows_ids_and_verdicts_and_no_text(folders):
    found = read_responses(folders, benchmark="gpqa_diamond")
    assert SECRET not in repr(found)
    for response in found.responses:
        texts = (response.question, response.choices, response.gold, response.response, response.extracted)
        assert texts == (None,) * 5
        assert response.withheld
    assert [(response.item_id, response.verdict) for response in found.responses] == [
        ("g1", "wrong"),
        ("g1", "correct"),
    ]


def test_restricted_texts_are_there_for_who_asks(folders):
    first = read_responses(folders, benchmark="gpqa_diamond", restricted=True).responses[0]
    assert (first.question, first.gold, first.extracted, first.withheld) == (SECRET, "B", "A", False)
    assert first.choices == (f"no, {SECRET}", f"yes, {SECRET}")


@pytest.mark.parametrize(
    ("name", "expected"), [("gpqa_diamond", True), ("gpqa_main_of_mine", True), ("add", False), ("of_mine", False)]
)
def test_what_is_restricted_follows_the_table_and_the_name(name, expected):
    assert is_restricted(name) is expected


def test_a_verdict_without_its_response_is_an_error_that_names_it(tmp_path):
    parts = write_parts(tmp_path / "all")
    parts["samples"] = write_parts(tmp_path / "less", responses=RESPONSES[1:])["samples"]
    with pytest.raises(DataError, match="verdict of mul/m1/0 has no response"):
        read_responses(ResponseFolders(**parts))
