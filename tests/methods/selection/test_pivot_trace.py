"""PivotTrace: the change signal and the pivots by hand, and what counts as uncertain."""

import numpy as np
import pytest
from probed_pool import ask, score

from benchmark.errors import DataError, SuiteError
from methods.selection import build_scorer
from methods.selection.pivot_trace import count_pivots, scaled, signal_changes, smoothed

WINDOW = 4


def trace(length, spikes, height=1.0):
    """Draw a signal that is 0 but for spikes; inside the window it is high, which must not matter."""
    signal = np.zeros(length, dtype=np.float32)
    signal[:WINDOW] = 100.0
    signal[list(spikes)] = height
    return signal


def traced(index, *signals, truncated=None):
    lengths = [len(signal) for signal in signals]
    return ask(index, ["1"] * len(signals), lengths, truncated, attention=signals, attention_window=WINDOW)


def test_changes_compare_the_signal_with_its_average_of_the_tokens_before():
    # two tokens of window are left out; span 3 is a rate of 1/2, so the average of 0, 1, 1 runs 0, .5, .75
    changes = signal_changes(np.array([9.0, 9.0, 0.0, 1.0, 1.0, 0.0]), window=2, smoothing=1, ema=3)
    np.testing.assert_allclose(changes, [1 - 0, 1 - 0.5, 0 - 0.75])


def test_smoothing_is_centred_and_narrower_at_the_ends():
    np.testing.assert_allclose(smoothed(np.array([0.0, 3.0, 6.0, 0.0]), 3), [1.5, 3.0, 3.0, 3.0])
    np.testing.assert_allclose(smoothed(np.array([1.0, 2.0]), 1), [1.0, 2.0])


def test_a_response_within_the_window_has_no_change():
    for length in range(4):
        assert signal_changes(np.ones(length), window=2, smoothing=1, ema=3).size == 0


def test_pivots_are_local_maxima_above_the_threshold():
    change = np.array([0, 1, 0.5, 2, 0, 3, 0])
    assert count_pivots(change, 0.9, separation=1) == 3
    assert count_pivots(change, 1.0, separation=1) == 2  # one that equals the threshold is none
    assert count_pivots(change, 5.0, separation=1) == 0
    assert count_pivots(np.zeros(7), 0.0, separation=1) == 0


def test_of_two_near_pivots_the_higher_one_counts():
    change = np.array([0, 1, 0.5, 2, 0, 3, 0])
    assert count_pivots(change, 0.9, separation=4) == 2  # 3 at 5 silences 2 at 3, and 1 at 1 is four away
    assert count_pivots(change, 0.9, separation=5) == 1


def test_lengths_scale_with_the_window_of_the_probe():
    assert [scaled(length, 32) for length in (5, 32, 16)] == [5, 32, 16]
    assert [scaled(length, 4) for length in (5, 32, 16)] == [1, 4, 2]


def test_the_score_is_pivots_per_thousand_tokens_so_length_alone_changes_nothing():
    pool = [traced(1, trace(24, [8])), traced(2, trace(48, [8, 20])), traced(3, trace(24, [8, 20]))]
    assert score("pivot_trace", pool, quantile=0.5).tolist() == [1000 / 24, 2000 / 48, 2000 / 24]
    assert score("pivot_trace", pool, quantile=0.5, density=False).tolist() == [1, 2, 2]


def test_the_threshold_is_one_number_for_the_pool():
    pool = [traced(1, trace(24, [8], height=0.1)), traced(2, trace(24, [8], height=1.0))]
    # of 38 changes the two spikes are the largest: the quantile .98, at place 36.26, lies between .1 and 1
    assert score("pivot_trace", pool, quantile=0.98, density=False).tolist() == [0, 1]


def test_truncated_and_empty_responses_take_the_largest_score_of_the_pool():
    pool = [
        traced(1, trace(24, [])),
        traced(2, trace(24, [8])),
        traced(3, trace(24, []), truncated=[True]),
        ask(4, [None], [0], attention=(np.empty(0),), attention_window=4),
    ]
    largest = 1000 / 24
    assert score("pivot_trace", pool, quantile=0.5).tolist() == [0, largest, largest, largest]
    assert score("pivot_trace", pool, quantile=0.5, truncated_is_uncertain=False).tolist() == [0, largest, 0, largest]


def test_one_response_is_traced_unless_more_are_asked_for():
    pool = [traced(1, trace(24, []), trace(24, [8])), traced(2, trace(24, [8]), trace(24, [8]))]
    assert score("pivot_trace", pool, quantile=0.5, density=False).tolist() == [0, 1]
    assert score("pivot_trace", pool, quantile=0.5, density=False, traces=0).tolist() == [0.5, 1]


def test_a_pool_that_never_outlasts_the_window_is_refused():
    with pytest.raises(DataError, match="found at most 5 tokens, allowed 6 or more"):
        score("pivot_trace", [traced(1, trace(5, []))])


@pytest.mark.parametrize(("option", "value"), [("quantile", 1.0), ("smoothing", 0), ("traces", -1)])
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(SuiteError, match="refuses its options"):
        build_scorer("pivot_trace", {option: value})
