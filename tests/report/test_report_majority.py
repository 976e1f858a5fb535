"""maj@k against counting every subset of the responses."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.report.majority import majority_at_k, majority_of


def by_counting(right, wrong, silent, k):
    responses = ["right"] * right + [f"wrong {i}" for i, votes in enumerate(wrong) for _ in range(votes)]
    responses += [None] * silent
    worth = []
    for chosen in combinations(responses, k):
        votes = Counter(answer for answer in chosen if answer)
        leaders = [answer for answer in votes if votes[answer] == max(votes.values())]
        worth.append(("right" in leaders) / len(leaders) if leaders else 0.0)
    return sum(worth) / len(worth)


@given(st.integers(0, 4), st.lists(st.integers(1, 3), max_size=3), st.integers(0, 2), st.data())
def test_it_is_the_mean_over_all_subsets(right, wrong, silent, data):
    total = right + sum(wrong) + silent
    if total:
        k = data.draw(st.integers(1, total))
        assert majority_at_k(right, wrong, silent, k) == pytest.approx(by_counting(right, wrong, silent, k), abs=1e-12)


def test_with_one_response_it_is_the_accuracy():
    assert majority_at_k(3, [2, 2], 1, 1) == pytest.approx(3 / 8)


def test_of_all_responses_it_is_one_vote_with_ties_split():
    assert majority_at_k(4, [3, 1], 0, 8) == 1
    assert majority_at_k(3, [4, 1], 0, 8) == 0
    assert majority_at_k(3, [3, 3], 7, 16) == pytest.approx(1 / 3)


def test_a_response_without_an_answer_never_wins():
    assert majority_at_k(1, [], 31, 32) == 1
    assert majority_at_k(0, [], 8, 4) == 0
    assert majority_at_k(1, [], 1, 1) == 0.5


def test_a_plurality_grows_into_a_majority_with_k():
    values = [majority_at_k(12, [10, 10], 0, k) for k in (1, 4, 16, 32)]
    assert values[0] == pytest.approx(12 / 32)
    assert values == sorted(values)
    assert values[-1] == 1


def test_it_needs_k_responses():
    assert np.isnan(majority_at_k(2, [1], 0, 4))


def test_32_different_answers_are_no_numerical_problem():
    assert majority_at_k(1, [1] * 31, 0, 16) == pytest.approx(1 / 32)  # drawn with 1/2, then one of 16 that tie


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), max_size=4).map(
        lambda found: [(votes, min(right, votes)) for votes, right in found]
    ),
    st.integers(0, 2),
    st.data(),
)
def test_clusters_of_mixed_verdicts_are_right_with_their_share(clusters, silent, data):
    responses = [(name, place < right) for name, (votes, right) in enumerate(clusters) for place in range(votes)]
    responses += [(None, False)] * silent
    if not responses:
        return
    k = data.draw(st.integers(1, len(responses)))
    worth = []
    for chosen in combinations(responses, k):
        votes = Counter(name for name, _ in chosen if name is not None)
        leaders = [name for name in votes if votes[name] == max(votes.values())]
        shares = [clusters[name][1] / clusters[name][0] for name in leaders]
        worth.append(sum(shares) / len(shares) if shares else 0.0)
    assert majority_of(clusters, silent, k) == pytest.approx(sum(worth) / len(worth), abs=1e-12)
