import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_majority import majority_correctness

from benchmark.evaluation.equivalence import same
from benchmark.evaluation.voting import Cluster, Vote, vote

ANSWER = st.sampled_from([None, "", "1", "1.0", "2/2", "0.5", r"\frac{1}{2}", "1/2", "x", "$x$", "-3", "−3", "12"])
GROUPS = st.lists(ANSWER, max_size=16)


def test_the_most_frequent_answer_wins_with_its_share_of_all_rollouts():
    assert vote(["4", "5", "4", None]) == Vote("4", 0.5, (Cluster("4", 2), Cluster("5", 1)))


def test_spellings_of_one_answer_vote_together_under_the_most_frequent_one():
    outcome = vote(["0.5", "1/2", r"\frac{1}{2}", "0.5", "3", "3", "3"])
    assert outcome.clusters == (Cluster("0.5", 4), Cluster("3", 3))


def test_equally_frequent_spellings_are_represented_by_the_smallest_text():
    assert vote(["1/2", "0.5"]).winner == "0.5"


def test_a_tie_has_no_winner_but_a_share():
    outcome = vote(["4", "5", "4", "5", "6"])
    assert outcome.winner is None
    assert outcome.share == 0.4


@pytest.mark.parametrize("answers", [[], [None], [None, "", "  "]])
def test_without_answers_there_is_no_winner_and_no_share(answers):
    assert vote(answers) == Vote(None, 0.0, ())


def test_missing_answers_never_win_and_stay_in_the_denominator():
    outcome = vote([None] * 6 + ["9", "9"])
    assert outcome.winner == "9"
    assert outcome.share == 0.25


@given(GROUPS.flatmap(lambda answers: st.tuples(st.just(answers), st.permutations(answers))))
def test_the_order_of_the_rollouts_changes_nothing(groups):
    one, other = groups
    assert vote(one) == vote(other)


@given(GROUPS)
def test_clusters_partition_the_answers(answers):
    outcome = vote(answers)
    assert sum(item.votes for item in outcome.clusters) == sum(answer not in (None, "") for answer in answers)
    for item in outcome.clusters:
        assert sum(same(answer, item.answer) for answer in answers) == item.votes
    assert [item.votes for item in outcome.clusters] == sorted((item.votes for item in outcome.clusters), reverse=True)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["4", "4", "5"], 1.0),
        (["5", "5", "4"], 0.0),
        (["4.0", "4", "5", "5"], 0.5),
        (["4", "5", "6"], 1 / 3),
        ([None, None, "4"], 1.0),
        ([None, None], 0.0),
        ([], 0.0),
    ],
)
def test_majority_correctness_splits_ties(answers, expected):
    assert majority_correctness(answers, "4") == pytest.approx(expected)


def test_nothing_is_correct_against_an_empty_gold():
    assert majority_correctness(["", "4"], "") == 0.0
