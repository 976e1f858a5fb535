"""Random numbers that belong to a rollout, not to the moment at which they are drawn.

A generator would hand its numbers out by position, so that the order of a batch, a resume or a second caller would
change them. Here a number is a hash of (seed, step, index, rollout) with the finaliser of SplitMix64 (Steele, Lea and
Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; constants of Stafford's variant 13). Not for
cryptography.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))


def uniforms(seed: int, step: int, index: NDArray[np.int64], rollout: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return one number in [0, 1) per rollout, [B, G], for `index` [B] and `rollout` [B, G]."""
    key = split_mix(np.array([seed % 2**64], dtype=np.uint64))
    key = split_mix(key ^ np.array([step % 2**64], dtype=np.uint64))
    keys = split_mix(key ^ index.astype(np.uint64))
    keys = split_mix(keys[:, None] ^ rollout.astype(np.uint64))
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def split_mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the output of SplitMix64 that follows each state."""
    mixed = state + _GAMMA
    for shift, factor in _FACTORS:
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed ^ (mixed >> np.uint64(31))
