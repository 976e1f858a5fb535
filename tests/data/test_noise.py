"""Corrupted labels: exact and nested masks, and wrong answers that the base policy gives."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.noise import NO_CORRECT_ANSWER, REDRAWN, corrupt, draw_answer, wrong_answers_of
from benchmark.errors import DataError
from benchmark.suite.spec import NoiseKind

# index -> how many wrong answers the base policy gave
CANDIDATES = st.dictionaries(st.integers(0, 2**63 - 1), st.integers(0, 3), min_size=1, max_size=120)
RATIOS = st.floats(0, 1)
SEEDS = st.integers(0, 1000)


def actively(candidates, ratio, seed):
    labels = dict.fromkeys(candidates, "right")
    wrong = {index: [f"wrong {n}" for n in range(count)] for index, count in candidates.items()}
    return corrupt(labels, NoiseKind.ACTIVE_FIXED, ratio, seed, wrong)


@given(CANDIDATES, RATIOS, RATIOS, SEEDS)
def test_active_masks_are_nested_and_as_large_as_wrong_answers_allow(candidates, one, two, seed):
    small, large = (actively(candidates, ratio, seed) for ratio in sorted((one, two)))
    assert small.noisy <= large.noisy
    able = sum(count > 0 for count in candidates.values())
    assert len(large.noisy) == min(round(max(one, two) * len(candidates)), able)
    assert {i for i, label in large.labels.items() if label != "right"} == large.noisy
    assert all(large.labels[index] == small.labels[index] for index in small.noisy)


@given(CANDIDATES, RATIOS, SEEDS, st.randoms())
def test_active_noise_does_not_depend_on_the_order_of_rows(candidates, ratio, seed, rng):
    shuffled = dict(rng.sample(list(candidates.items()), len(candidates)))
    assert actively(shuffled, ratio, seed) == actively(candidates, ratio, seed)


def test_all_kinds_share_one_mask():
    labels = dict.fromkeys(range(200), "right")
    wrong = {index: ["wrong"] for index in labels}
    kinds = (NoiseKind.INACTIVE, NoiseKind.ACTIVE_FIXED, NoiseKind.ACTIVE_REDRAW)
    inactive, fixed, redraw = (corrupt(labels, kind, 0.3, 1, wrong) for kind in kinds)
    assert len(inactive.noisy) == 60
    assert inactive.noisy == fixed.noisy == redraw.noisy
    assert [{found.labels[i] for i in found.noisy} for found in (inactive, fixed, redraw)] == [
        {NO_CORRECT_ANSWER},
        {"wrong"},
        {REDRAWN},
    ]


def test_a_row_without_a_wrong_answer_leaves_its_place_to_the_next_in_the_nested_order():
    labels = dict.fromkeys(range(10), "right")
    everyone = {index: ["wrong"] for index in labels}
    order = []  # by growing ratios: the nested order itself
    for count in range(1, 11):
        order += corrupt(labels, NoiseKind.ACTIVE_FIXED, count / 10, 0, everyone).noisy - set(order)
    able = {**everyone, order[1]: []}
    found = corrupt(labels, NoiseKind.ACTIVE_FIXED, 0.3, 0, able)
    assert found.noisy == {order[0], order[2], order[3]}
    assert found.without_candidate == 1


def test_too_few_wrong_answers_lower_the_realised_number_and_are_counted():
    labels = dict.fromkeys(range(10), "right")
    found = corrupt(labels, NoiseKind.ACTIVE_FIXED, 0.8, 0, {3: ["wrong"], 7: ["wrong"]})
    assert found.noisy == {3, 7}
    assert 6 <= found.without_candidate <= 8  # of the 8 in the nominal mask at most two are 3 and 7


def test_a_wrong_answer_is_drawn_with_the_frequency_of_its_value():
    given_answers = ["0.5", "1/2", "\\frac{1}{2}", "7"]  # three spellings of a half
    drawn = Counter(draw_answer(given_answers, 0, index) for index in range(4000))
    assert set(drawn) == {"0.5", "7"}  # of spellings that are equally frequent, the first by text
    assert 2890 < drawn["0.5"] < 3110  # 3000 expected, standard deviation 27


@given(st.permutations(["3", "3", "4", "5", "5", "5"]), SEEDS, st.integers(0, 2**63 - 1))
def test_the_draw_ignores_the_order_of_the_answers_and_repeats(answers, seed, index):
    assert draw_answer(answers, seed, index) == draw_answer(["3", "3", "4", "5", "5", "5"], seed, index)


def test_a_wrong_answer_differs_in_value_from_the_truth():
    answers = {1: ("0.5", "\\frac12", None, "", "  ", "2"), 2: ("1/2",), 3: ("9",)}
    assert wrong_answers_of({1: "1/2", 2: "0.50"}, answers) == {1: ["2"], 2: []}


def test_active_noise_without_a_probe_is_refused():
    with pytest.raises(DataError, match="found no probe, allowed one of the pool"):
        corrupt({1: "1"}, NoiseKind.ACTIVE_FIXED, 0.5, 0)
