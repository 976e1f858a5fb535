"""The supervise stage: exact and nested masks, and no truth where it does not belong."""

import json
import random

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import artifacts
from benchmark.data import supervise
from benchmark.data.labels import labelled_indices
from benchmark.data.noise import NO_CORRECT_ANSWER, corrupt
from benchmark.data.schema import read_rows, write_rows
from benchmark.errors import DataError
from benchmark.stage import StageJob, StageKind
from benchmark.suite.spec import NoiseKind

INDICES = st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=200, unique=True)
RATIOS = st.floats(0, 1)
SEEDS = st.integers(0, 1000)


@given(INDICES, RATIOS, RATIOS, SEEDS)
def test_label_masks_are_exact_in_size_and_nested_across_ratios(indices, one, two, seed):
    small, large = (labelled_indices(indices, ratio, seed) for ratio in sorted((one, two)))
    assert small <= large <= set(indices)
    assert len(large) == round(max(one, two) * len(indices))


@given(INDICES, RATIOS, SEEDS, st.randoms())
def test_label_masks_do_not_depend_on_the_order_of_rows(indices, ratio, seed, rng):
    shuffled = rng.sample(indices, len(indices))
    assert labelled_indices(shuffled, ratio, seed) == labelled_indices(indices, ratio, seed)


@given(INDICES, RATIOS, RATIOS, SEEDS)
def test_noise_masks_are_exact_in_size_and_nested_across_ratios(indices, one, two, seed):
    labels = {index: str(index) for index in indices}

    def noisy(ratio):
        given_labels = corrupt(labels, NoiseKind.INACTIVE, ratio, seed)
        assert all(label in (labels[i], NO_CORRECT_ANSWER) for i, label in given_labels.items())
        return {i for i, label in given_labels.items() if label == NO_CORRECT_ANSWER}

    small, large = (noisy(ratio) for ratio in sorted((one, two)))
    assert small <= large
    assert len(large) == round(max(one, two) * len(indices))


def test_seeds_label_different_rows_and_noise_is_independent_of_labels():
    indices = list(range(1000))
    first, second = (labelled_indices(indices, 0.5, seed) for seed in (0, 1))
    assert 200 < len(first & second) < 300  # independent halves share 250 on average
    noisy = corrupt(dict.fromkeys(indices, "1"), NoiseKind.INACTIVE, 0.5, 0)
    assert 200 < sum(noisy[i] == NO_CORRECT_ANSWER for i in first) < 300


@pytest.mark.parametrize("ratio", [-0.1, 1.5, float("nan")])
def test_a_ratio_outside_the_unit_interval_is_refused(ratio):
    with pytest.raises(DataError, match="allowed 0 to 1"):
        labelled_indices([1, 2], ratio, 0)
    with pytest.raises(DataError, match="allowed 0 to 1"):
        corrupt({1: "1"}, NoiseKind.INACTIVE, ratio, 0)


def test_a_noise_ratio_without_a_kind_is_refused():
    with pytest.raises(DataError, match="noise ratio without a kind of noise"):
        corrupt({1: "1"}, NoiseKind.NONE, 0.5, 0)


POOL_ROWS = [
    {"index": 7 * i + 3, "question": f"{i}+0?", "answer": f"answer-{i}", "family": "add", "level": 0} for i in range(40)
]
PANEL_ROWS = [
    {"index": 10_000 + i, "question": f"{i}-0?", "answer": f"panel-{i}", "family": "sub", "level": 0} for i in range(5)
]


def run(tmp_path, pool=POOL_ROWS, **changes):
    source, out = tmp_path / "pool", tmp_path / "out"
    source.mkdir(parents=True)
    out.mkdir()
    write_rows(source / artifacts.POOL, pool, artifacts.POOL_SCHEMA)
    write_rows(source / artifacts.PANEL, PANEL_ROWS, artifacts.POOL_SCHEMA)
    params = {"label_ratio": 0.25, "noise_kind": "none", "noise_ratio": 0.0, "rows": "all", "seed": 0} | changes
    supervise.run(StageJob(StageKind.SUPERVISE, "k", params, {"pool": source}, out, out, 0, {}))
    return out


def labelled_set(out):
    rows = read_rows(out / artifacts.TRAIN, artifacts.VERL_SCHEMA)
    return {row["extra_info"]["index"] for row in rows if row["extra_info"]["labeled"]}


def test_no_truth_of_an_unlabelled_row_reaches_the_training_file(tmp_path):
    out = run(tmp_path)
    rows = read_rows(out / artifacts.TRAIN, artifacts.VERL_SCHEMA)
    truth = {row["index"]: row["answer"] for row in POOL_ROWS}
    labelled = [row for row in rows if row["extra_info"]["labeled"]]
    assert len(labelled) == 10
    assert all(row["reward_model"]["ground_truth"] == truth[row["extra_info"]["index"]] for row in labelled)
    hidden = [row for row in rows if not row["extra_info"]["labeled"]]
    assert {row["reward_model"]["ground_truth"] for row in hidden} == {""}
    for row in hidden:
        assert truth[row["extra_info"]["index"]] not in str(row)


def test_a_corrupted_row_does_not_carry_its_truth(tmp_path):
    out = run(tmp_path, label_ratio=1.0, noise_kind="inactive", noise_ratio=1.0)
    assert "answer-" not in str(pq.read_table(out / artifacts.TRAIN).to_pylist())


def test_the_truth_sidecar_covers_exactly_the_training_rows(tmp_path):
    for rows, count in (("all", 40), ("labelled", 10)):
        out = run(tmp_path / rows, rows=rows)
        train = read_rows(out / artifacts.TRAIN, artifacts.VERL_SCHEMA)
        truth = read_rows(out / artifacts.TRUTH, artifacts.TRUTH_SCHEMA)
        assert [row["extra_info"]["index"] for row in train] == [row["index"] for row in truth]
        assert len(train) == count
    assert {row["index"]: row["answer"] for row in truth}.items() <= {
        r["index"]: r["answer"] for r in POOL_ROWS
    }.items()


def test_the_panel_is_labelled_and_marked(tmp_path):
    rows = read_rows(run(tmp_path, label_ratio=0.0) / artifacts.PANEL, artifacts.VERL_SCHEMA)
    assert [row["reward_model"]["ground_truth"] for row in rows] == [f"panel-{i}" for i in range(5)]
    assert {(row["extra_info"]["split"], row["extra_info"]["labeled"]) for row in rows} == {("panel", True)}


def test_permuting_the_pool_does_not_change_the_labelled_set(tmp_path):
    shuffled = random.Random(0).sample(POOL_ROWS, len(POOL_ROWS))
    one, two = run(tmp_path / "a"), run(tmp_path / "b", pool=shuffled)
    assert labelled_set(one) == labelled_set(two)
    hashes = [json.loads((out / artifacts.SUPERVISION_INFO).read_text())["labelled_sha256"] for out in (one, two)]
    assert hashes[0] == hashes[1]


def test_all_methods_of_a_seed_share_the_labelled_set(tmp_path):
    assert labelled_set(run(tmp_path / "a", rows="labelled")) == labelled_set(run(tmp_path / "b", rows="all"))


def test_nominal_and_realised_ratios_are_both_recorded(tmp_path):
    out = run(tmp_path, label_ratio=0.33, noise_kind="inactive", noise_ratio=0.4)
    info = json.loads((out / artifacts.SUPERVISION_INFO).read_text())
    assert (info["pool_rows"], info["rows"], info["labelled"], info["noisy"]) == (
        40,
        40,
        13,
        5,
    )  # round(13.2), round(5.2)
    assert info["label_ratio"] == {"nominal": 0.33, "realised": 13 / 40}
    assert info["noise_ratio"] == {"nominal": 0.4, "realised": 5 / 13}


def test_without_labels_ratios_are_zero(tmp_path):
    info = json.loads((run(tmp_path, label_ratio=0.0) / artifacts.SUPERVISION_INFO).read_text())
    assert (info["labelled"], info["noise_ratio"]["realised"]) == (0, 0.0)


def test_an_empty_training_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="no row to train on"):
        run(tmp_path, label_ratio=0.0, rows="labelled")


def test_an_unknown_choice_of_rows_is_refused(tmp_path):
    with pytest.raises(DataError, match="allowed all or labelled"):
        run(tmp_path, rows="some")
