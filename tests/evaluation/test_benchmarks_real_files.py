"""The public benchmarks against their real files: counts, content, and the defects that are known of them."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from benchmark_files import real_file

from benchmark.data.data_files import parse_lines, read_data_rows
from benchmark.data.overlap import question_fingerprint
from benchmark.errors import DataError
from benchmark.evaluation.benchmarks import (
    BENCHMARKS,
    PUBLIC_BENCHMARKS,
    Contamination,
    Group,
    Kind,
    benchmark_named,
    benchmark_rows,
)
from benchmark.evaluation.benchmarks.defects import Defect
from benchmark.evaluation.benchmarks.loaders import examine, load, read_rows_of
from benchmark.stage import digest

D = Defect

# evaluation.md, section A; MMLU-Pro's repeated items, control characters and residues were found by this lint.
FOUND = {
    "aime24": {},
    "aime25": {D.DEGREE_GOLD: 1},
    "amc": {D.FLOAT_GOLD: 83},
    "amc23": {D.FLOAT_GOLD: 40},
    "math500": {},
    "minerva": {D.STRAY_DOLLAR: 1, D.GOLD_BLANKS: 1},
    "olympiad": {D.STRAY_DOLLAR: 1, D.GOLD_FULL_STOP: 1},
    "arc_challenge": {D.DIGIT_LABELS: 22, D.OPTION_COUNT: 7},
    "gpqa_diamond": {D.REPEATED_OPTION: 2, D.LINE_SEPARATOR: 1},
    "mmlu_pro": {
        D.OPTION_COUNT: 2050,
        D.ENCODING_RESIDUE: 45,
        D.CONTROL_CHARACTER: 22,
        D.REPEATED_ITEM: 159,
        D.LETTER_INDEX_DISAGREE: 1,
    },
    "gsm8k": {},
}
SIZES = {"aime24": 30, "aime25": 30, "amc": 83, "amc23": 40, "math500": 500, "minerva": 272, "olympiad": 675} | {
    "arc_challenge": 1172,
    "gpqa_diamond": 198,
    "mmlu_pro": 12032,
    "gsm8k": 1319,
}


@pytest.mark.parametrize("name", SIZES)
def test_a_real_file_has_the_stated_size_content_and_defects(name):
    benchmark = benchmark_named(name)
    real_file(benchmark.file)
    examination = examine(benchmark, read_rows_of(benchmark, "local"))
    assert len(examination.items) == SIZES[name] == benchmark.items
    assert dict(Counter(finding.defect for finding in examination.findings)) == FOUND[name]
    assert examination.content_hash == benchmark.content_hash
    assert not examination.problems


def test_the_paper_groups_are_six_and_three():
    groups = {group: {each.name for each in PUBLIC_BENCHMARKS if each.group is group} for group in Group}
    assert groups[Group.ID] == {"aime24", "aime25", "amc", "math500", "minerva", "olympiad"}
    assert groups[Group.OOD] == {"arc_challenge", "gpqa_diamond", "mmlu_pro"}


def test_every_public_benchmark_states_licence_contamination_and_a_place_on_the_hub():
    for benchmark in PUBLIC_BENCHMARKS:
        assert benchmark.licence
        assert benchmark.contamination is not Contamination.GENERATED
        assert benchmark.hub
        assert (benchmark.kind is Kind.MULTIPLE_CHOICE) == bool(benchmark.usual_options)
    assert len({benchmark.name for benchmark in BENCHMARKS}) == len(BENCHMARKS)


def test_known_golds_are_read_right():
    by_id = {
        item.source_id: item
        for name in ("aime25", "amc", "arc_challenge", "olympiad")
        if real_file(benchmark_named(name).file)
        for item in load(benchmark_named(name))
    }
    assert by_id["aime25-19"].gold == "336"
    assert by_id["amc83-0"].gold == "142"
    assert by_id["olympiad-2592"].tolerance == "1e-1"
    assert sum(item.tolerance is not None for item in by_id.values()) == 1
    assert {item.gold for name, item in by_id.items() if name.startswith("arc_c")} == set("ABCD")


def test_amc_of_2023_is_part_of_amc():
    amc, amc23 = (
        {question_fingerprint(item.question) for item in load(benchmark_named(name))}
        for name in ("amc", "amc23")
        if real_file(benchmark_named(name).file)
    )
    assert amc23 < amc


def test_the_letter_of_mmlu_pro_3983_wins_over_its_index():
    benchmark = benchmark_named("mmlu_pro")
    real_file(benchmark.file)
    item = next(item for item in load(benchmark) if item.source_id == "mmlu_pro-3983")
    assert item.choices is not None
    assert (item.gold, item.choices[2]) == ("C", "N—H")


def test_the_other_lineage_of_aime25_is_refused_for_its_form_feeds():
    path = real_file("aime25/test_opencompass_lineage.jsonl")
    examination = examine(benchmark_named("aime25"), read_data_rows(path))
    found = {(finding.item, finding.detail) for finding in examination.findings}
    assert found == {("aime25oc-18", "U+000C"), ("aime25oc-27", "U+000C")}
    assert examination.problems[0].startswith("control_character: found 2 items (aime25oc-18 (U+000C)")


@pytest.mark.parametrize("change", ["drop", "repeat", "gold", "question", "blank", "separator"])
def test_a_real_file_that_was_tampered_with_is_refused(tmp_path, change):
    benchmark = benchmark_named("aime24")
    lines = real_file(benchmark.file).read_text(encoding="utf-8").rstrip("\n").split("\n")
    first = json.loads(lines[0])
    if change == "drop":
        del lines[0]
    elif change == "repeat":
        lines.append(lines[0])
    elif change in ("blank", "separator"):  # the same item ids and another prompt
        added = " " if change == "blank" else "\u2028"
        lines[0] = json.dumps(first | {"question": first["question"] + added})
    else:
        key = "answer" if change == "gold" else "question"
        lines[0] = json.dumps(first | {key: first[key].replace("2", "3")})
    (tmp_path / "aime24").mkdir()
    (tmp_path / benchmark.file).write_text("\n".join(lines), encoding="utf-8")
    expected = {"drop": "found 29, allowed 30", "repeat": "repeated_item"}.get(change, "changed items")
    with pytest.raises(DataError, match=expected):
        load(benchmark, "local", tmp_path)


def test_a_prompt_states_question_options_and_instruction():
    real_file("arc_challenge/test.jsonl")
    row = benchmark_rows("local", ["arc_challenge"], 1)[0]
    assert row["prompt"].startswith(row["question"] + "\n\nA) " + row["choices"][0] + "\nB) " + row["choices"][1])
    assert row["prompt"].endswith("output the letter of the right option within \\boxed{}.")


def test_a_limit_takes_a_sample_that_every_larger_one_contains():
    real_file("mmlu_pro/test_full.parquet")
    small, large = (benchmark_rows("local", ["mmlu_pro", "aime24"], items) for items in (8, 40))
    ids = {row["item_id"] for row in large}
    assert {row["item_id"] for row in small} < ids
    assert Counter(row["benchmark"] for row in small) == {"mmlu_pro": 8, "aime24": 8}
    assert Counter(row["benchmark"] for row in large) == {"mmlu_pro": 40, "aime24": 30}
    assert len(ids) == 70


def test_a_change_of_the_table_must_raise_the_version_of_the_stage():
    """Items, prompts and groups are the artifact of the stage: old artifacts must not pass for new ones."""
    shown = [[each.name, each.group, each.content_hash, each.prompt, each.kind] for each in BENCHMARKS]
    assert digest(shown)[:16] == "7bd16162cc1cfd91"  # pinned for version 2 in benchmark.runs.stages


def test_lines_end_at_line_feeds_only():
    assert parse_lines('{"a": "x\u2028y"}\r\n\n{"a": "\u0085"}', "f") == [{"a": "x\u2028y"}, {"a": "\u0085"}]


def test_a_benchmark_of_another_size_is_refused_with_both_numbers():
    benchmark = replace(benchmark_named("aime24"), items=31)
    real_file(benchmark.file)
    with pytest.raises(DataError, match="benchmark aime24: missing or extra items: found 30, allowed 31"):
        load(benchmark)
