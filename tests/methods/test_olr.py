import json

import numpy as np
import pytest
from rollouts import make_groups

from methods.groups import NoTarget, TargetSource
from methods.olr import OLR, OLROptions, most_frequent

RISING = (2, 3, 4, 4, 5, 6)  # rollouts of 8 that agree: slope (5 * .5 + 3 * .25 + 0) / 35 = .0929
SLOWER = (4, 4, 5, 5, 6, 6)  # .0571
CONSTANT = (8,) * 6
FALLING = (6, 4, 5, 4, 4, 3)  # -.0571


def visit(agreeing, answer="4", label="7", epoch=0, **fields):
    """One item: `agreeing` rollouts of 8 give the answer, the others all differ."""
    answers = [answer] * agreeing + [str(k) for k in range(20, 28 - agreeing)]
    return make_groups([answers], [label], step=epoch + 1, epoch=epoch, **fields)


def run(method, counts, answers=None):
    """Visit one item once per pass; return the targets of the last visit."""
    for epoch, agreeing in enumerate(counts):
        targets = method.targets(visit(agreeing, answers[epoch] if answers else "4", epoch=epoch))
    return targets


@pytest.mark.parametrize("counts", [RISING, SLOWER])
def test_a_label_is_replaced_while_the_majority_rises(counts):
    targets = run(OLR(), counts)
    assert targets.values == ("4",)
    assert targets.sources == (TargetSource.REFINED,)
    assert targets.confidence[0] == counts[-1] / 8


@pytest.mark.parametrize("counts", [CONSTANT, FALLING])
def test_a_label_is_kept_where_the_majority_does_not_rise(counts):
    targets = run(OLR(), counts)
    assert targets.values == ("7",)
    assert targets.sources == (TargetSource.GIVEN,)
    assert np.isnan(targets.confidence[0])


def test_refinement_starts_in_the_sixth_pass():
    assert run(OLR(), RISING[:5]).values == ("7",)  # epoch 4
    assert run(OLR(), RISING).values == ("4",)  # epoch 5


def test_a_slope_of_exactly_delta_is_enough():
    # shares 1/8 and 2/8 a visit later: slope .125
    assert run(OLR(OLROptions(start_epoch=0, delta=0.125)), (2, 3)).values == ("4",)
    assert run(OLR(OLROptions(start_epoch=0, delta=0.126)), (2, 3)).values == ("7",)


def test_the_least_history_is_counted_with_the_current_visit():
    assert run(OLR(OLROptions(start_epoch=0, min_history=3)), (2, 4)).values == ("7",)
    assert run(OLR(OLROptions(start_epoch=0, min_history=3)), (2, 4, 6)).values == ("4",)


def test_the_decision_is_taken_anew_at_each_visit():
    method = OLR(OLROptions(start_epoch=0))
    assert run(method, (2, 4)).sources == (TargetSource.REFINED,)
    assert method.targets(visit(2, epoch=2)).values == ("7",)  # slope 0 over (.25, .5, .25)


def test_a_majority_that_was_not_the_most_frequent_one_is_refused():
    assert run(OLR(), RISING, ["4", "4", "4", "4", "5", "5"]).values == ("7",)
    assert run(OLR(), RISING, ["5", "5", "4", "4", "4", "4"]).values == ("4",)


def test_a_tie_among_the_majorities_of_the_history_is_refused():
    assert run(OLR(), RISING, ["5", "5", "5", "4", "4", "4"]).values == ("7",)


def test_the_history_counts_equivalent_answers_together():
    assert run(OLR(), RISING, ["5", "5", "1/2", "0.5", "\\frac12", "0.50"]).sources == (TargetSource.REFINED,)


def test_a_visit_without_a_majority_never_refines_even_if_all_visits_were_like_it():
    method = OLR(OLROptions(start_epoch=0, delta=-1.0))
    for epoch in range(4):
        targets = method.targets(make_groups([["4", "4", "5", "5"]], ["7"], step=epoch + 1, epoch=epoch))
    assert targets.values == ("7",)
    assert method.state_dict()["majorities"]["100"]["entries"] == [None] * 4
    assert method.state_dict()["shares"]["100"]["entries"] == [0.0] * 4


@pytest.mark.parametrize(
    ("majorities", "expected"),
    [
        (("4", "4", "5"), "4"),
        (("4", "5"), None),
        (("4", None), None),
        (("4", None, "4"), "4"),
        ((None, None), None),
        ((), None),
    ],
)
def test_the_most_frequent_majority_must_be_unique_and_outnumber_the_ties(majorities, expected):
    assert most_frequent(majorities) == expected


def test_a_majority_that_equals_the_label_changes_nothing():
    method = OLR()
    for epoch, agreeing in enumerate(RISING):
        targets = method.targets(visit(agreeing, "1/2", label="0.5", epoch=epoch))
    assert targets.values == ("0.5",)
    assert targets.sources == (TargetSource.GIVEN,)


def test_unlabelled_items_have_no_target_and_no_history():
    method = OLR()
    targets = method.targets(make_groups([["4", "4", "4"]]))
    assert isinstance(targets.values[0], NoTarget)
    assert targets.sources == (TargetSource.NONE,)
    assert method.state_dict() == {"shares": {}, "majorities": {}}


def test_a_duplicate_in_a_batch_adds_one_entry():
    method = OLR()
    rows = [["4", "4", "4", "5"]] * 2
    method.targets(make_groups(rows, ["7", "7"], index=np.array([3, 3])))
    assert method.state_dict()["shares"] == {"3": {"step": 1, "entries": [0.75]}}


def test_state_does_not_depend_on_the_order_of_a_batch():
    rows, labels = [["1", "1", "2"], ["3", "4", "5"], ["6", None, "6"]], ["9", "8", "7"]
    one, other = OLR(), OLR()
    targets = one.targets(make_groups(rows, labels))
    flipped = other.targets(
        make_groups([row[::-1] for row in rows[::-1]], labels[::-1], index=np.array([102, 101, 100]))
    )
    assert targets.values == flipped.values[::-1]
    assert json.dumps(one.state_dict()) == json.dumps(other.state_dict())


def test_a_resumed_run_decides_like_an_undisturbed_one():
    straight, resumed = OLR(), OLR()
    for epoch, agreeing in enumerate(RISING):
        groups = visit(agreeing, epoch=epoch)
        assert resumed.targets(groups).values == straight.targets(groups).values
        saved = json.loads(json.dumps(resumed.state_dict()))
        resumed = OLR()
        resumed.load_state_dict(saved)
        assert resumed.state_dict() == straight.state_dict()


@pytest.mark.parametrize("wrong", [{"delta": float("inf")}, {"min_history": 1}])
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found .*, allowed"):
        OLROptions(**wrong)
