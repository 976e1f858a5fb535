"""Scorers: each formula by hand, and the rules that hold for all of them."""

import numpy as np
import pytest
from probed_pool import ask, draw_pool, score

from benchmark.errors import DataError, HiddenTruthError, MethodError, SuiteError, UnknownNameError
from methods.groups import EvidenceKind
from methods.selection import build_scorer, scorer_class, scorer_names
from methods.selection.base import Scorer, uncertainties


def arrays(*rows):
    return tuple(np.array(row, dtype=np.float32) for row in rows)


def test_consistency_counts_equivalent_answers_together_and_missing_ones_in_the_denominator():
    pool = [
        ask(1, ["1/2", "0.5", "0.5", "\\frac{1}{2}", "7", "7", "8", None]),  # 4 of 8 agree
        ask(2, ["3"] * 8),
        ask(3, [None] * 8),
        ask(4, ["3", "3", *[None] * 6]),  # 2 of 8
    ]
    assert score("consistency", pool).tolist() == [0.5, 0.0, 1.0, 0.75]


def test_difficulty_puts_pass_rates_inside_the_interval_first_and_buys_every_label():
    bought = []

    def reveal(index):
        bought.append(index)
        return "1"

    pool = [ask(right, ["1.0"] * right + ["2"] * (8 - right)) for right in (0, 1, 2, 4, 6, 7, 8)]
    found = uncertainties(build_scorer("difficulty", {}), pool, reveal)
    # distances of 0, 1/8, 2/8, 4/8, 6/8, 7/8, 1 to [.25, .75]
    assert found.tolist() == [-0.25, -0.125, 0, 0, 0, -0.125, -0.25]
    assert sorted(bought) == [0, 1, 2, 4, 6, 7, 8]


def test_entropy_averages_over_tokens_first_and_over_responses_second():
    pool = [ask(1, ["1", "1"], lengths=[2, 4], entropy=arrays([1, 3], [0, 0, 0, 4]))]
    assert score("entropy", pool).tolist() == [1.5]  # (2 + 1) / 2, where all six tokens together give 8/6


def test_self_certainty_is_negated():
    pool = [ask(i, ["1"], lengths=[2], self_certainty=arrays(row)) for i, row in enumerate([[2, 4], [0, 1]])]
    assert score("self_certainty", pool).tolist() == [-3, -0.5]


def test_a_response_without_tokens_is_as_uncertain_as_the_worst_of_the_pool():
    pool = [
        ask(1, ["1", None], lengths=[1, 0], entropy=arrays([1], [])),
        ask(2, ["1", "1"], lengths=[1, 1], entropy=arrays([0], [5])),
    ]
    assert score("entropy", pool).tolist() == [3.0, 2.5]  # (1 + 5) / 2 and (0 + 5) / 2
    empty = [ask(1, [None], lengths=[0], entropy=arrays([]))]
    assert score("entropy", empty).tolist() == [0.0]


@pytest.mark.parametrize("name", scorer_names())
def test_a_scorer_declares_what_the_runner_needs(name):
    cls = scorer_class(name)
    assert cls.name == name
    assert cls.summary
    assert cls.samples >= 1
    assert cls.Options() == cls.Options()


@pytest.mark.parametrize("name", scorer_names())
def test_scores_are_finite_and_follow_their_questions_in_any_order(name):
    pool = draw_pool(40)
    found = score(name, pool)
    assert found.shape == (40,)
    assert np.isfinite(found).all()
    assert len(np.unique(found)) > 1
    order = np.random.default_rng(1).permutation(40)
    np.testing.assert_array_equal(score(name, [pool[i] for i in order]), found[order])


@pytest.mark.parametrize("name", scorer_names())
def test_an_empty_pool_has_no_scores(name):
    assert score(name, []).shape == (0,)


@pytest.mark.parametrize("name", [name for name in scorer_names() if scorer_class(name).evidence])
def test_missing_evidence_is_refused_with_what_to_probe(name):
    (kind,) = scorer_class(name).evidence
    with pytest.raises(DataError, match=f"needs evidence '{kind}': found none for item 5; fix: probe with evidence"):
        score(name, [ask(5, ["1"] * 8)])


@pytest.mark.parametrize("name", [name for name in scorer_names() if scorer_class(name).evidence])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_evidence_that_is_not_finite_names_the_item(name, bad):
    pool = draw_pool(3)
    (kind,) = scorer_class(name).evidence
    getattr(pool[1], kind.value)[0].flat[0] = bad
    with pytest.raises(MethodError, match=f"evidence {kind} is not finite: .* item {pool[1].index} of the probe"):
        score(name, pool)


def test_evidence_that_lacks_a_response_is_refused():
    with pytest.raises(MethodError, match="item 5"):
        score("entropy", [ask(5, ["1"], lengths=[3], entropy=arrays([]))])


def test_too_few_responses_are_refused():
    with pytest.raises(DataError, match="found 4, allowed 8 or more; fix: probe with samples = 8"):
        score("consistency", [ask(1, ["1"] * 4)])


def test_an_uneven_probe_is_refused():
    with pytest.raises(DataError, match="found from 1 to 2"):
        score("random", [ask(1, ["1"]), ask(2, ["1", "1"])])


def test_a_question_that_was_probed_twice_is_refused():
    with pytest.raises(DataError, match="found an index twice"):
        score("random", [ask(1, ["1"]), ask(1, ["1"])])


def test_a_scorer_that_declares_no_need_of_labels_cannot_buy_one():
    class Peeking(Scorer):
        name = "peeking"
        summary = "asks for labels without saying so"

        def score(self, questions, reveal):
            return np.array([float(reveal(asked.index) == "1") for asked in questions])

    with pytest.raises(HiddenTruthError, match="asked for the label of item 3"):
        uncertainties(Peeking(), [ask(3, ["1"])], lambda index: "1")


def test_scores_that_are_not_finite_or_not_one_per_question_are_refused():
    class Broken(Scorer):
        name = "broken"
        summary = "returns what it is told"
        values = ()

        def score(self, questions, reveal):
            return np.array(self.values)

    pool = [ask(3, ["1"]), ask(4, ["1"])]
    broken = Broken()
    broken.values = (0.0, np.nan)
    with pytest.raises(MethodError, match="the score of item 4 is not finite"):
        uncertainties(broken, pool, lambda index: "1")
    broken.values = (0.0,)
    with pytest.raises(MethodError, match=r"scores have shape \(1,\), allowed \(2,\)"):
        uncertainties(broken, pool, lambda index: "1")


def test_random_scores_depend_on_seed_and_index_only():
    pool, larger = draw_pool(20), draw_pool(30)
    assert score("random", larger)[:20].tolist() == score("random", pool).tolist()
    other = uncertainties(build_scorer("random", {}, seed=1), pool, lambda index: "1")
    assert other.tolist() != score("random", pool).tolist()
    assert ((other >= 0) & (other < 1)).all()


def test_unknown_scorers_and_options_are_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'entropy'"):
        build_scorer("entropi", {})
    with pytest.raises(UnknownNameError, match="option of scorer 'pivot_trace'"):
        build_scorer("pivot_trace", {"window": 8})
    with pytest.raises(SuiteError, match=r"refuses its options .* found 0\.8 to 0\.2"):
        build_scorer("difficulty", {"low": 0.8, "high": 0.2})


def test_the_evidence_that_scorers_ask_for_is_carried_by_a_probe():
    carried = {EvidenceKind.ENTROPY, EvidenceKind.SELF_CERTAINTY, EvidenceKind.ATTENTION, EvidenceKind.HIDDEN_STATES}
    assert {kind for name in scorer_names() for kind in scorer_class(name).evidence} == carried
