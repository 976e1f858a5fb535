import pytest
from rollouts import make_groups

from benchmark.errors import HiddenTruthError
from methods.groups import NO_TARGET


def groups():
    return make_groups([["7", "8"], ["3", None]], ["7", None])


def test_a_given_label_can_be_read():
    assert groups().labels[0] == "7"


def test_reading_the_label_of_an_unlabelled_item_names_the_rule():
    with pytest.raises(HiddenTruthError, match="cannot read the hidden truth of an unlabelled item"):
        groups().labels[1]


def test_iterating_over_labels_stops_at_the_first_unlabelled_item():
    with pytest.raises(HiddenTruthError):
        list(groups().labels)


def test_slicing_labels_does_not_get_around_the_rule():
    with pytest.raises(HiddenTruthError):
        groups().labels[0:2]


def test_asking_for_the_truth_names_the_rule():
    with pytest.raises(HiddenTruthError, match="cannot read the hidden truth"):
        groups().truth  # noqa: B018


def test_no_target_equals_nothing_not_even_itself():
    assert NO_TARGET != NO_TARGET  # noqa: PLR0124
    assert NO_TARGET != ""
    assert NO_TARGET not in [NO_TARGET != NO_TARGET]  # noqa: PLR0124
