"""`venus data check`: what it prints, in which words, and with which exit status."""

import json
import shutil

import pytest
from benchmark_files import real_file
from venus_command import run_venus

from benchmark.commands.data_check import check_data
from benchmark.commands.data_check_text import check_text


def venus(*arguments, **environment):
    return run_venus("data", *arguments, **environment)


@pytest.fixture
def few_files(tmp_path):
    """A data directory with AIME24 and OLR's questions only."""
    for name in ("aime24/test.jsonl", "olr_noise/questions_800.parquet"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(real_file(name), tmp_path / name)
        (tmp_path / name).chmod(0o600)
    return tmp_path


def by_name(rows):
    return {row["name"]: row for row in rows}


def test_the_micro_world_is_generated_and_disjoint():
    found = check_data("micro")
    assert {row["state"] for row in found["benchmarks"]} == {"generated"}
    assert [(row["name"], row["rows"]) for row in found["training_sets"]] == [("micro", 1536)]
    assert (found["failed"], found["missing"]) == (0, 0)
    assert "none of the benchmarks overlaps any training set" in check_text(found)


def test_missing_files_are_listed_and_no_failure(few_files):
    done = venus("check", "--profile", "paper", "--data", str(few_files), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    benchmarks, training = by_name(found["benchmarks"]), by_name(found["training_sets"])
    assert benchmarks["aime24"]["state"] == training["olr800"]["state"] == "ok"
    assert benchmarks["amc"]["state"] == training["dapo14k"]["state"] == "missing"
    assert training["deepmath"]["state"] == "not checked (hub)"
    assert training["olr800"]["overlap"]["benchmarks"]["aime24"]["grams"] == 8
    assert found["missing"] == 10 + 3


def test_the_environment_names_the_data_directory(few_files):
    done = venus("check", "--profile", "paper", VENUS_DATA=str(few_files))
    assert done.returncode == 0, done.stderr
    assert "0 refused, 13 missing" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("aime24"))
    assert line.split()[:7] == ["aime24", "id", "math", "30", "30", "30", "ok"]


def test_a_named_directory_that_is_none_is_a_mistake_in_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    for directory, found in ((tmp_path / "nothing", "nothing at"), (tmp_path / "file", "a file at")):
        for done in (
            venus("check", "--profile", "paper", "--data", str(directory)),
            venus("check", "--profile", "paper", VENUS_DATA=str(directory)),
        ):
            assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
            assert f"data directory: found {found} {directory}, allowed a folder" in done.stderr


def test_a_directory_with_none_of_the_files_is_status_1_and_says_what_to_do(tmp_path):
    done = venus("check", "--profile", "paper", "--data", str(tmp_path))
    assert done.returncode == 1
    assert "0 refused, 15 missing" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(f"none of the files is below {tmp_path}; fix: put them there")


def test_an_absent_directory_that_nobody_named_is_no_mistake(tmp_path, monkeypatch):
    monkeypatch.delenv("VENUS_DATA", raising=False)
    monkeypatch.setattr("benchmark.commands.data_check.data_directory", lambda: tmp_path / "nothing")
    assert check_data("paper")["all_missing"]
    assert not check_data("micro")["all_missing"]


def test_a_file_that_is_refused_is_status_1_and_says_why(few_files):
    path = few_files / "aime24/test.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"answer": "204"', '"answer": ""'), encoding="utf-8")
    done = venus("check", "--profile", "paper", "--data", str(few_files))
    assert done.returncode == 1
    assert "! empty_gold: found 1 items (aime24-0), allowed none but the listed" in done.stdout
    assert "1 refused, 13 missing" in done.stdout


def test_a_changed_training_set_is_refused_without_stopping_the_check(few_files):
    shutil.copy(real_file("gsm8k/train.parquet"), few_files / "olr_noise/questions_800.parquet")
    training = by_name(check_data("paper", few_files)["training_sets"])
    assert training["olr800"]["state"] == "refused"
    assert "found 7473, allowed 800" in training["olr800"]["problems"][0]


def test_an_unknown_profile_or_verb_is_status_2_in_one_line():
    for arguments in (("check", "--profile", "papr"), ("chek",)):
        done = venus(*arguments)
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")


def test_the_real_files_are_reported_as_the_documents_say():
    for name in ("gpqa_diamond/test.jsonl.enc", "mmlu_pro/test_full.parquet", "dapo14k/train_14116.parquet"):
        real_file(name)
    found = check_data("paper")
    assert (found["failed"], found["missing"]) == (0, 0)
    text = check_text(found)
    benchmarks, training = by_name(found["benchmarks"]), by_name(found["training_sets"])
    assert sum(row["items"] for row in benchmarks.values() if row["in_profile"]) == 14992
    assert not benchmarks["gsm8k"]["in_profile"]
    assert [training[name]["repeated_questions"] for name in ("math_train", "dapo14k")] == [9, 730]
    dapo = training["dapo14k"]["overlap"]["benchmarks"]
    assert [(dapo[name]["exact"], dapo[name]["grams"]) for name in ("amc", "math500", "olympiad")] == [
        (14, 57),
        (7, 45),
        (10, 90),
    ]
    assert "2 repeated option, listed (gpqa-89, gpqa-126)" in text
    assert "1 line separator, noted (gpqa-4)" in text
    assert "94 items with several answers; olympiad-2592 with a tolerance of 1e-1" in text
    assert "no overlap with any training set: minerva, arc_challenge, gpqa_diamond\n" in text
    assert [each["corrupted"] for each in found["noise_files"]] == [0, 74, 247, 387, 559, 710, 800]
    assert "olr_noise/noise_0.3.parquet  247        247" in text
    files = [
        each for each in (*found["benchmarks"], *found["training_sets"], *found["noise_files"]) if "sha256" in each
    ]
    assert len(files) == 11 + 4 + 7
    assert all(each["sha256"] == each["manifest_sha256"] for each in files)
    assert "(!)" not in text
    assert "CC BY-NC-SA 4.0" in text
    assert "14/57" in text


def test_a_file_that_is_not_that_of_the_manifest_is_marked_and_its_items_decide(few_files):
    path = few_files / "aime24/test.jsonl"
    (few_files / "manifest.json").write_text(json.dumps([{"file": "aime24/test.jsonl", "sha256": "0" * 64}]))
    rows = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    path.write_text("\n".join(reversed(rows)), encoding="utf-8")
    found = check_data("paper", few_files)
    entry = by_name(found["benchmarks"])["aime24"]
    assert (entry["state"], entry["manifest_sha256"]) == ("ok", "0" * 64)
    assert "    (!) manifest.json says sha256 000000000000\n" in check_text(found)


def test_noise_with_another_number_of_corrupted_rows_is_refused(few_files):
    shutil.copy(real_file("olr_noise/noise_0.1.parquet"), few_files / "olr_noise/noise_0.3.parquet")
    found = check_data("paper", few_files)
    assert [(each["state"], each["corrupted"]) for each in found["noise_files"]] == [("refused", 74)]
    assert found["failed"] == 1
    assert "! found 74 of 800 rows corrupted, allowed 247 of 800" in check_text(found)
