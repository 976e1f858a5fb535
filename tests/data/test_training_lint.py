"""The lint before launch: a sound set passes, and every defect is refused with its row."""

import copy

import pytest

from benchmark import artifacts
from benchmark.data.lint import LintReport, lint_training_set
from benchmark.data.micro.splits import training_pool
from benchmark.data.micro.tokenizer import build_tokenizer, prompt_ids
from benchmark.data.noise import NO_CORRECT_ANSWER, REDRAWN
from benchmark.data.schema import verl_row, write_rows
from benchmark.errors import DataError


def render(messages):
    return prompt_ids(messages[0]["content"])


def exact(response, gold):
    return response == f"\\boxed{{{gold}}}"


def sound_rows():
    rows = []
    for number, question in enumerate(training_pool(12)):
        labelled = number % 2 == 0
        label = (NO_CORRECT_ANSWER if number == 4 else question.answer) if labelled else ""
        rows.append(verl_row(question.text, 100 + number, label, labelled=labelled, split="train"))
    return rows


def lint(rows, render=render, limit=14, batch=4, grade=exact):
    return lint_training_set(rows, render, limit, batch, grade)


def test_a_sound_set_passes_with_its_figures(tmp_path):
    rows = sound_rows()
    expected = LintReport(rows=12, labelled=6, longest_prompt=max(len(render(row["prompt"])) for row in rows), graded=5)
    assert lint(rows) == expected
    write_rows(tmp_path / artifacts.TRAIN, rows, artifacts.VERL_SCHEMA)
    assert lint(tmp_path / artifacts.TRAIN) == expected


def test_it_works_with_a_real_chat_template():
    tokenizer = build_tokenizer()

    def render_text(messages):
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    assert lint(sound_rows(), render=render_text) == lint(sound_rows())


def test_a_renderer_that_returns_a_batch_encoding_is_refused():
    tokenizer = build_tokenizer()
    with pytest.raises(DataError, match=r"row 0 .*found BatchEncoding from the renderer"):
        lint(sound_rows(), render=lambda messages: tokenizer.apply_chat_template(messages, return_dict=True))


DEFECTS = {
    "duplicate index": (lambda r: r[3]["extra_info"].update(index=100), "row 3 .*the index of row 0"),
    "missing index": (lambda r: r[3]["extra_info"].pop("index"), "row 3 .*extra_info.index=None"),
    "no extra_info": (lambda r: r[3].pop("extra_info"), "row 3 .*extra_info.index=None"),
    "index as text": (lambda r: r[3]["extra_info"].update(index="7"), "row 3 .*extra_info.index='7'"),
    "index too large": (lambda r: r[3]["extra_info"].update(index=2**63), "row 3 .*allowed an int64"),
    "unknown data source": (lambda r: r[3].update(data_source="gsm8k"), "row 3 .*data_source='gsm8k'"),
    "no data source": (lambda r: r[3].update(data_source=""), "row 3 .*data_source=''"),
    "label flag missing": (lambda r: r[3]["extra_info"].pop("labeled"), "row 3 .*extra_info.labeled=None"),
    "leaked truth": (lambda r: r[3]["reward_model"].update(ground_truth="5"), "row 3 .*unlabelled row that carries"),
    "empty label": (lambda r: r[2]["reward_model"].update(ground_truth=" "), "row 2 .*empty ground truth"),
    "label as number": (lambda r: r[2]["reward_model"].update(ground_truth=5), "row 2 .*ground_truth=5"),
    "empty prompt": (lambda r: r[3].update(prompt=[]), r"row 3 .*prompt=\[\]"),
    "prompt as text": (lambda r: r[3].update(prompt="1+1?"), "row 3 .*prompt='1"),
    "empty content": (lambda r: r[3].update(prompt=[{"role": "user", "content": ""}]), "row 3 .*prompt="),
    "no role": (lambda r: r[3].update(prompt=[{"content": "1+1?"}]), "row 3 .*prompt="),
    "long prompt": (
        lambda r: r[3].update(prompt=[{"role": "user", "content": "1" * 13}]),
        "row 3 .*15 tokens, allowed 14",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_refused_with_its_row(defect):
    break_it, message = DEFECTS[defect]
    rows = copy.deepcopy(sound_rows())
    break_it(rows)
    with pytest.raises(DataError, match=message):
        lint(rows)


def test_fewer_rows_than_a_batch_are_refused():
    with pytest.raises(DataError, match="found 12, allowed 13 or more"):
        lint(sound_rows(), batch=13)
    with pytest.raises(DataError, match="found 0, allowed 1 or more"):
        lint([], batch=0)


def test_a_failing_chat_template_is_refused():
    def broken(messages):
        raise ValueError("no template")

    with pytest.raises(DataError, match=r"row 0 .*the chat template fails: ValueError: no template"):
        lint(sound_rows(), render=broken)


def test_a_template_that_renders_nothing_is_refused():
    with pytest.raises(DataError, match=r"row 0 .*allowed a list of token ids"):
        lint(sound_rows(), render=lambda messages: [])


@pytest.mark.parametrize("verdict", [True, False])
def test_a_grader_that_says_the_same_to_everything_is_refused(verdict):
    with pytest.raises(DataError, match=f"row 0 .*graded {verdict} against the gold"):
        lint(sound_rows(), grade=lambda response, gold: verdict)


def test_the_grader_is_tried_on_a_sample_only():
    rows = [verl_row(f"{i}?", i, str(i), labelled=True, split="train") for i in range(1000)]
    assert lint(rows).graded <= 64


def test_a_file_with_other_columns_is_refused(tmp_path):
    write_rows(tmp_path / "t.parquet", [{"index": 1, "answer": "2"}], artifacts.TRUTH_SCHEMA)
    with pytest.raises(DataError, match=r"columns of t.parquet: found missing data_source"):
        lint(tmp_path / "t.parquet")


def test_labels_that_are_no_answers_are_not_graded():
    rows = sound_rows()
    rows[2]["reward_model"]["ground_truth"] = REDRAWN
    assert lint(rows).graded == 4  # of six labelled rows, two carry a sentinel


def paired_rows():
    """Twelve rows, of which 100 and 101, 102 and 103, ... are pairs; two pairs are labelled."""
    return [
        verl_row(f"{i}+1?", 100 + i, str(i // 2) if i < 4 else "", labelled=i < 4, split="train", pair=100 + (i ^ 1))
        for i in range(12)
    ]


def test_a_sound_paired_set_passes():
    assert lint(paired_rows()).rows == 12


PAIR_DEFECTS = {
    "partner missing": (lambda r: r[3]["extra_info"].update(pair=999), "row 3 .*pair=999, allowed the index of"),
    "own partner": (lambda r: r[3]["extra_info"].update(pair=103), "row 3 .*pair=103, allowed the index of"),
    "unpaired row": (lambda r: r[3]["extra_info"].update(pair=-1), "row 3 .*pair=-1, allowed the index of"),
    "one way": (lambda r: r[3]["extra_info"].update(pair=104), "row 2 .*partner whose own pair is 104, allowed 102"),
    "half labelled": (
        lambda r: r[3].update(verl_row("4?", 103, "", labelled=False, split="train", pair=102)),
        "row 2 .*a labelled and an unlabelled row in a pair",
    ),
}


@pytest.mark.parametrize("defect", PAIR_DEFECTS)
def test_a_defect_of_a_pair_is_refused_with_its_row(defect):
    break_it, message = PAIR_DEFECTS[defect]
    rows = paired_rows()
    break_it(rows)
    with pytest.raises(DataError, match=message):
        lint(rows)


def test_pairs_need_an_even_batch():
    with pytest.raises(DataError, match="found 3 prompts per step, allowed an even number"):
        lint(paired_rows(), batch=3)
    assert lint(sound_rows(), batch=3).rows == 12
