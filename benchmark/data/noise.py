"""How labels are corrupted: which labelled rows, and what they say instead of the truth.

Masks are nested across noise ratios and exact in size, where published noise files draw each row on its own (OLR's
nominal 50% is 387 of 800).
"""

from collections.abc import Mapping

from benchmark.data.labels import lowest_share
from benchmark.errors import DataError
from benchmark.suite.spec import NoiseKind

NO_CORRECT_ANSWER = "__no_correct_answer__"
"""The inactive wrong label: a text that no response is graded equal to."""


def corrupt(labels: Mapping[int, str], kind: NoiseKind, ratio: float, seed: int) -> dict[int, str]:
    """Return the labels (index -> answer) with exactly round(ratio * N) of N corrupted.

    Raises DataError for a ratio outside [0, 1], or above 0 without a kind of noise.
    """
    if kind is NoiseKind.NONE:
        if ratio:
            raise DataError(f"noise ratio without a kind of noise: found {ratio}, allowed 0; fix: set noise_kind")
        return dict(labels)
    noisy = lowest_share("noise", list(labels), ratio, seed)
    return {index: NO_CORRECT_ANSWER if index in noisy else answer for index, answer in labels.items()}
