import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.evaluation.engines.stop import StopWatch, cut_at_stop

SPECIAL = 0


def decode(ids):
    """Tokens are bytes of UTF-8 (1 to 255); an incomplete character becomes a replacement character."""
    return bytes(ids).decode("utf-8", errors="replace")


def first_end(text, stop):
    """How many bytes of the text are written when the first stop string is complete, None if none is."""
    content = text.encode()
    return next((n for n in range(1, len(content) + 1) if any(s in decode(content[:n]) for s in stop)), None)


def watched(text, stop):
    """The same from a StopWatch that sees one byte at a time."""
    watch = StopWatch(stop, decode, {SPECIAL}, 1)
    return next((n for n, byte in enumerate(text.encode(), 1) if watch.ended([0], [byte]) == [True]), None)


@pytest.mark.parametrize(
    ("text", "stop", "expected"),
    [
        ("4\n\nQuestion: 5", ("Question:",), ("4\n\n", True)),
        ("a</answer>b", ("nothing", "</answer>"), ("a", True)),
        ("one two", ("two", "one"), ("", True)),
        ("no stop here", ("STOP",), ("no stop here", False)),
        ("anything", (), ("anything", False)),
    ],
)
def test_a_text_is_cut_before_the_first_stop_string(text, stop, expected):
    assert cut_at_stop(text, stop) == expected


@pytest.mark.parametrize("text", ["x" * 500 + "</answer>" + "y" * 9, "é" * 90 + "√2 end </answer>", "</answer>"])
def test_a_stop_string_is_seen_at_the_token_that_completes_it(text):
    assert watched(text, ("</answer>",)) == len(text.partition("</answer>")[0].encode()) + len("</answer>")


@given(st.text("abé√", max_size=60), st.lists(st.text("abé√", min_size=1, max_size=4), min_size=1, max_size=3))
def test_the_tail_finds_what_the_whole_text_would(text, stop):
    assert watched(text, stop) == first_end(text, stop)


def test_special_tokens_do_not_hide_a_stop_string():
    watch = StopWatch(("ab",), decode, {SPECIAL}, 1)
    assert [watch.ended([0], [token]) for token in (*b"a", *[SPECIAL] * 100, *b"b")] == [[False]] * 101 + [[True]]


def test_rows_are_watched_apart():
    watch = StopWatch(("ab",), decode, {SPECIAL}, 3)
    assert watch.ended([0, 1, 2], [*b"aab"]) == [False, False, False]
    assert watch.ended([2, 0], [*b"bb"]) == [False, True]
