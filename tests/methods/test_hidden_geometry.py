import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from methods.feature_bank import BankRows
from methods.hidden_geometry import auroc, best_layers, fit_layers, unit_vectors


def bank_of(signal, questions=20, rollouts=8, width=16, seed=0, offset=50.0):
    """A bank whose layers separate correct rollouts by `signal` along the first coordinate."""
    rng = np.random.default_rng(seed)
    n = questions * rollouts
    correct = np.tile(np.arange(rollouts) % 2 == 0, questions)
    features = rng.normal(size=(n, len(signal), width)) + offset  # far from the origin: a narrow cone
    features[:, :, 0] += np.outer(correct, signal)
    index = np.repeat(np.arange(questions), rollouts)
    return BankRows(
        features.astype(np.float32), np.ones(n, np.int64), index.astype(np.int64), correct, np.ones(n, bool)
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auroc_is_that_of_scikit_learn_ties_included(pairs):
    scores, positive = np.array([s for s, _ in pairs], float), np.array([p for _, p in pairs])
    if 0 < positive.sum() < len(positive):
        assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))


def test_auroc_counts_pairs():
    # positives 3, 1 against negatives 2, 1: 3 > 2, 3 > 1, 1 < 2, 1 = 1: (1 + 1 + 0 + .5) / 4
    assert auroc(np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, True, False, False])) == 0.625


def test_vectors_are_centred_and_of_length_one():
    units = unit_vectors(np.array([[4, 5], [1, 1]], np.float32), np.array([1, 1], np.float32))
    assert units == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


def test_layers_are_scored_by_how_well_they_separate_questions_they_have_not_seen():
    fits = fit_layers(bank_of([0.0, 1.0, 4.0]))
    assert [fit.layer for fit in fits] == [0, 1, 2]
    assert 0.35 < fits[0].auroc < 0.65
    assert fits[0].auroc < fits[1].auroc < fits[2].auroc
    assert fits[2].auroc > 0.95


def test_a_layer_that_knows_only_its_own_questions_scores_by_chance():
    bank = bank_of([0.0], questions=12, width=64)
    for question in range(12):  # each question separates its rollouts along a direction of its own
        bank.features[bank.index == question, 0, 10 + question] += 8 * bank.correct[bank.index == question] - 4
    fit = fit_layers(bank)[0]
    assert 0.35 < fit.auroc < 0.65
    assert auroc(fit.score(bank.features[:, 0]), bank.correct) > 0.95  # on the questions that it was fitted on


def test_centring_spreads_states_that_lie_in_a_narrow_cone():
    bank = bank_of([3.0])  # 50 from the origin in each of 16 directions
    states, gaps = bank.features[:, 0], []
    for centre in (np.zeros(16, np.float32), states.mean(axis=0)):
        units = unit_vectors(states, centre)
        gaps.append(np.linalg.norm(units[bank.correct].mean(axis=0) - units[~bank.correct].mean(axis=0)))
    # uncentred the class means are about 3 / 200 apart; centred 3 / sqrt(16 + 1.5^2) = .70
    assert gaps[0] == pytest.approx(3 / 200, abs=5e-3)
    assert gaps[1] == pytest.approx(0.70, abs=0.15)


def test_scores_are_standardised_on_the_bank():
    bank = bank_of([2.0])
    scores = fit_layers(bank)[0].score(bank.features[:, 0])
    assert scores.mean() == pytest.approx(0, abs=1e-4)
    assert scores.std() == pytest.approx(1, abs=1e-4)
    assert scores[bank.correct].mean() > 0 > scores[~bank.correct].mean()


def test_a_half_without_both_classes_leaves_the_layer_unscored():
    bank = bank_of([2.0], questions=1)
    fits = fit_layers(bank)
    assert np.isnan(fits[0].auroc)
    assert best_layers(fits, 4, 0.55) == []


def test_the_best_layers_above_the_threshold_are_chosen():
    fits = fit_layers(bank_of([4.0, 0.0, 2.0, 3.0]))
    assert [fit.layer for fit in best_layers(fits, most=2, least_auroc=0.55)] == [0, 3]
    assert {fit.layer for fit in best_layers(fits, most=4, least_auroc=0.7)} == {0, 2, 3}
