"""Chain of embedding on a path of two layers in two dimensions, by hand.

h_0 = (1, 0), h_1 = (sqrt 3, 1) at 30 degrees, h_2 = (0, 2) at 90 degrees. Moves: (sqrt 3 - 1, 1) of squared length
5 - 2 sqrt 3, (-sqrt 3, 1) of length 2, and the whole path (-1, 2) of length sqrt 5.
"""

from math import acos, cos, hypot, pi, sin, sqrt

import numpy as np
import pytest
from probed_pool import ask, score

from benchmark.errors import DataError
from methods.selection.embedding_chain import angles, coe_c, coe_r, kinetic_energy, magnitudes

PATH = np.array([[1, 0], [sqrt(3), 1], [0, 2]])
MAGNITUDES = [sqrt((5 - 2 * sqrt(3)) / 5), 2 / sqrt(5)]  # .554238, .894427
ANGLES = [1 / 3, 2 / 3]  # 30 and 60 of 90 degrees


def test_magnitudes_and_angles_are_relative_to_the_whole_path():
    np.testing.assert_allclose(magnitudes(PATH), MAGNITUDES)
    np.testing.assert_allclose(angles(PATH), ANGLES)


def test_coe_r_is_mean_magnitude_minus_mean_angle():
    assert coe_r(PATH) == pytest.approx(0.724333 - 0.5, abs=1e-6)


def test_coe_c_is_the_length_of_the_mean_complex_number():
    real = sum(m * cos(a) for m, a in zip(MAGNITUDES, ANGLES, strict=True)) / 2  # .613325
    imaginary = sum(m * sin(a) for m, a in zip(MAGNITUDES, ANGLES, strict=True)) / 2  # .367215
    assert coe_c(PATH) == pytest.approx(hypot(real, imaginary))
    assert coe_c(PATH) == pytest.approx(0.714853, abs=1e-5)


def test_kinetic_energy_is_squared_momentum_minus_curvature():
    # squared magnitudes .307180 and .8; the moves enclose acos((sqrt 3 - 2) / (2 sqrt(5 - 2 sqrt 3))) = 1.679112
    turn = acos((sqrt(3) - 2) / (2 * sqrt(5 - 2 * sqrt(3))))
    assert turn == pytest.approx(1.679112, abs=1e-6)
    assert kinetic_energy(PATH, 1.0) == pytest.approx(0.553590 - 1.679112, abs=1e-6)
    assert kinetic_energy(PATH, 0.0) == pytest.approx(0.553590, abs=1e-6)


def test_a_path_that_ends_where_it_began_is_not_divided_by_zero():
    loop = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert coe_r(loop) == 0.0
    assert coe_c(loop) == 0.0
    assert kinetic_energy(loop, 1.0) == pytest.approx(-pi)  # it turns back once
    still = np.ones((3, 2))
    assert (coe_r(still), coe_c(still), kinetic_energy(still, 1.0)) == (0.0, 0.0, 0.0)


def test_rounding_of_a_cosine_above_one_is_clipped():
    straight = np.array([[0.1, 0.3], [0.2, 0.6], [0.7, 2.1]])
    np.testing.assert_array_equal(angles(straight), [0.0, 0.0])


def test_a_single_layer_has_no_turn():
    assert kinetic_energy(PATH[:2], 1.0) == pytest.approx(1.0)


@pytest.mark.parametrize(("name", "wanted"), [("coe_r", -0.224333), ("coe_c", -0.714853), ("cot_kinetics", 1.125522)])
def test_the_score_is_negated_and_averaged_over_responses(name, wanted):
    still = np.ones((3, 2), dtype=np.float32)
    states = PATH.astype(np.float32)
    pool = [ask(1, ["1", "1"], hidden_states=(states, states)), ask(2, ["1", "1"], hidden_states=(states, still))]
    np.testing.assert_allclose(score(name, pool), [wanted, wanted / 2], atol=1e-5)


def test_hidden_states_of_one_row_are_refused():
    with pytest.raises(DataError, match=r"hidden states of item 3: found shape \(1, 2\)"):
        score("coe_r", [ask(3, ["1"], hidden_states=(np.ones((1, 2), dtype=np.float32),))])
