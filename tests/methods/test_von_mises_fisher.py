import math

import numpy as np
import pytest
from scipy.special import ive
from scipy.stats import vonmises_fisher

from methods.von_mises_fisher import concentration, fit_ratio, log_bessel, log_normaliser


def mirrored_classes(dimension, seed=0):
    """Two classes that are mirror images of each other, hence equally concentrated."""
    rng = np.random.default_rng(seed)
    right = rng.normal(size=(40, dimension)) + np.eye(dimension)[0]
    units = np.concatenate([right, -right]).astype(np.float32)
    return units / np.linalg.norm(units, axis=1, keepdims=True), np.repeat([True, False], 40)


@pytest.mark.parametrize(
    ("order", "tolerance"), [(3, 4e-3), (31, 5e-5), (50, 2e-4), (127, 2e-4), (255, 2e-4), (511, 2e-4)]
)
def test_the_log_bessel_function_agrees_with_scipy(order, tolerance):
    kappas = np.geomspace(1, 1e4, 200)
    scaled = ive(order, kappas)
    kept = scaled > 1e-300  # SciPy underflows where the order is large and kappa is small
    assert kept.sum() > 90
    expected = np.log(scaled[kept]) + kappas[kept]
    assert np.abs([log_bessel(order, k) for k in kappas[kept]] - expected).max() < tolerance


def test_the_normaliser_is_that_of_the_known_density_in_three_dimensions():
    # C_3(k) = k / (4 pi sinh k); v = 1/2 is far below the orders in use, and the error still small
    assert log_normaliser(20.0, 3) == pytest.approx(math.log(20 / (4 * math.pi * math.sinh(20))), abs=2e-3)


def test_the_normaliser_makes_the_density_of_scipy():
    mean = np.eye(64)[0]
    density = vonmises_fisher(mean, 30.0).logpdf(mean)
    assert log_normaliser(30.0, 64) + 30.0 == pytest.approx(density, abs=1e-4)


def test_the_normaliser_stays_finite_without_concentration():
    uniform = math.lgamma(32) - math.log(2) - 32 * math.log(math.pi)  # 1 / surface of the sphere in 64 dimensions
    assert log_normaliser(0.0, 64) == pytest.approx(uniform, abs=1e-3)


def test_the_concentration_is_the_moment_estimate():
    assert concentration(0.5, 8) == pytest.approx(0.5 * 7.75 / 0.75)
    assert concentration(1.0, 8) == concentration(0.999, 8)  # clipped
    assert concentration(0.0, 8) == 0.0


def test_a_shared_concentration_gives_the_ratio_worked_out_by_hand():
    units = np.array([[1, 0], [0.6, 0.8], [-1, 0], [-0.6, 0.8]], dtype=np.float32)
    ratio = fit_ratio(units, np.array([True, True, False, False]))
    # resultants (+-.8, .4), R^2 = .8, kappa = R (2 - .8) / (1 - .8) = 6 R, mu+ - mu- = (1.6 / R, 0)
    assert ratio.direction == pytest.approx([9.6, 0], abs=1e-4)
    assert ratio.offset == 0
    assert ratio(units) == pytest.approx([9.6, 5.76, -9.6, -5.76], abs=1e-4)


@pytest.mark.parametrize("dimension", [8, 16, 64])
def test_equally_concentrated_classes_need_no_normaliser(dimension):
    units, correct = mirrored_classes(dimension)
    shared, separate = fit_ratio(units, correct, True), fit_ratio(units, correct, False)
    assert separate.offset == pytest.approx(0, abs=1e-4)
    assert shared(units) == pytest.approx(separate(units), abs=1e-3)


def test_separate_concentrations_give_the_ratio_of_the_densities():
    units, correct = mirrored_classes(64)
    units[correct] = units[correct][:1]  # one class in a point: kappa at its clip
    ratio = fit_ratio(units, correct, shared_kappa=False)
    classes = []
    for chosen in (units[correct], units[~correct]):
        resultant = chosen.mean(axis=0, dtype=float)
        length = np.linalg.norm(resultant)
        classes.append(vonmises_fisher(resultant / length, concentration(length, 64)))
    unit = units[5].astype(float) / np.linalg.norm(units[5].astype(float))
    expected = classes[0].logpdf(unit) - classes[1].logpdf(unit)
    assert ratio(units[5:6])[0] == pytest.approx(expected, rel=1e-4)
