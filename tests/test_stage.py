import json

import pytest

from benchmark.stage import Stage, StageKind, canonical_json, digest


def test_the_key_is_the_hash_of_the_canonical_description():
    pool = Stage(StageKind.POOL, 1, canonical_json({"source": "micro", "pool": 192}), ())
    stage = Stage(StageKind.SUPERVISE, 3, canonical_json({"seed": 0, "label_ratio": 0.1}), (("pool", pool.key),))
    described = {
        "stage": "supervise",
        "version": 3,
        "params": json.loads(stage.params),
        "inputs": {"pool": pool.key},
    }
    assert stage.key == digest(described)


def test_a_key_changes_with_kind_version_parameters_and_inputs_and_with_nothing_else():
    one = Stage(StageKind.GRADE, 1, canonical_json({"a": 1, "b": 2}), (("samples", "x"),))
    same = Stage(StageKind.GRADE, 1, canonical_json({"b": 2, "a": 1}), (("samples", "x"),))
    assert one.key == same.key
    others = [
        Stage(StageKind.RECORD, 1, one.params, one.inputs),
        Stage(StageKind.GRADE, 2, one.params, one.inputs),
        Stage(StageKind.GRADE, 1, canonical_json({"a": 1, "b": 3}), one.inputs),
        Stage(StageKind.GRADE, 1, one.params, (("samples", "y"),)),
    ]
    assert len({one.key, *(stage.key for stage in others)}) == 5


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"value": value})
