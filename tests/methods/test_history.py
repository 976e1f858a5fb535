import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rollouts import make_groups

from methods.history import Histories, visits

numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.none() | st.text()


def test_an_item_gets_one_entry_per_step():
    histories: Histories[float] = Histories()
    for step, rate in ((1, 0.25), (1, 0.75), (2, 0.5), (1, 1.0)):
        histories.append(7, step, rate)
    assert histories[7] == (0.25, 0.5)
    assert histories[8] == ()


def test_items_are_listed_by_index_whatever_the_order_of_their_visits():
    histories: Histories[float] = Histories()
    for index in (30, 4, 17):
        histories.append(index, 1, 0.0)
    assert list(histories) == [4, 17, 30]
    assert list(histories.as_state()) == ["4", "17", "30"]


@pytest.mark.parametrize("entries", [numbers, texts])
def test_histories_survive_json_bit_for_bit(entries):
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9), entries)))
    def survives(appended):
        histories = Histories()
        for index, step, entry in appended:
            histories.append(index, step, entry)
        state = json.loads(json.dumps(histories.as_state(), allow_nan=False))
        restored = Histories.from_state(state)
        assert repr(restored.as_state()) == repr(histories.as_state())
        restored.append(0, 9, entry := None)
        histories.append(0, 9, entry)
        assert repr(restored[0]) == repr(histories[0])

    survives()


def test_an_index_that_occurs_twice_is_one_visit_with_all_its_rollouts():
    groups = make_groups([["4", "4"], ["9", "8"], ["4", "5"]], ["4", None, "4"], index=[2, 1, 2])
    found = visits(groups)
    assert list(found) == [1, 2]
    assert found[2].answers == ("4", "4", "4", "5")
    assert found[2].pass_rate("4") == 0.75
    assert [found[1].labelled, found[2].labelled] == [False, True]


def test_the_pass_rate_counts_equivalent_answers_and_keeps_missing_ones_in_the_denominator():
    visit = visits(make_groups([["1/2", "0.5", None, "2"]], index=[0]))[0]
    assert visit.pass_rate("\\frac12") == 0.5
