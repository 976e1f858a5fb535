"""Performance gap recovered: ratios by hand, and the reasons why there is none."""

import numpy as np
import pytest

from benchmark.errors import DataError
from benchmark.report.gap import GapUndefined, gap_recovered
from benchmark.report.items import ItemScores, item_scores


def policy(
    levels: dict[str, int], *, seeds: int = 5, spread: int = 0, salt: int = 0, wobble: int = 0
) -> dict[int, ItemScores]:
    """Build scores of 16 questions per benchmark with around `levels` of 32 right.

    `spread` adds noise, `wobble` adds and subtracts in turns, which leaves the mean as it is.
    """
    found = {}
    for seed in range(seeds):
        noise = np.random.default_rng((seed, salt)).integers(-spread, spread + 1, 16 * len(levels))
        noise += wobble * (-1) ** np.arange(len(noise))
        correct = np.repeat(list(levels.values()), 16) + noise
        names = np.repeat(list(levels), 16)
        ids = [f"q{i}" for i in range(len(names))]
        found[seed] = item_scores(names, ["id"] * len(ids), ids, np.clip(correct, 0, 32), [32] * len(ids))
    return found


def recovered(arm, floor, ceiling):
    return gap_recovered(arm, floor, ceiling, floor_name="base model", ceiling_name="full supervision")


def test_it_is_a_ratio_of_means_and_not_a_mean_of_ratios():
    arm, floor, ceiling = policy({"a": 20, "b": 10}), policy({"a": 16, "b": 8}), policy({"a": 24, "b": 9}, wobble=1)
    found = recovered(arm, floor, ceiling)
    assert found.value == pytest.approx((4 + 2) / (8 + 1))  # by benchmark it would be (4/8 + 2/1) / 2
    assert found.gap == pytest.approx((8 + 1) / 64)
    assert (found.floor, found.ceiling, found.seeds, found.provisional) == ("base model", "full supervision", 5, False)
    assert found.undefined is None


def test_an_arm_may_beat_the_ceiling_and_fall_below_the_floor():
    floor, ceiling = policy({"a": 16}, spread=1, salt=1), policy({"a": 24}, spread=1, salt=2)
    above = recovered(policy({"a": 28}, spread=1, salt=3), floor, ceiling)
    below = recovered(policy({"a": 12}, spread=1, salt=3), floor, ceiling)
    assert above.value == pytest.approx(1.5, abs=0.05)
    assert below.value == pytest.approx(-0.5, abs=0.05)
    for found in (above, below):
        assert found.low < found.value < found.high


def test_the_ceiling_recovers_all_and_the_floor_nothing():
    floor, ceiling = policy({"a": 16}, spread=2, salt=1), policy({"a": 24}, spread=2, salt=2)
    for arm, share in ((ceiling, 1.0), (floor, 0.0)):
        found = recovered(arm, floor, ceiling)
        assert (found.value, found.low, found.high) == pytest.approx((share, share, share), abs=1e-6)


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_the_ends_of_the_interval_are_where_the_difference_stops_to_include_zero(seeds):
    arm, floor, ceiling = (policy({"a": n}, seeds=seeds, spread=6, salt=n) for n in (20, 16, 24))
    found = recovered(arm, floor, ceiling)
    assert found.low < found.value < found.high
    assert found.provisional is (seeds < 5)
    from benchmark.report.stats import difference_of, paired_accuracy

    part, whole = paired_accuracy(arm, floor), paired_accuracy(ceiling, floor)
    at_low = difference_of(part - found.low * whole, floor[0].benchmark)
    at_high = difference_of(part - found.high * whole, floor[0].benchmark)
    assert at_low.low == pytest.approx(0, abs=1e-6)
    assert at_high.high == pytest.approx(0, abs=1e-6)


def test_an_untrained_floor_stands_beside_every_seed():
    base = policy({"a": 16}, seeds=1)[0]
    found = recovered(policy({"a": 20}), base, policy({"a": 24}, wobble=1))
    assert (found.value, found.seeds) == (pytest.approx(0.5), 5)


def test_a_gap_that_may_be_nothing_has_no_share_and_says_why():
    floor, ceiling = policy({"a": 16}, spread=8, salt=1), policy({"a": 16}, spread=8, salt=2)
    found = recovered(policy({"a": 20}), floor, ceiling)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert found.undefined is GapUndefined.UNRESOLVED
    assert found.reason.startswith("full supervision minus base model is ")
    assert found.reason.endswith("points: the interval includes 0")


def test_a_ceiling_below_the_floor_has_no_share():
    found = recovered(policy({"a": 20}), policy({"a": 24}), policy({"a": 16}, wobble=1))
    assert found.undefined is GapUndefined.REVERSED
    said = "full supervision minus base model is -25.0 [-26.8, -23.2] points"
    assert found.reason == f"{said}: the ceiling is below the floor"


def test_without_a_common_seed_there_is_no_share():
    late = {9: policy({"a": 24})[0]}
    found = recovered(policy({"a": 20}), policy({"a": 16}), late)
    assert found.undefined is GapUndefined.NO_COMMON_SEED
    assert found.reason == "the arm, base model and full supervision have no seed in common"


def test_other_questions_are_refused():
    with pytest.raises(DataError, match="has other questions"):
        recovered(policy({"a": 20}), policy({"a": 16}), policy({"b": 24}))
