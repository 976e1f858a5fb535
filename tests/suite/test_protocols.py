"""Evaluation protocols: the figures of the papers, and what an override does to them."""

import json

import pytest

from benchmark.errors import SuiteError, UnknownNameError
from benchmark.suite.compose import compose_profile
from benchmark.suite.protocols import PROTOCOLS, deviations, protocol_named, samples_by_benchmark


def evaluation(*overrides, profile="paper"):
    return compose_profile(profile, list(overrides)).eval


def test_the_paper_profile_follows_de_venus():
    """methods.md, section 11: avg@32 for AIME and AMC, avg@4 elsewhere, MMLU-Pro once, T .6, top-p 1."""
    found = evaluation()
    assert samples_by_benchmark(found) == {
        "aime24": 32,
        "aime25": 32,
        "amc": 32,
        "math500": 4,
        "minerva": 4,
        "olympiad": 4,
        "arc_challenge": 4,
        "gpqa_diamond": 4,
        "mmlu_pro": 1,
    }
    assert (found.protocol, found.temperature, found.top_p) == ("de_venus", 0.6, 1.0)
    assert not deviations(found)


@pytest.mark.parametrize(
    ("protocol", "aime", "math500", "mmlu_pro", "max_tokens"),
    [("olr", 8, 1, 1, 4096), ("trapo", 32, 1, 1, 8192)],
)
def test_another_protocol_changes_everything_that_it_states(protocol, aime, math500, mmlu_pro, max_tokens):
    found = evaluation(f"eval.protocol={protocol}")
    samples = samples_by_benchmark(found)
    assert (samples["aime24"], samples["math500"], samples["mmlu_pro"]) == (aime, math500, mmlu_pro)
    assert (found.temperature, found.top_p, found.max_tokens) == (0.6, 1.0, max_tokens)


def test_ttrl_samples_sixteen_times_with_nucleus_sampling():
    found = evaluation("eval=ttrl")
    assert set(samples_by_benchmark(found).values()) == {16}
    assert (found.top_p, found.max_tokens) == (0.95, 3072)


def test_luffys_single_pass_of_trapo_has_19425_generations():
    """evaluation.md, section E."""
    sizes = {"aime24": 30, "aime25": 30, "amc": 83, "math500": 500, "minerva": 272, "olympiad": 675}
    sizes |= {"arc_challenge": 1172, "gpqa_diamond": 198, "mmlu_pro": 12032}
    assert sum(sizes[name] * protocol_named("trapo").samples[name] for name in sizes) == 19425


def test_the_micro_profile_takes_eight_samples_of_a_hundred_items():
    found = evaluation(profile="micro")
    assert (found.samples, found.items, found.max_tokens) == ("8", 100, 40)
    assert not deviations(found)


def test_a_number_of_samples_holds_for_every_benchmark_and_is_shown_as_a_deviation():
    found = evaluation("eval.samples=4", "eval.temperature=1", profile="micro")
    assert found.samples == "4"
    assert deviations(found)[0] == "4 samples of add, not 8"
    assert "temperature 1, not 0.6" in deviations(found)


def test_a_mapping_holds_for_what_it_names_only():
    found = evaluation("eval.samples={aime24: 2}", "eval.items=8")
    assert json.loads(found.samples)["aime24"] == 2
    assert json.loads(found.samples)["aime25"] == 32
    assert deviations(found) == ("2 samples of aime24, not 32", "8 items of a benchmark, not all")


def test_equal_requests_are_equal_specifications():
    assert evaluation("eval.samples=8", profile="micro") == evaluation(profile="micro")
    spelled = "eval.samples={mmlu_pro: 1, aime24: 32}"
    assert evaluation(spelled) == evaluation()


def test_a_benchmark_outside_the_protocol_needs_a_number():
    with pytest.raises(SuiteError, match="found none for 'gsm8k', which protocol 'de_venus' does not cover"):
        evaluation("eval.benchmarks=[aime24,gsm8k]")
    found = evaluation("eval.benchmarks=[aime24,gsm8k]", "eval.samples={gsm8k: 2}")
    assert deviations(found) == ("2 samples of gsm8k, which it does not cover",)


@pytest.mark.parametrize(
    ("override", "error", "message"),
    [
        ("eval.protocol=oll", UnknownNameError, r"unknown evaluation protocol 'oll'; did you mean 'olr'\?"),
        ("eval.protocol=ttrl", SuiteError, "found none for 'arc_challenge', which protocol 'ttrl' does not cover"),
        ("eval.protocol=null", SuiteError, "eval.protocol: found None, allowed a name"),
        ("eval.samples=0", SuiteError, "eval.samples: found 0, allowed 1 or more"),
        ("eval.samples=many", SuiteError, "eval.samples: found 'many', allowed a whole number"),
        ("eval.samples={aime24: true}", SuiteError, "eval.samples.aime24: found True, allowed a whole number"),
        ("eval.samples={aime: 3}", UnknownNameError, "unknown benchmark in eval.samples 'aime'; did you mean 'aime25'"),
    ],
)
def test_a_wrong_protocol_or_number_is_refused_in_one_line(override, error, message):
    with pytest.raises(error, match=message) as caught:
        evaluation(override)
    assert "\n" not in str(caught.value)


def test_every_protocol_says_where_it_is_stated():
    assert set(PROTOCOLS) == {"de_venus", "trapo", "olr", "ttrl", "micro"}
    assert all(name == protocol.name and protocol.source for name, protocol in PROTOCOLS.items())
