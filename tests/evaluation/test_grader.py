import pytest

from benchmark.errors import StageError
from benchmark.evaluation.grader import CANARIES, GRADER_VERSION, Canary, Verdict, check_canaries, grade, is_correct
from benchmark.evaluation.verl_reward import score_response


@pytest.mark.parametrize(
    ("response", "gold", "finish_reason", "verdict", "extracted", "method"),
    [
        (r"\boxed{12}", "12", "stop", Verdict.CORRECT, "12", "text"),
        (r"\boxed{0.5}", "1/2", "stop", Verdict.CORRECT, "0.5", "rational"),
        (r"\boxed{13}", "12", "stop", Verdict.WRONG, "13", "rational"),
        (r"\boxed{x}", "12", "stop", Verdict.WRONG, "x", "text"),
        ("it is 12", "12", "stop", Verdict.NO_ANSWER, None, "extract"),
        ("", "12", "stop", Verdict.NO_ANSWER, None, "extract"),
        (r"\boxed{$$ $$}", "12", "stop", Verdict.NO_ANSWER, None, "extract"),
        (r"it is \boxed{1", "12", "length", Verdict.TRUNCATED, None, "extract"),
        (r"\boxed{12} and so on", "12", "length", Verdict.CORRECT, "12", "text"),
        (r"\boxed{13} and so on", "12", "length", Verdict.WRONG, "13", "rational"),
        (r"\boxed{}", "", "stop", Verdict.GOLD_INVALID, None, "gold"),
        (r"\boxed{__NoCorrectAnswer__}", "__NoCorrectAnswer__", "stop", Verdict.GOLD_INVALID, None, "gold"),
    ],
)
def test_a_response_gets_the_verdict_and_what_it_rests_on(response, gold, finish_reason, verdict, extracted, method):
    record = grade(response, gold, finish_reason=finish_reason)
    assert (record.verdict, record.extracted, record.method) == (verdict, extracted, method)
    assert record.grader_version == GRADER_VERSION
    assert record.seconds > 0


def test_only_correct_counts_as_correct():
    assert is_correct(r"\boxed{12}", "12")
    assert not is_correct(r"\boxed{12}", "13")
    assert not is_correct(r"\boxed{}", "")


def test_the_canaries_sing_and_cover_what_decides():
    assert check_canaries() == len(CANARIES)
    assert {canary.expected for canary in CANARIES} == set(Verdict) - {Verdict.TIMEOUT, Verdict.ERROR}


def test_a_failing_canary_stops_the_run():
    with pytest.raises(StageError, match=r"grader canary failed: .*gave wrong, expected correct"):
        check_canaries((Canary(r"\boxed{3}", "4", Verdict.CORRECT),))


def test_the_reward_is_one_only_for_a_correct_response():
    info = {"index": 3, "labeled": True}
    assert score_response("venus/math", r"\boxed{12.0}", "12", info) == {"score": 1.0, "acc": 1.0, "pred": "12.0"}
    assert score_response("venus/math", r"\boxed{13}", "12", info) == {"score": 0.0, "acc": 0.0, "pred": "13"}
    assert score_response("venus/math", "13", "12", info, reward_router_address=None)["pred"] == ""


@pytest.mark.parametrize("truth", ["", None, " "])
@pytest.mark.parametrize("response", ["", r"\boxed{}", r"\boxed{12}"])
def test_an_unlabelled_row_scores_zero_whatever_the_response(response, truth):
    assert score_response("venus/math", response, truth)["score"] == 0.0
