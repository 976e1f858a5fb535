"""The state of a method in a checkpoint: arrays in one file, everything else in another.

JSON keeps every float64 exactly, but would take ten times the room and minutes for the feature banks that
some methods keep, so arrays go to NumPy's own format.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.files import write_atomically

STATE = "method_state.json"
ARRAYS = "method_state.npz"


def save_state(folder: Path, state: Mapping[str, Any]) -> None:
    """Write a state: each value is a numpy array or JSON data.

    Raises TypeError or ValueError for a value that is neither, NaN outside of arrays included.
    """
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    rest = {key: value for key, value in state.items() if key not in arrays}
    np.savez(folder / ARRAYS, allow_pickle=False, **arrays)
    write_atomically(folder / STATE, json.dumps(rest, allow_nan=False))


def load_state(folder: Path) -> dict[str, Any]:
    """Read a state back, bit for bit."""
    state: dict[str, Any] = json.loads((folder / STATE).read_text(encoding="utf-8"))
    with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
        return {**state, **{key: arrays[key] for key in arrays.files}}
