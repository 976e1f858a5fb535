"""The select stage: from the files of a probe to routes, thresholds and what the labels cost.

The probe answers question 10 right 8 times of 8, question 11 right 7 times, ... and question 17 once; no two wrong
answers agree. So consistency ranks 17, 16, .., 10.
"""

import json
import random

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmark import artifacts
from benchmark.data import select
from benchmark.data.probed import read_probe
from benchmark.data.schema import read_rows, write_json, write_rows
from benchmark.errors import DataError, SuiteError
from benchmark.stage import StageJob, StageKind
from methods.groups import EvidenceKind

SAMPLES = 8
RIGHT = {index: 18 - index for index in range(10, 18)}
POOL = [
    {"index": index, "question": f"{index}+0?", "answer": "1", "family": "add", "level": 0, "paraphrase": ""}
    for index in RIGHT
]
PROBE = [
    {
        "index": index,
        "sample": sample,
        "response": "...",
        "answer": "1" if sample < right else f"wrong {sample}",
        "finish_reason": "stop",
        "response_tokens": right,
        "entropy": None,
        "self_certainty": None,
        "attention": None,
        "hidden_states": None,
    }
    for index, right in RIGHT.items()
    for sample in range(SAMPLES)
]


def write_inputs(folder, pool=POOL, probe=PROBE, **info):
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / artifacts.POOL, pool, artifacts.POOL_SCHEMA)
    write_rows(folder / artifacts.PROBE, probe, artifacts.PROBE_SCHEMA)
    write_json(folder / artifacts.PROBE_INFO, {"samples": SAMPLES, "layers": 0, "width": 0} | info)
    return folder


def run(folder, pool=POOL, probe=PROBE, info=None, **changes):
    source, out = write_inputs(folder / "in", pool, probe, **info or {}), folder / "out"
    out.mkdir()
    params = {"scorer": "consistency", "options": {}, "mode": "budget", "annotate": 0.25, "discard": 0.25, "seed": 0}
    inputs = {"pool": source, "probe": source}
    select.run(StageJob(StageKind.SELECT, "k", params | changes, inputs, out, out, 0, {}))
    rows = read_rows(out / artifacts.SELECTION, artifacts.SELECTION_SCHEMA)
    return rows, json.loads((out / artifacts.SELECTION_INFO).read_text())


def routes(rows):
    return {row["index"]: row["route"][0] for row in rows}


def test_a_budget_annotates_the_least_certain_and_discards_the_most_certain(tmp_path):
    rows, info = run(tmp_path)
    assert [row["index"] for row in rows] == [17, 16, 15, 14, 13, 12, 11, 10]
    assert [row["rank"] for row in rows] == list(range(8))
    assert [row["score"] for row in rows] == [1 - n / 8 for n in range(1, 9)]
    assert "".join(routes(rows).values()) == "aauuuudd"
    assert not any(row["probed"] for row in rows)
    assert info["routes"] == {"annotate": 2, "unlabelled": 4, "discard": 2}
    assert info["label_cost"] == {"annotate": 2, "probes": 0, "scoring": 0}
    assert info["thresholds"] == {
        "annotate_below_rank": 2,
        "discard_from_rank": 6,
        "annotate_from_score": 0.75,
        "discard_to_score": 0.125,
    }
    assert (info["scorer"], info["mode"], info["spearman"], info["warnings"]) == ("consistency", "budget", None, [])


def test_the_correlation_of_score_and_length_is_reported(tmp_path):
    assert run(tmp_path)[1]["length_correlation"] == pytest.approx(-1)  # a response has as many tokens as rights
    same = [row | {"response_tokens": 3} for row in PROBE]
    assert run(tmp_path / "same", probe=same)[1]["length_correlation"] is None


def test_a_calibration_buys_half_of_a_small_pool_and_cuts_where_correctness_says(tmp_path):
    rows, info = run(tmp_path, mode="calibrated")
    # Four probes at ranks 1, 3, 5, 7 are questions 16, 14, 12, 10, right at .25, .5, .75 and 1; a window is one probe.
    assert [row["index"] for row in rows if row["probed"]] == [16, 14, 12, 10]
    # so correctness by rank is .25 .25 .375 .5 .625 .75 .875 1: up to .5 is annotated, from .9 on discarded
    assert "".join(routes(rows).values()) == "aaaauuud"
    assert info["spearman"] == pytest.approx(-1)
    # annotated are 17, 16, 15, 14; of the probes 16 and 14 are among them
    assert info["label_cost"] == {"annotate": 4, "probes": 2, "scoring": 0}


def test_a_label_that_was_bought_to_score_and_again_to_annotate_counts_once(tmp_path):
    _, info = run(tmp_path, scorer="difficulty")
    assert info["label_cost"] == {"annotate": 2, "probes": 0, "scoring": 6}
    _, info = run(tmp_path / "calibrated", scorer="difficulty", mode="calibrated")
    assert sum(info["label_cost"].values()) == len(POOL)


def test_a_calibration_that_fails_routes_at_random_in_the_shares_of_the_budget(tmp_path):
    hopeless = [row | {"answer": "never"} for row in POOL]
    rows, info = run(tmp_path, pool=hopeless, mode="calibrated")
    assert "calibration failed" in info["warnings"][0]
    assert info["routes"] == {"annotate": 2, "unlabelled": 4, "discard": 2}
    assert (info["thresholds"], info["spearman"]) == (None, None)
    assert sum(row["probed"] for row in rows) == 4
    assert [row["rank"] for row in rows] == list(range(8))


def test_neither_the_order_of_the_probe_nor_of_the_pool_matters(tmp_path):
    rng = random.Random(0)
    first = run(tmp_path / "a", mode="calibrated")
    second = run(
        tmp_path / "b", pool=rng.sample(POOL, len(POOL)), probe=rng.sample(PROBE, len(PROBE)), mode="calibrated"
    )
    assert first == second


def test_the_seed_of_the_cell_is_that_of_a_random_selection(tmp_path):
    chosen = [routes(run(tmp_path / str(seed), scorer="random", seed=seed)[0]) for seed in range(4)]
    assert any(one != chosen[0] for one in chosen[1:])
    assert routes(run(tmp_path / "again", scorer="random", seed=0)[0]) == chosen[0]


def test_evidence_per_token_is_averaged_over_each_response(tmp_path):
    probe = [row | {"entropy": [0.5] * row["response_tokens"] + [float(row["sample"])]} for row in PROBE]
    probe = [row | {"response_tokens": len(row["entropy"])} for row in probe]
    rows, _ = run(tmp_path, probe=probe, scorer="entropy")
    # samples 0..7 add one token of entropy 0..7 to n tokens of .5: the mean over samples is (.5 n + 3.5) / (n + 1)
    wanted = {index: (0.5 * right + 3.5) / (right + 1) for index, right in RIGHT.items()}
    assert {row["index"]: row["score"] for row in rows} == pytest.approx(wanted)


def test_hidden_states_are_read_by_layer(tmp_path):
    path = [
        1,
        0,
        3**0.5,
        1,
        0,
        2,
    ]  # three rows of two; CoE-R .224333, see tests/methods/selection/test_embedding_chain.py
    still = [1] * 6  # CoE-R 0
    probe = [row | {"hidden_states": still if row["index"] > 13 else path} for row in PROBE]
    rows, _ = run(tmp_path, probe=probe, info={"layers": 3, "width": 2}, scorer="coe_r")
    wanted = {index: 0 if index > 13 else -0.224333 for index in RIGHT}
    assert {row["index"]: row["score"] for row in rows} == pytest.approx(wanted, abs=1e-5)


def test_hidden_states_that_do_not_split_into_layers_are_refused(tmp_path):
    probe = [row | {"hidden_states": [1.0] * 5} for row in PROBE]
    for layers in (0, 3):
        with pytest.raises(DataError, match=f"no multiple of {layers} layers"):
            run(tmp_path / str(layers), probe=probe, info={"layers": layers}, scorer="coe_r")


def test_the_window_of_the_attention_signal_comes_from_the_probe(tmp_path):
    def spiked(row):
        signal = np.zeros(24)
        signal[8 : 8 + 4 * (row["index"] - 10) : 4] = 1  # no spike in question 10, one in question 11, ...
        return row | {"attention": signal.tolist(), "response_tokens": 24}

    probe = [spiked(row) for row in PROBE if row["index"] < 14]
    pool = [row for row in POOL if row["index"] < 14]
    options = {"quantile": 0.8, "density": False}
    rows, _ = run(tmp_path / "a", pool, probe, {"attention_window": 4}, scorer="pivot_trace", options=options)
    assert {row["index"]: row["score"] for row in rows} == {10: 0, 11: 1, 12: 2, 13: 3}
    with pytest.raises(DataError, match="found at most 24 tokens, allowed 34 or more"):
        run(tmp_path / "b", pool, probe, scorer="pivot_trace", options=options)


def test_a_probe_without_the_evidence_of_the_scorer_is_refused(tmp_path):
    with pytest.raises(DataError, match="needs evidence 'entropy': found none for item 10"):
        run(tmp_path, scorer="entropy")


def test_evidence_that_was_not_asked_for_is_not_read(tmp_path):
    probe = [row | {"entropy": [0.5], "attention": [0.1]} for row in PROBE]
    source = write_inputs(tmp_path, probe=probe)
    (question, *_) = read_probe(source, {EvidenceKind.ENTROPY})
    assert question.attention is None
    assert [values.tolist() for values in question.entropy] == [[0.5]] * SAMPLES


def test_a_probe_in_several_row_groups_is_read_as_one(tmp_path):
    probe = [row | {"entropy": [float(row["sample"])] * row["response_tokens"]} for row in PROBE]
    source = write_inputs(tmp_path, probe=probe)
    table = pq.read_table(source / artifacts.PROBE)
    pq.write_table(table, source / artifacts.PROBE, row_group_size=5)
    for question in read_probe(source, {EvidenceKind.ENTROPY}):
        wanted = [[float(sample)] * RIGHT[question.index] for sample in range(SAMPLES)]
        assert [values.tolist() for values in question.entropy] == wanted


def test_truncation_and_missing_answers_are_read_from_the_probe(tmp_path):
    probe = [row | {"finish_reason": "length", "answer": None} if row["sample"] == 3 else row for row in PROBE]
    questions = read_probe(write_inputs(tmp_path, probe=probe))
    assert [question.index for question in questions] == list(RIGHT)
    assert questions[0].truncated.tolist() == [False] * 3 + [True] + [False] * 4
    assert questions[0].answers == ("1", "1", "1", None, "1", "1", "1", "1")


def test_a_probe_of_another_pool_is_refused(tmp_path):
    with pytest.raises(DataError, match="found 0 questions that the pool lacks and 1 of the pool unprobed"):
        run(tmp_path / "a", probe=PROBE[SAMPLES:])
    with pytest.raises(DataError, match="found 2 questions that the pool lacks and 0"):
        run(tmp_path / "b", pool=POOL[2:])


def test_parameters_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(DataError, match="mode of selection: found 'both', allowed budget or calibrated"):
        run(tmp_path / "a", mode="both")
    with pytest.raises(SuiteError, match=r"found annotate 0\.9 and discard 0\.2"):
        run(tmp_path / "b", annotate=0.9, discard=0.2)


def test_a_missing_probe_is_refused(tmp_path):
    (write_inputs(tmp_path) / artifacts.PROBE).unlink()
    with pytest.raises(DataError, match="no such file"):
        read_probe(tmp_path)
