from collections import Counter

from rollouts import make_groups

from benchmark.data.noise import NO_CORRECT_ANSWER, REDRAWN
from benchmark.training.groups import TrainingRow
from benchmark.training.redraw import with_redrawn_labels, wrong_answer

ROWS = {100: TrainingRow("7", -1), 101: TrainingRow(REDRAWN, -1), 102: TrainingRow(None, -1)}
TRUTH = {100: "7", 101: "1/2", 102: "6"}
ANSWERS = (("7", "8", None), ("0.5", "3", "4"), ("5", "5", "6"))


def labels(groups):
    return [groups.labels[i] if groups.labelled[i] else None for i in range(len(groups))]


def test_a_marked_label_becomes_a_wrong_answer_of_its_own_group_and_others_stay():
    groups = make_groups(ANSWERS, ["7", REDRAWN, None])
    found = labels(with_redrawn_labels(groups, ROWS, TRUTH, seed=0))
    assert found[0] == "7"
    assert found[1] in {"3", "4"}  # never .5, which is the truth in another form
    assert found[2] is None


def test_a_label_is_drawn_anew_at_each_visit_uniformly_and_repeatably():
    drawn = [wrong_answer(["3", "3", "3", "4", "1/2"], "0.5", f"0/101/{step}") for step in range(400)]
    assert 150 < Counter(drawn)["3"] < 250  # distinct answers, not rollouts, are drawn
    assert drawn == [wrong_answer(["4", "1/2", "3", "3", "3"], "0.5", f"0/101/{step}") for step in range(400)]


def test_a_group_without_a_wrong_answer_gets_a_label_that_nothing_matches():
    assert wrong_answer(["0.5", None, "1/2"], "0.5", "k") == NO_CORRECT_ANSWER


def test_groups_without_a_marked_label_are_handed_on_as_they_are():
    groups = make_groups(ANSWERS[:1], ["7"])
    assert with_redrawn_labels(groups, ROWS, TRUTH, 0) is groups
