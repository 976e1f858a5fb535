"""TraPO v2 promotes frequent, growing and stable majority answers, each rule at its threshold."""

import math
import random

import pytest

from methods.base import LabelNeed, TrainingRows, surfaces_used
from methods.transitions.base import Change, ChangeKind, ProbeVisit, StoredLabel
from methods.transitions.trapo_v2 import Promotion, PromotionOptions
from methods.trapo_v2 import TraPOv2


def answers(*counts, of=10):
    """`answers(6, 3)` are six "4", three "5" and one missing answer."""
    given = [text for text, count in zip(("4", "5", "6"), counts, strict=False) for _ in range(count)]
    return tuple(given + [None] * (of - len(given)))


def decide(*probes, stored=None, **options):
    """Decide about items 0, 1, ... from probes that list the answers of each; all are unlabelled unless stated."""
    visits = [[ProbeVisit(index, given) for index, given in enumerate(probe)] for probe in probes]
    stored = [StoredLabel(index, None, "") for index in range(len(probes[0]))] if stored is None else stored
    return Promotion(PromotionOptions(**options)).decide(stored, visits)


def promoted(*rows, **options):
    """Say whether a single item with these probes is promoted."""
    return bool(decide(*[[row] for row in rows], **options))


GROWING = (answers(5), answers(6), answers(7))


def test_a_frequent_growing_and_stable_majority_becomes_a_label():
    (change,) = decide(*[[row] for row in GROWING])
    assert (change.index, change.kind, change.label, change.previous) == (0, ChangeKind.PROMOTED, "4", None)
    assert change.pass_rate == 0.7
    assert change.slope == pytest.approx(0.1)  # .5, .6, .7
    assert math.isnan(change.margin)


def test_nothing_is_promoted_before_the_third_probe():
    assert not promoted(*GROWING[:2])
    assert promoted(*GROWING[:2], min_probes=2, same_majority=2)


def test_pass_rate_and_slope_count_at_their_thresholds():
    exact = [answers(count, of=50) for count in (28, 29, 30)]  # .56, .58, .60: a rate of .6, a slope of .02
    assert promoted(*exact)
    assert not promoted(*[answers(count, of=50) for count in (27, 28, 29)])  # .58 at a slope of .02
    assert not promoted(*[answers(count, of=50) for count in (29, 29, 30)])  # .60 at a slope of .01
    assert not promoted(answers(7), answers(6), answers(6))


def test_an_answer_without_growth_is_never_promoted_unless_the_option_says_so():
    assert not promoted(answers(10), answers(10), answers(10))
    assert promoted(answers(10), answers(10), answers(10), slope=0.0)


def test_the_slope_is_that_of_the_last_four_probes():
    falling_first = [answers(10), answers(6), answers(7), answers(8), answers(9)]
    assert promoted(*falling_first)  # .6 .7 .8 .9; over all five the slope is 0
    assert not promoted(*falling_first, last=5)


def test_the_majority_must_be_the_same_in_three_of_the_last_four_probes():
    other = answers(3, 5)  # "5" leads, and "4" has .3
    assert promoted(other, answers(5), answers(6), answers(7))
    assert not promoted(other, other, answers(6), answers(7))
    assert promoted(other, other, answers(5), answers(6), answers(7))  # the oldest is out of view
    assert not promoted(other, answers(6), answers(7))  # two of three


def test_the_history_follows_the_answer_that_leads_now():
    # "5" led at first and "4" leads now: the rate of "4" is .1 .6 .7 .8, not .6 .6 .7 .8
    (change,) = decide([answers(1, 6)], [answers(6)], [answers(7)], [answers(8)])
    assert change.slope == pytest.approx((-1.5 * 0.1 - 0.5 * 0.6 + 0.5 * 0.7 + 1.5 * 0.8) / 5)


def test_a_tie_and_missing_answers_promote_nothing():
    tie = answers(5, 5)
    assert not promoted(tie, tie, tie, pass_rate=0.5, slope=0.0)
    assert not promoted(answers(5), answers(6), tie, pass_rate=0.5, slope=-1.0)
    assert not promoted(answers(0), answers(0), answers(0), pass_rate=0.0, slope=0.0)


def test_missing_answers_stay_in_the_denominator():
    assert promoted(answers(4), answers(5), answers(6))  # 6 of 10, with four answers missing
    assert not promoted(answers(4, of=11), answers(5, of=11), answers(6, of=11))


def test_items_with_a_label_keep_it_and_items_that_are_not_stored_count_as_unlabelled():
    probes = [[row, row, row] for row in GROWING]
    stored = [StoredLabel(0, "9", "given"), StoredLabel(1, "4", "promoted")]
    assert [change.index for change in decide(*probes, stored=stored, cap=1.0)] == [2]


def test_a_round_promotes_a_tenth_of_the_pool_the_best_first():
    rates = {3: 9, 8: 7, 11: 8, 15: 8}  # the last probe of four items of twenty; all had .5 before

    def probe(last):
        return [answers(rates[i]) if last and i in rates else answers(5 if i in rates else 0) for i in range(20)]

    assert [change.index for change in decide(probe(False), probe(False), probe(True))] == [3, 11]
    assert [change.index for change in decide(probe(False), probe(False), probe(True), cap=0.15)] == [3, 11, 15]
    assert [change.index for change in decide(probe(False), probe(False), probe(True), cap=0.01)] == [3]


def test_equal_pass_rates_are_ranked_by_slope():
    rows = [(answers(6), answers(6), answers(7)), (answers(4), answers(6), answers(7))]
    (change,) = decide(*zip(*rows, strict=True), cap=0.5)
    assert change.index == 1


def test_neither_the_order_of_items_nor_of_answers_matters():
    rng = random.Random(0)
    probes = [[answers(k + i % 3, 2) for i in range(30)] for k in (4, 5, 6)]
    visits = [[ProbeVisit(i, given) for i, given in enumerate(probe)] for probe in probes]
    shuffled = [
        rng.sample([ProbeVisit(v.index, tuple(rng.sample(v.answers, len(v.answers)))) for v in probe], len(probe))
        for probe in visits
    ]
    rule = Promotion(PromotionOptions())
    first, second = rule.decide([], visits), rule.decide([], shuffled)
    assert len(first) == 3

    def comparable(changes: tuple[Change, ...]):
        return [(c.index, c.label, c.pass_rate, c.slope) for c in changes]  # margins are NaN

    assert comparable(first) == comparable(second)


def test_without_probes_or_items_nothing_changes():
    rule = Promotion(PromotionOptions())
    assert rule.decide([], []) == ()
    assert rule.decide([StoredLabel(1, None, "")], [[], [], []]) == ()


@pytest.mark.parametrize("options", [{"rounds": 0}, {"cap": 0.0}, {"cap": 1.5}, {"same_majority": 5}, {"last": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match="allowed"):
        PromotionOptions(**options)


def test_the_method_is_grpo_on_labelled_rows_in_six_rounds():
    method = TraPOv2()
    assert surfaces_used(method) == frozenset()
    assert (method.rows, method.label_need) == (TrainingRows.LABELLED, LabelNeed.REQUIRED)
    assert method.transition.rounds == 6
    assert TraPOv2(PromotionOptions(rounds=3)).transition.rounds == 3
