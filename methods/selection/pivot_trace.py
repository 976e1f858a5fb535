"""PivotTrace: the density of pivots in a response's long-range attention (RECONSTRUCTION).

Published (DE-Venus, sections 2.2 and 4.3): metacognitive pivots are pivotal changes of long-range attention along the
generated trajectory, their density is the uncertainty, and one response per question is enough. Not published: the
signal, the threshold, every constant. Here, for the signal g_t (attention mass of token t on response tokens at least
`window` back, averaged over long-range heads; the probe measures it):

    smooth g over `smoothing` tokens, change_t = g_t - EMA_{t-1}(g) with span `ema`,
    pivot = local maximum of the change above the pool's `quantile`, `separation` tokens apart,
    uncertainty = pivots per 1000 tokens.

The threshold is one number for the pool, taken from a calibration sample: a threshold per response would make every
response have about as many pivots as it is long. The first `window` tokens have no signal and are left out.

Every length is stated for a window of 32 tokens and scales with the window that the probe used, which a model that
answers in tens of tokens needs to be shorter: with a window of 4, the lengths 5, 32 and 16 become 1, 4 and 2. So
nobody has to keep two settings in step. A pool in which no response outlasts the window is refused: its scores would
be a constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError
from methods.base import SourceConfidence
from methods.groups import EvidenceKind
from methods.selection.base import ProbedQuestion, Reveal, Scorer, mean_over_responses
from methods.selection.random_order import seeded_uniform

REFERENCE_WINDOW = 32
"""The window, in tokens, for which the options state their lengths."""


@dataclass(frozen=True, slots=True)
class PivotTraceOptions:
    """Options of PivotTrace; lengths in tokens, for a window of 32."""

    smoothing: int = 5  # width of the centred moving average
    ema: int = 32  # span of the exponential average that a change is measured against
    separation: int = 16  # least distance of two pivots
    quantile: float = 0.95  # of the changes in the calibration sample: the threshold
    calibration: int = 256  # questions in the calibration sample
    density: bool = True  # pivots per 1000 tokens instead of their number
    truncated_is_uncertain: bool = True  # a truncated response takes the largest score of the pool
    traces: int = 1  # responses per question that are traced, 0 = all

    def __post_init__(self) -> None:
        if min(self.smoothing, self.ema, self.separation, self.calibration) < 1 or self.traces < 0:
            raise ValueError(
                "smoothing, ema, separation, calibration, traces: found one too small, allowed 1 or more (traces: 0)"
            )
        if not 0 < self.quantile < 1:
            raise ValueError(f"quantile: found {self.quantile}, allowed between 0 and 1")


class PivotTrace(Scorer):
    """Pivots of long-range attention per 1000 tokens."""

    name = "pivot_trace"
    summary = "density of pivots in long-range attention"
    paper = "2609.03324"
    confidence = SourceConfidence.RECONSTRUCTION
    evidence = frozenset({EvidenceKind.ATTENTION})
    Options = PivotTraceOptions

    def score(self, questions: Sequence[ProbedQuestion], reveal: Reveal) -> NDArray[np.float64]:
        """Count pivots above the pool's threshold; raises DataError where no response outlasts the window."""
        changes = [self._changes(asked) for asked in questions]
        threshold = self._threshold(questions, changes)
        return mean_over_responses(
            np.array(
                [
                    [self._uncertainty(asked, n, change, threshold) for n, change in enumerate(traced)]
                    for asked, traced in zip(questions, changes, strict=True)
                ]
            )
        )

    def _changes(self, asked: ProbedQuestion) -> list[NDArray[np.float64]]:
        assert asked.attention is not None
        smoothing, ema = (
            scaled(length, asked.attention_window) for length in (self.options.smoothing, self.options.ema)
        )
        return [
            signal_changes(signal, asked.attention_window, smoothing, ema)
            for signal in asked.attention[: self.options.traces or None]
        ]

    def _threshold(self, questions: Sequence[ProbedQuestion], changes: list[list[NDArray[np.float64]]]) -> float:
        usable = [i for i, traced in enumerate(changes) if any(change.size for change in traced)]
        if not usable:
            longest = max(int(asked.lengths.max()) for asked in questions)
            raise DataError(
                f"scorer {self.name!r}: no response outlasts the attention window: found at most {longest} tokens, "
                f"allowed {questions[0].attention_window + 2} or more; fix: probe with a shorter attention window"
            )
        drawn = sorted(usable, key=lambda i: seeded_uniform("calibrate", self.seed, questions[i].index))
        sample = [change for i in drawn[: self.options.calibration] for change in changes[i]]
        return float(np.quantile(np.concatenate(sample), self.options.quantile))

    def _uncertainty(self, asked: ProbedQuestion, sample: int, change: NDArray[np.float64], threshold: float) -> float:
        length = int(asked.lengths[sample])
        if length == 0 or (self.options.truncated_is_uncertain and asked.truncated[sample]):
            return float("nan")
        pivots = count_pivots(change, threshold, scaled(self.options.separation, asked.attention_window))
        return 1000.0 * pivots / length if self.options.density else float(pivots)


def scaled(length: int, window: int) -> int:
    """Scale a length that is stated for the reference window to another window, to 1 token at least."""
    return max(1, round(length * window / REFERENCE_WINDOW))


def signal_changes(signal: NDArray[np.floating], window: int, smoothing: int, ema: int) -> NDArray[np.float64]:
    """Return how much the smoothed signal exceeds its exponential average of the tokens before.

    The first `window` tokens of [T] are undefined and the next one starts the average: [max(0, T - window - 1)].
    """
    from scipy.signal import lfilter

    defined = np.asarray(signal, dtype=np.float64)[window:]
    if len(defined) < 2:
        return np.empty(0)
    smooth = smoothed(defined, smoothing)
    rate = 2.0 / (ema + 1)
    average, _ = lfilter([rate], [1.0, rate - 1.0], smooth, zi=[(1.0 - rate) * smooth[0]])
    return np.asarray(smooth[1:] - average[:-1], dtype=np.float64)


def smoothed(signal: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the centred moving average of [T] over `width` values, over fewer at the ends."""
    before, after = (width - 1) // 2, width // 2
    sums = np.concatenate([[0.0], np.cumsum(signal)])
    at = np.arange(len(signal))
    first, last = np.maximum(at - before, 0), np.minimum(at + after + 1, len(signal))
    return np.asarray((sums[last] - sums[first]) / (last - first), dtype=np.float64)


def count_pivots(change: NDArray[np.float64], threshold: float, separation: int) -> int:
    """Count local maxima above the threshold; of two that are nearer than `separation` the higher one counts."""
    from scipy.signal import find_peaks

    peaks, _ = find_peaks(change, height=np.nextafter(threshold, np.inf), distance=separation)
    return len(peaks)
