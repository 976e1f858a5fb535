import json

from benchmark.training.results import merge_metrics


def write(path, entries, tail=""):
    path.write_text("".join(json.dumps({"step": s, "data": d}) + "\n" for s, d in entries) + tail)
    return path


def as_dict(table):
    return {(row["step"], row["key"]): row["value"] for row in table.to_pylist()}


def test_a_resumed_attempt_overrides_the_steps_that_it_ran_again_and_keeps_the_others(tmp_path):
    first = write(tmp_path / "metrics-001.jsonl", [(1, {"a": 1.0}), (2, {"a": 2.0, "b": 5.0}), (3, {"a": 3.0})])
    second = write(tmp_path / "metrics-002.jsonl", [(2, {"a": 20.0}), (3, {"a": 30.0})])
    merged = as_dict(merge_metrics([first, second]))
    assert merged == {(1, "a"): 1.0, (2, "a"): 20.0, (2, "b"): 5.0, (3, "a"): 30.0}


def test_a_line_torn_by_a_kill_is_dropped(tmp_path):
    path = write(tmp_path / "metrics-001.jsonl", [(1, {"a": 1.0})], tail='{"step": 2, "da')
    assert as_dict(merge_metrics([path])) == {(1, "a"): 1.0}


def test_what_is_not_a_finite_number_is_absent_and_not_zero(tmp_path):
    path = write(tmp_path / "metrics-001.jsonl", [(1, {"a": None, "b": float("nan"), "c": "text", "d": 0.0})])
    assert as_dict(merge_metrics([path])) == {(1, "d"): 0.0}
