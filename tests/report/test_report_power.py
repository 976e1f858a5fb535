"""Minimal detectable differences against the power of the paired t test and by simulation."""

import numpy as np
import pytest
from scipy.stats import nct, t

from benchmark.report.power import detection_power, minimal_detectable_difference, minimal_detectable_differences
from benchmark.report.stats import Difference, difference_of, differences_of


def study(seed_variance: float, question_variance: float, seeds: int) -> Difference:
    plain = difference_of(np.zeros((seeds, 2)), np.array(["a", "a"]))
    values = {name: getattr(plain, name) for name in Difference.__dataclass_fields__}
    return Difference(**values | {"seed_variance": seed_variance, "question_variance": question_variance})


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
@pytest.mark.parametrize("effect", [0.5, 1.5, 3.0])
def test_without_question_variance_it_is_the_power_of_the_paired_t_test(seeds, effect):
    limit, shift = t.ppf(0.975, seeds - 1), effect * np.sqrt(seeds)
    exact = nct.sf(limit, seeds - 1, shift) + nct.cdf(-limit, seeds - 1, shift)
    assert detection_power(effect, 1 / seeds, 0.0, seeds) == pytest.approx(exact, abs=2e-3)


def test_five_seeds_find_1_68_standard_deviations():
    # Cohen's d at which a paired t test of five pairs has 80% power at 5%, two-sided.
    assert minimal_detectable_difference(study(1 / 5, 0.0, 5)) == pytest.approx(1.68, abs=0.005)


def test_with_questions_alone_it_is_2_80_standard_errors():
    assert minimal_detectable_difference(study(0.0, 0.01**2, 1)) == pytest.approx(0.0280158, abs=1e-6)


def test_each_comparison_is_judged_by_its_own_variances():
    sharp, blunt = study(0.0, 0.01**2, 5), study(0.0, 0.05**2, 5)
    assert minimal_detectable_differences([blunt, sharp]) == pytest.approx([0.0280158, 0.140079], abs=1e-6)


def test_a_comparison_that_lost_its_seeds_leaves_the_others_as_they_are_and_is_not_among_them():
    whole = [study(0.02**2, 0.01**2, 3), study(0.03**2, 0.01**2, 3)]
    assert minimal_detectable_differences([*whole, study(0.0, 1e-8, 1)]) == minimal_detectable_differences(whole)


def test_comparisons_that_all_have_one_seed_are_judged_by_questions():
    assert len(minimal_detectable_differences([study(0.0, 1e-4, 1), study(0.0, 2e-4, 1)])) == 2


def test_more_comparisons_need_a_larger_difference():
    one = study(1e-4, 1e-4, 5)
    assert minimal_detectable_differences([one], comparisons=10)[0] > 1.3 * minimal_detectable_difference(one)
    assert minimal_detectable_differences([one], comparisons=1)[0] == minimal_detectable_difference(one)


def test_a_table_without_comparisons_has_none_and_one_without_variance_finds_everything():
    assert minimal_detectable_differences([]) == ()
    assert minimal_detectable_difference(study(0.0, 0.0, 5)) == 0
    assert minimal_detectable_difference(study(0.0, 0.0, 1)) == 0


def test_the_detectable_difference_is_found_in_four_of_five_simulated_studies():
    generator = np.random.default_rng(0)
    names = np.array(["a"] * 40)
    noise = generator.normal(0, 0.02, (1000, 5, 1)) + generator.normal(0, 0.06, (1000, 1, 40))
    truth = minimal_detectable_difference(study(0.02**2 / 5, 0.06**2 / 40, 5))
    found = differences_of(list(truth + noise), names, repetitions=50)
    assert np.mean([one.p_value < 0.05 for one in found]) == pytest.approx(0.8, abs=0.035)
