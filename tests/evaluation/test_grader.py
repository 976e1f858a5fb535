import threading

import pytest

from benchmark.errors import StageError, UnknownNameError
from benchmark.evaluation.canaries import CANARIES, Canary, check_canaries
from benchmark.evaluation.extract import Fallback
from benchmark.evaluation.grader import (
    GRADER_VERSION,
    QuestionKind,
    Verdict,
    grade,
    grade_in_process,
    is_correct,
    valid_gold,
)
from benchmark.evaluation.policy import GOLD_INVALID, POLICY
from benchmark.evaluation.verl_reward import score_response
from benchmark.evaluation.workers import WorkerPool


@pytest.mark.parametrize(
    ("response", "gold", "finish_reason", "verdict", "extracted", "method"),
    [
        (r"\boxed{12}", "12", "stop", Verdict.CORRECT, "12", "text"),
        (r"\boxed{0.5}", "1/2", "stop", Verdict.CORRECT, "0.5", "rational"),
        (r"\boxed{13}", "12", "stop", Verdict.WRONG, "13", "rational"),
        (r"\boxed{x}", "12", "stop", Verdict.WRONG, "x", "symbolic"),
        (r"\boxed{11+9a}", "9a+11", "stop", Verdict.CORRECT, "11+9a", "symbolic"),
        (r"\boxed{\int x}", "12", "stop", Verdict.WRONG, r"\int x", "text"),
        (r"\boxed{3}, \boxed{5} and \boxed{7}", "7, 5, 3", "stop", Verdict.CORRECT, "3, 5, 7", "symbolic"),
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


@pytest.mark.parametrize("decision", POLICY, ids=lambda one: f"{one.topic}: {one.gold} / {one.answer}")
def test_the_policy_is_what_the_grader_does(decision):
    record = grade(rf"\boxed{{{decision.answer}}}", decision.gold, tolerance=decision.tolerance)
    assert (record.verdict is Verdict.CORRECT) == decision.accepted, decision.reason
    assert record.verdict in (Verdict.CORRECT, Verdict.WRONG)


@pytest.mark.parametrize("gold", GOLD_INVALID)
@pytest.mark.parametrize("response", ["", r"\boxed{}", r"\boxed{1}"])
def test_nothing_is_judged_against_an_invalid_gold(gold, response):
    record = grade(response, gold)
    assert (record.verdict, record.method, record.second) == (Verdict.GOLD_INVALID, "gold", None)
    assert not valid_gold(gold)
    assert not is_correct(response, gold)


def test_a_multiple_choice_question_is_judged_by_its_labels():
    options = ("red", "green", "blue")
    ask = {"kind": "multiple_choice", "choices": options}
    assert grade("The answer is (b).", "B", **ask).verdict is Verdict.CORRECT
    assert grade(r"\boxed{green}", "B", **ask).method == "choice_box"
    assert grade("The answer is C.", "B", **ask).verdict is Verdict.WRONG
    assert grade(r"\boxed{yellow}", "B", **ask).verdict is Verdict.WRONG
    assert grade("Each has something to it.", "B", **ask).verdict is Verdict.NO_ANSWER
    assert grade("Let us look at each", "B", finish_reason="length", **ask).verdict is Verdict.TRUNCATED
    assert grade("The answer is B.", "D", **ask).verdict is Verdict.GOLD_INVALID


def test_an_unknown_kind_is_refused_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match="did you mean 'multiple_choice'"):
        grade("", "1", kind="multi_choice")


def test_a_fallback_is_used_where_it_is_declared_and_the_response_ended():
    text = "There were 3 of them. The answer is 12, as I said."
    assert grade(text, "12").verdict is Verdict.NO_ANSWER
    assert grade(text, "12", fallback=Fallback.STATEMENT).verdict is Verdict.CORRECT
    assert grade(text, "12", fallback=Fallback.STATEMENT, finish_reason="length").verdict is Verdict.TRUNCATED


def test_the_second_grader_gives_its_own_verdict():
    assert grade(r"\boxed{12}", "12").second == "correct"
    assert grade(r"\boxed{0 < x < 2}", "(0,2)").second == "wrong"  # no inequality is an interval to it
    assert grade(r"\boxed{3.1415927}", r"\pi").second == "correct"  # it rounds
    assert grade("so 12", "12", finish_reason="length").second == "truncated"
    assert grade("B", "B", kind=QuestionKind.MULTIPLE_CHOICE, choices=["x", "y"]).second == "correct"


def test_training_judges_by_text_and_exact_numbers_in_this_process():
    assert grade_in_process(r"\boxed{0.5}", "1/2").verdict is Verdict.CORRECT
    record = grade_in_process(r"\boxed{11+9a}", "9a+11")
    assert (record.verdict, record.method, record.second) == (Verdict.WRONG, "text", None)
    assert not is_correct(r"\boxed{11+9a}", "9a+11")


@pytest.mark.parametrize(
    ("response", "gold", "verdict"),
    [
        ("x" * 1_000_000, "12", Verdict.NO_ANSWER),
        (r"\boxed{" + "x" * 1_000_000 + "}", "12", Verdict.WRONG),
        (r"\boxed{" * 10_000 + "12" + "}" * 10_000, "12", Verdict.CORRECT),
        (r"\boxed{" * 10_000 + "12", "12", Verdict.NO_ANSWER),
        (r"\boxed{" + "{" * 10_000 + "12" + "}" * 10_000 + "}", "12", Verdict.WRONG),
        (r"\boxed{" + "(" * 900 + "12" + ")" * 900 + "}", "12", Verdict.WRONG),
        ("\x00\x01\x1b[31m\x07" * 1000, "12", Verdict.NO_ANSWER),
        ("\\boxed{\x00\x0c}", "12", Verdict.WRONG),
        ("\\boxed{1\x002}", "12", Verdict.WRONG),
        ("\\boxed{\ud800}", "12", Verdict.WRONG),
        (r"\boxed{" + "1" * 5000 + "}", "12", Verdict.WRONG),
        (r"\boxed{1" + "+x" * 900 + "}", "12", Verdict.WRONG),
        ("$" * 100_000, "12", Verdict.NO_ANSWER),
    ],
    ids=[
        *("1MB", "1MB box", "nested", "open", "braces", "brackets", "control", "control box", "nul", "surrogate"),
        *("digits", "sum", "dollars"),
    ],
)
@pytest.mark.parametrize("kind", ["math", "multiple_choice"])
@pytest.mark.timeout(60)
def test_hostile_responses_get_a_verdict(response, gold, verdict, kind):
    if kind == "math":
        assert grade(response, gold, fallback=Fallback.NONE).verdict is verdict
        grade(response, gold, fallback=Fallback.STATEMENT)
    else:
        assert grade(response, "B", kind=kind, choices=["11", "13"]).verdict in (Verdict.NO_ANSWER, Verdict.WRONG)


def test_a_comparison_that_does_not_end_is_a_verdict_of_its_own():
    with WorkerPool(deadline=0.5) as pool:
        record = grade(r"\boxed{\cos(e^{e^{20}})}", "1+x", pool=pool)
    assert (record.verdict, record.method) == (Verdict.TIMEOUT, "symbolic")


def test_grading_works_from_threads():
    found = {}

    def judge(number):
        found[number] = grade(rf"\boxed{{{number}+x}}", f"x+{number}").verdict

    threads = [threading.Thread(target=judge, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(8), Verdict.CORRECT)


def test_the_canaries_sing_and_cover_what_decides():
    assert check_canaries() == len(CANARIES)
    assert {canary.expected for canary in CANARIES} == set(Verdict) - {Verdict.TIMEOUT, Verdict.ERROR}
    assert {canary.kind for canary in CANARIES} == set(QuestionKind)


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
