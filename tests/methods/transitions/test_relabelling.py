"""NL-OLR v2 replaces a stored label that the majority answer overtakes, each rule at its threshold.

In every probe "3" is the stored label and "4" the candidate: `probe(a, b)` are a tenths of "4" and b tenths of "3".
"""

import pytest

from benchmark.data.noise import NO_CORRECT_ANSWER
from methods.base import LabelNeed, TrainingRows, surfaces_used
from methods.nl_olr_v2 import NLOLRv2
from methods.transitions.base import Change, ChangeKind, ProbeVisit, StoredLabel
from methods.transitions.nl_olr_v2 import Relabelling, RelabellingOptions


def probe(candidate, stored=0, of=10):
    return ("4",) * candidate + ("3",) * stored + (None,) * (of - candidate - stored)


def decide(*probes, label="3", **options):
    visits = [[ProbeVisit(7, answers)] for answers in probes]
    return Relabelling(RelabellingOptions(**options)).decide([StoredLabel(7, label, "given")], visits)


OVERTAKING = (probe(3, 4), probe(5, 2), probe(6, 1))


def test_a_growing_majority_that_beats_the_stored_label_replaces_it():
    (change,) = decide(*OVERTAKING)
    assert isinstance(change, Change)
    assert (change.index, change.kind, change.label, change.previous) == (7, ChangeKind.RELABELLED, "4", "3")
    assert change.pass_rate == 0.6
    assert change.slope == pytest.approx(0.15)  # .3, .5, .6
    assert change.margin == pytest.approx((-0.1 + 0.3 + 0.5) / 3)


def test_the_margin_counts_at_its_threshold():
    assert decide(probe(3, 4), probe(5, 2), probe(6, 2))  # (-.1 + .3 + .4) / 3 = .2
    assert not decide(probe(3, 4), probe(5, 2), probe(6, 3))  # (-.1 + .3 + .3) / 3 = .17
    assert decide(probe(3, 4), probe(5, 2), probe(6, 3), margin=0.15)


def test_the_margin_is_that_of_the_last_three_probes():
    late = (probe(1, 9), probe(5, 3), probe(5, 3), probe(6, 4))
    (change,) = decide(*late)
    assert change.margin == pytest.approx((0.2 + 0.2 + 0.2) / 3)
    assert not decide(*late, last=4)


def test_pass_rate_and_slope_count_at_their_thresholds():
    assert decide(*[probe(count, of=20) for count in (8, 9, 10)])  # .40 .45 .50: rate .5, slope .05
    assert not decide(*[probe(count, of=20) for count in (7, 8, 9)])
    assert not decide(*[probe(count, of=20) for count in (9, 9, 10)])  # slope .025


def test_the_slope_is_over_all_probes():
    assert not decide(probe(9), probe(5), probe(6), probe(7))  # .9 .5 .6 .7: slope -.05
    assert decide(probe(1), probe(5), probe(5), probe(5))  # .1 .5 .5 .5: slope .12


def test_the_candidate_must_have_led_most_often():
    led_once = (probe(3, 4), probe(3, 4), probe(9, 0))
    assert not decide(*led_once)
    tied_history = (probe(1, 2), probe(4, 4), probe(9, 0))  # "3", none, "4"
    assert not decide(*tied_history)
    assert decide(probe(1, 2), probe(5, 4), probe(9, 0))


def test_a_tie_now_or_no_answer_at_all_keeps_the_label():
    assert not decide(probe(3), probe(4), probe(5, 5))
    assert not decide(probe(0), probe(0), probe(0), pass_rate=0.0, slope=0.0, margin=0.0)


def test_a_majority_that_is_equivalent_to_the_label_changes_nothing():
    assert not decide(*OVERTAKING, label="4.0", margin=-1.0)
    assert not decide(*OVERTAKING, label="\\frac{8}{2}", margin=-1.0)


def test_a_saturated_answer_is_never_corrected():
    assert not decide(probe(10), probe(10), probe(10))


def test_a_label_that_no_response_equals_has_a_pass_rate_of_zero():
    (change,) = decide(*OVERTAKING, label=NO_CORRECT_ANSWER)
    assert change.margin == pytest.approx((0.3 + 0.5 + 0.6) / 3)


def test_nothing_is_relabelled_before_the_third_probe():
    assert not decide(*OVERTAKING[1:])


def test_unlabelled_and_unvisited_items_stay_as_they_are_and_changes_come_by_index():
    visits = [[ProbeVisit(index, answers) for index in (5, 2, 9)] for answers in OVERTAKING]
    stored = [
        StoredLabel(9, "3", "relabelled"),
        StoredLabel(2, "3", "given"),
        StoredLabel(5, None, ""),
        StoredLabel(1, "3", "given"),
    ]
    changes = Relabelling(RelabellingOptions()).decide(stored, visits)
    assert [change.index for change in changes] == [2, 9]


@pytest.mark.parametrize("options", [{"rounds": 0}, {"last": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match="allowed 1 or more"):
        RelabellingOptions(**options)


def test_the_method_is_grpo_on_the_whole_pool_in_six_rounds():
    method = NLOLRv2()
    assert surfaces_used(method) == frozenset()
    assert (method.rows, method.label_need) == (TrainingRows.ALL, LabelNeed.REQUIRED)
    assert method.transition.rounds == 6
