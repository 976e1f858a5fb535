"""Versions of a record, and the refusal to mix them."""

import pyarrow as pa

from benchmark.report.versions import content_hash, mixed_versions, protocol_version

ITEMS = [
    {"benchmark": "b", "item_id": "1", "prompt": "1 + 1", "gold": "2", "kind": "math"},
    {"benchmark": "b", "item_id": "2", "prompt": "1 + 2", "gold": "3", "kind": "math"},
]


def record(**versions: str) -> dict:
    return {"versions": {"grader": "2", "data": "d1", "protocol": "p1", "engine": "cpu"} | versions}


def test_equal_versions_may_stand_in_one_table():
    assert mixed_versions({"a": record(), "b": record()}) == []
    assert mixed_versions({}) == []


def test_two_graders_are_named_with_where_each_was_found():
    lines = mixed_versions({"grpo, seed 0": record(), "ttrl, seed 1": record(grader="1"), "olr": record()})
    assert lines == ["mixed versions of the grader: found 1 (ttrl, seed 1), 2 (grpo, seed 0), allowed one"]


def test_every_kind_that_differs_has_a_line():
    lines = mixed_versions({"a": record(), "b": record(data="d2", protocol="p2")})
    assert [line.split(":")[0] for line in lines] == [
        "mixed versions of the data",
        "mixed versions of the protocol",
    ]


def test_another_engine_is_told_when_asked_for():
    records = {"a": record(), "b": record(engine="gpu")}
    assert mixed_versions(records) == []
    assert mixed_versions(records, ["engine"]) == ["mixed versions of the engine: found cpu (a), gpu (b), allowed one"]


def test_a_record_that_states_no_version_is_not_mixed_with_one_that_does():
    assert mixed_versions({"old": {"versions": {"grader": "2"}}, "new": record()}) == [
        "mixed versions of the data: found d1 (new), none stated (old), allowed one",
        "mixed versions of the protocol: found none stated (old), p1 (new), allowed one",
    ]


def test_the_content_hash_depends_on_every_answer_and_not_on_the_order():
    whole = content_hash(pa.Table.from_pylist(ITEMS))
    assert whole == content_hash(pa.Table.from_pylist(ITEMS[::-1]))
    assert whole != content_hash(pa.Table.from_pylist([ITEMS[0], ITEMS[1] | {"gold": "4"}]))
    assert whole != content_hash(pa.Table.from_pylist(ITEMS[:1]))


def test_a_protocol_is_its_parameters_without_the_seeds():
    sampling = {"temperature": 0.6, "seed": 1, "samples": {"amc": 32}}
    assert protocol_version(sampling, "de_venus") == protocol_version(sampling | {"seed": 2}, "de_venus")
    assert protocol_version(sampling, "de_venus").startswith("de_venus-")
    assert protocol_version(sampling) != protocol_version(sampling | {"samples": {"amc": 8}})
