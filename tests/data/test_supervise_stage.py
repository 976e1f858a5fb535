"""The supervise stage: exact and nested masks, and no truth where it does not belong."""

import json
import random

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pool_files import (
    pool_row,
    supervision,
    training_labels,
    training_rows,
    truth_sidecar,
    write_pool,
    write_probe,
    write_selection,
)

from benchmark import artifacts
from benchmark.data import supervise
from benchmark.data.content import content_index
from benchmark.data.labels import labelled_indices
from benchmark.data.noise import NO_CORRECT_ANSWER, REDRAWN, corrupt
from benchmark.data.schema import read_rows
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
        given_labels = corrupt(labels, NoiseKind.INACTIVE, ratio, seed).labels
        assert all(label in (labels[i], NO_CORRECT_ANSWER) for i, label in given_labels.items())
        return {i for i, label in given_labels.items() if label == NO_CORRECT_ANSWER}

    small, large = (noisy(ratio) for ratio in sorted((one, two)))
    assert small <= large
    assert len(large) == round(max(one, two) * len(indices))


def test_seeds_label_different_rows_and_noise_is_independent_of_labels():
    indices = list(range(1000))
    first, second = (labelled_indices(indices, 0.5, seed) for seed in (0, 1))
    assert 200 < len(first & second) < 300  # independent halves share 250 on average
    noisy = corrupt(dict.fromkeys(indices, "1"), NoiseKind.INACTIVE, 0.5, 0).noisy
    assert 200 < len(noisy & first) < 300


@pytest.mark.parametrize("ratio", [-0.1, 1.5, float("nan")])
def test_a_ratio_outside_the_unit_interval_is_refused(ratio):
    with pytest.raises(DataError, match="allowed 0 to 1"):
        labelled_indices([1, 2], ratio, 0)
    with pytest.raises(DataError, match="allowed 0 to 1"):
        corrupt({1: "1"}, NoiseKind.INACTIVE, ratio, 0)


def test_a_noise_ratio_without_a_kind_is_refused():
    with pytest.raises(DataError, match="noise ratio without a kind of noise"):
        corrupt({1: "1"}, NoiseKind.NONE, 0.5, 0)


POOL_ROWS = [pool_row(7 * i + 3, f"answer-{i}", f"{i}+0?", f"0+{i}?" if i % 10 else "") for i in range(40)]
PANEL_ROWS = [pool_row(10_000 + i, f"panel-{i}", f"{i}-0?") for i in range(5)]


def run(tmp_path, pool=POOL_ROWS, inputs=None, **changes):
    source, out = write_pool(tmp_path / "pool", pool, PANEL_ROWS), tmp_path / "out"
    out.mkdir()
    params = {"label_ratio": 0.25, "noise_kind": "none", "noise_ratio": 0.0, "rows": "all", "seed": 0} | changes
    supervise.run(StageJob(StageKind.SUPERVISE, "k", params, {"pool": source, **(inputs or {})}, out, out, 0, {}))
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
    with pytest.raises(DataError, match="allowed all, labelled, paired"):
        run(tmp_path, rows="some")


INDICES_OF_POOL = [row["index"] for row in POOL_ROWS]
TRUTH = {row["index"]: row["answer"] for row in POOL_ROWS}


def selected(tmp_path, rows="all", **changes):
    """Ten questions on each route and ten more unlabelled; probed are two of each route."""
    kinds = ["annotate"] * 10 + ["unlabelled"] * 20 + ["discard"] * 10
    routes = dict(zip(INDICES_OF_POOL, kinds, strict=True))
    probed = {INDICES_OF_POOL[i] for i in (0, 1, 15, 16, 35, 36)}
    selection = write_selection(tmp_path / "selection", routes, probed)
    return run(tmp_path, inputs={"selection": selection}, label_ratio=0.0, rows=rows, **changes)


def test_a_selection_decides_which_rows_are_labelled_unlabelled_and_left_out(tmp_path):
    found = training_labels(selected(tmp_path))
    labelled = {*range(10), 15, 16, 35, 36}  # annotated or probed
    assert found == {
        index: TRUTH[index] if i in labelled else None
        for i, index in enumerate(INDICES_OF_POOL)
        if i < 30 or i in labelled
    }


def test_with_labelled_rows_only_a_selection_leaves_the_unlabelled_out(tmp_path):
    assert list(training_labels(selected(tmp_path, rows="labelled")).values()) == [
        f"answer-{i}" for i in (*range(10), 15, 16, 35, 36)
    ]


def test_a_label_bought_twice_counts_once(tmp_path):
    info = supervision(selected(tmp_path))
    assert info["labels_bought"] == {
        "annotate": 10,
        "probes": 4,
        "scoring": 0,
        "total": 14,
    }  # two of the six probes are annotated
    assert (info["labelled"], info["left_out"]) == (14, 8)
    assert info["label_ratio"] == {"nominal": 0.0, "realised": 14 / 40}


def test_labels_that_were_bought_to_score_questions_are_counted_though_they_are_not_given(tmp_path):
    routes = {index: "annotate" if i < 10 else "unlabelled" for i, index in enumerate(INDICES_OF_POOL)}
    selection = write_selection(tmp_path / "selection", routes, scoring=30)
    info = supervision(run(tmp_path, inputs={"selection": selection}))
    assert info["labels_bought"] == {"annotate": 10, "probes": 0, "scoring": 30, "total": 40}
    assert info["labelled"] == 10


def test_selected_labels_are_corrupted_as_drawn_ones_are(tmp_path):
    info = supervision(selected(tmp_path, noise_kind="inactive", noise_ratio=0.5))
    assert (info["noisy"], info["noise_ratio"]["realised"]) == (7, 0.5)


def test_a_selection_of_another_pool_is_refused(tmp_path):
    selection = write_selection(tmp_path / "selection", dict.fromkeys([*INDICES_OF_POOL[:-1], 5], "annotate"))
    with pytest.raises(DataError, match="found 40 rows, of which 39 are in the pool, allowed exactly the 40"):
        run(tmp_path, inputs={"selection": selection})


def test_an_unknown_route_is_refused(tmp_path):
    selection = write_selection(tmp_path / "selection", dict.fromkeys(INDICES_OF_POOL, "keep"))
    with pytest.raises(DataError, match=r"route of index 3 .* found 'keep', allowed annotate, unlabelled, discard"):
        run(tmp_path, inputs={"selection": selection})


def test_a_drawn_label_mask_counts_as_annotated(tmp_path):
    assert supervision(run(tmp_path))["labels_bought"] == {"annotate": 10, "probes": 0, "scoring": 0, "total": 10}


def actively_noisy(tmp_path, answers, **changes):
    probe = write_probe(tmp_path / "probe", answers)
    params = {"label_ratio": 1.0, "noise_kind": "active_fixed", "noise_ratio": 0.5} | changes
    return run(tmp_path, inputs={"probe": probe}, **params)


def test_an_actively_noisy_label_is_a_wrong_answer_of_the_base_policy(tmp_path):
    answers = {index: (TRUTH[index], None, f"wrong of {index}") for index in INDICES_OF_POOL}
    out = actively_noisy(tmp_path, answers)
    wrong = {index: label for index, label in training_labels(out).items() if label != TRUTH[index]}
    assert len(wrong) == 20
    assert all(label.replace(" ", "") == f"wrongof{index}" for index, label in wrong.items())
    assert truth_sidecar(out) == TRUTH


def test_nominal_and_realised_active_noise_differ_where_wrong_answers_are_too_few(tmp_path):
    able = INDICES_OF_POOL[:12]
    answers = {index: ("wrong" if index in able else TRUTH[index],) for index in INDICES_OF_POOL}
    info = supervision(actively_noisy(tmp_path, answers))
    assert (info["noisy"], info["noise_ratio"]) == (12, {"nominal": 0.5, "realised": 12 / 40})
    assert 8 <= info["noise_without_candidate"] <= 20  # of the 20 in the nominal mask at most 12 are able


def test_active_noise_needs_a_probe_of_this_pool(tmp_path):
    with pytest.raises(DataError, match="found no probe"):
        run(tmp_path / "a", noise_kind="active_fixed", noise_ratio=0.5)
    with pytest.raises(DataError, match="the probe is of another pool: found no answer to index 3 and 39 more"):
        actively_noisy(tmp_path / "b", {5: ("1",)})


def test_redrawn_noise_writes_a_sentinel_and_no_truth(tmp_path):
    out = run(tmp_path, label_ratio=1.0, noise_kind="active_redraw", noise_ratio=0.25)
    labels = training_labels(out)
    assert sum(label == REDRAWN for label in labels.values()) == 10
    assert all(label in (REDRAWN, TRUTH[index]) for index, label in labels.items())


def test_a_paired_set_holds_each_question_beside_its_paraphrase(tmp_path):
    rows = training_rows(run(tmp_path, rows="paired", noise_kind="inactive", noise_ratio=0.5))
    assert len(rows) == 2 * 36
    for question, other in zip(rows[::2], rows[1::2], strict=True):
        assert question["extra_info"]["pair"] == other["extra_info"]["index"]
        assert other["extra_info"]["pair"] == question["extra_info"]["index"]
        text = question["prompt"][0]["content"]
        assert other["prompt"][0]["content"] == f"0+{text.removesuffix('+0?')}?"
        assert other["extra_info"]["index"] == content_index(other["prompt"][0]["content"])
        assert question["reward_model"] == other["reward_model"]
        assert question["extra_info"]["labeled"] == other["extra_info"]["labeled"]


def test_a_paraphrase_has_the_truth_of_its_question_in_the_sidecar(tmp_path):
    out = run(tmp_path, rows="paired")
    truth = truth_sidecar(out)
    assert list(truth) == [row["extra_info"]["index"] for row in training_rows(out)]
    for row in training_rows(out)[1::2]:
        assert truth[row["extra_info"]["index"]] == TRUTH[row["extra_info"]["pair"]]


def test_questions_without_a_paraphrase_are_left_out_of_a_paired_set_and_counted(tmp_path):
    out = run(tmp_path, rows="paired", label_ratio=1.0)
    info = supervision(out)
    assert info["without_paraphrase"] == 4  # questions 0, 10, 20 and 30
    assert (info["rows"], info["labelled_rows"], info["labelled"]) == (72, 72, 40)
    assert not {INDICES_OF_POOL[i] for i in (0, 10, 20, 30)} & training_labels(out).keys()


def test_a_pool_without_paraphrases_cannot_be_paired(tmp_path):
    with pytest.raises(DataError, match="no paraphrase to train on: found none for 40 questions"):
        run(tmp_path, pool=[row | {"paraphrase": ""} for row in POOL_ROWS], rows="paired")


def test_rows_of_an_unpaired_set_have_no_pair(tmp_path):
    assert {row["extra_info"]["pair"] for row in training_rows(run(tmp_path))} == {-1}
