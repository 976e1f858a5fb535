import numpy as np
import pytest

from benchmark.training.method_state import load_state, save_state


def test_a_state_is_restored_bit_for_bit(tmp_path):
    rng = np.random.default_rng(0)
    state = {
        "bank": rng.normal(size=(5, 2, 3)).astype(np.float32),
        "empty": np.zeros((0, 4)),
        "histories": {"-12": [0.1 + 0.2, 1 / 3], "7": []},
        "step": 3,
    }
    save_state(tmp_path, state)
    found = load_state(tmp_path)
    assert found.keys() == state.keys()
    assert found["histories"] == state["histories"]
    for key in ("bank", "empty"):
        assert found[key].dtype == state[key].dtype
        assert found[key].shape == state[key].shape
        assert found[key].tobytes() == state[key].tobytes()


def test_a_method_without_state_leaves_an_empty_one(tmp_path):
    save_state(tmp_path, {})
    assert load_state(tmp_path) == {}


def test_a_state_that_is_neither_array_nor_json_is_refused(tmp_path):
    with pytest.raises(TypeError):
        save_state(tmp_path, {"labels": {1, 2}})
    with pytest.raises(ValueError, match="JSON"):
        save_state(tmp_path, {"mean": float("nan")})
