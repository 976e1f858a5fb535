"""`venus grade` and `venus vote`, as a user calls them."""

import json
import subprocess
import sys

import pytest

from benchmark.data.data_files import data_directory
from benchmark.evaluation.grader import GRADER_VERSION

DATA = data_directory()


def venus(*arguments, text=""):
    command = [sys.executable, "-m", "benchmark.cli", *arguments]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=False)


def records(found):
    assert found.returncode == 0, found.stderr
    return [json.loads(line) for line in found.stdout.decode().splitlines()]


def grade(*lines, options=()):
    return records(venus("grade", "-", *options, text="".join(json.dumps(line) + "\n" for line in lines)))


def test_one_record_per_line_in_order():
    found = grade(
        {"id": "a", "gold": "9a+11", "response": r"\boxed{11+9a}", "note": "other fields are ignored"},
        {"id": 7, "gold": "B", "response": "the answer is (b)"},
        {"gold": "12", "response": "no idea"},
        {"id": "d", "gold": "", "response": "x"},
        {"id": "e", "gold": "12", "response": r"<think>\boxed{12}", "finish_reason": "length"},
        {"id": "f", "gold": 0.5, "response": r"\boxed{\frac12}"},
        {"id": "g", "gold": "14.2", "response": r"\boxed{14.1}", "tolerance": "0.1"},
        {"id": "h", "gold": "C", "response": "Answer: blue", "choices": ["red", "green", "blue"]},
    )
    assert [(one["id"], one["verdict"], one["method"]) for one in found] == [
        ("a", "correct", "symbolic"),
        (7, "correct", "choice_cue"),
        (None, "no_answer", "extract"),
        ("d", "gold_invalid", "gold"),
        ("e", "truncated", "extract"),
        ("f", "correct", "rational"),
        ("g", "correct", "tolerance"),
        ("h", "correct", "choice_cue"),
    ]
    assert found[0] == {
        "id": "a",
        "verdict": "correct",
        "extracted": "11+9a",
        "method": "symbolic",
        "second": "correct",
        "choice": None,
        "grader_version": GRADER_VERSION,
    }


def test_the_kind_decides_how_a_gold_of_one_letter_is_read():
    line = {"gold": "C", "response": "I choose the last one, the answer is C"}
    assert grade(line)[0]["verdict"] == "correct"
    assert grade(line | {"kind": "multiple_choice", "choices": ["1", "2"]})[0]["verdict"] == "gold_invalid"
    assert grade({"gold": "C", "response": r"\boxed{3+C-3}", "kind": "math"})[0]["verdict"] == "correct"


def test_the_fallback_is_chosen_on_the_command_line():
    line = {"gold": "12", "response": "The answer is 12. I counted 3 times."}
    assert grade(line)[0]["verdict"] == "correct"
    assert grade(line, options=("--fallback", "last_number"))[0]["verdict"] == "wrong"
    assert grade(line, options=("--fallback", "none"))[0]["verdict"] == "no_answer"
    found = venus("grade", "-", "--fallback", "statment")
    assert found.returncode == 2
    assert b"did you mean 'statement'" in found.stderr


def test_a_choice_is_told_by_its_label():
    line = {"gold": "A", "choices": ["red", "green"]}
    stated = (r"\boxed{B. green}", r"\boxed{\text{green}}", "The answer is (b)", "I cannot tell.")
    found = grade(*(line | {"response": text} for text in stated))
    assert [one["choice"] for one in found] == ["B", "B", "B", None]


def test_a_file_may_hold_line_separators_and_begin_with_a_byte_order_mark(tmp_path):
    file = tmp_path / "answers.jsonl"
    for mark in (b"", b"\xef\xbb\xbf"):
        file.write_bytes(mark + '{"gold": "12", "response": "\u2028\\\\boxed{12}"}'.encode())
        assert records(venus("grade", str(file)))[0]["verdict"] == "correct"


def test_an_empty_file_is_named(tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"")
    for command in ("grade", "vote"):
        found = venus(command, str(file))
        assert (found.returncode, found.stdout) == (2, b"")
        assert found.stderr.decode() == (
            f"venus: file of answers: found nothing in {str(file)!r}, allowed JSON lines; "
            "fix: write one JSON object per line\n"
        )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 2: found no JSON"),
        (b"", "line 2: found no JSON"),
        (b"\xff", "line 2: found no JSON"),
        (b"[" * 100_000, "line 2: found no JSON"),
        (b"[]", "line 2: found list, allowed an object with gold and response"),
        (b"null", "line 2: found null"),
        (b'{"gold": "1"}', "line 2: found no response"),
        (b'{"gold": null, "response": "1"}', "line 2: found gold null, allowed a text or a number"),
        (b'{"gold": NaN, "response": "1"}', "line 2: found no JSON (NaN is no number of JSON)"),
        (b'{"gold": "1", "response": "1", "kind": "chess"}', "line 2: found kind 'chess', allowed math or multiple_"),
        (b'{"gold": "A", "response": "1", "choices": "AB"}', "line 2: found choices"),
        (b'{"gold": "1", "response": "1", "tolerance": "x"}', "line 2: found tolerance 'x'"),
        (
            b'{"gold": "1", "response": "1", "tolerance": "1e99999999"}',
            "line 2: found tolerance '1e99999999', allowed a",
        ),
        (b'{"gold": "1", "response": "1", "tolerance": "-1"}', "line 2: found tolerance '-1'"),
        (b'{"gold": "1", "response": "1", "tolerance": "."}', "line 2: found tolerance '.'"),
        (b'{"gold": 1e400, "response": "1"}', "line 2: found no JSON (1e400 is too large for a number)"),
        (b'{"gold": "1", "response": "1", "finish_reason": "eos"}', "line 2: found finish_reason 'eos'"),
        (b'{"gold": "1", "response": "1", "finish_reason": ["stop"]}', "line 2: found finish_reason ['stop']"),
        (b'{"gold": "1", "response": "1", "kind": ["math"]}', "line 2: found kind ['math'], allowed math or multiple_"),
        (b'{"gold": "A", "response": "1", "choises": ["a", "b"]}', "line 2: found field 'choises', allowed 'choices'"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_printed(tmp_path, line, message):
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b'{"gold": "1", "response": "1"}\n' + line + b'\n{"gold": "1", "response": "1"}\n')
    found = venus("grade", str(file))
    assert found.returncode == 2
    assert found.stdout == b""
    [complaint] = found.stderr.decode().splitlines()
    assert complaint.startswith(f"venus: {message}")


def test_a_file_that_is_not_there_is_named(tmp_path):
    for command in ("grade", "vote"):
        found = venus(command, str(tmp_path / "none.jsonl"))
        assert found.returncode == 2
        assert len(found.stderr.decode().splitlines()) == 1
        assert b"none.jsonl" in found.stderr


def test_votes_are_counted_by_what_answers_mean():
    lines = [
        {"id": "a", "answers": ["0.5", "1/2", r"\frac{1}{2}", None, "3"]},
        {"answers": ["1", "2"]},
        {"id": "c", "answers": []},
        {"id": "d", "answers": [4, 4.0, "5"]},
    ]
    found = records(venus("vote", "-", text="".join(json.dumps(line) + "\n" for line in lines)))
    assert found[0] == {
        "id": "a",
        "winner": "0.5",
        "share": 0.6,
        "clusters": [{"answer": "0.5", "votes": 3}, {"answer": "3", "votes": 1}],
    }
    assert [one["winner"] for one in found] == ["0.5", None, None, "4"]


def test_a_bad_ballot_is_named_before_anything_is_printed():
    found = venus("vote", "-", text='{"answers": ["1"]}\n{"answers": "1"}\n')
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr.decode().startswith(
        'venus: line 2: found answers "1", allowed an object with a list of answers'
    )
    found = venus("vote", "-", text='{"answers": [["1"]]}\n')
    assert found.stderr.decode().startswith('venus: line 1: found answer ["1"], allowed a text or a number')


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder at {DATA}; set VENUS_DATA")
def test_the_collected_cases_can_be_graded_as_they_stand():
    file = DATA / "grading" / "cases.jsonl"
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    found = records(venus("grade", str(file)))
    assert [one["id"] for one in found] == [case["id"] for case in cases]
    unlike = [
        case["id"]
        for case, one in zip(cases, found, strict=True)
        if (one["verdict"] == "correct") != case["expected"] and not case["policy"]
    ]
    assert unlike == []
