"""An output whose reader went away takes the rest, and the command goes on."""

import os
from contextlib import redirect_stdout

from benchmark.standard_output import PatientOutput, print_lines


def unread_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w", encoding="utf-8")


def test_what_is_printed_for_nobody_counts_as_printed():
    with unread_pipe() as pipe:
        stream = PatientOutput(pipe)
        assert stream.write("x" * 100_000) == 100_000
        stream.flush()
        assert stream.unread
        assert stream.write("y") == 1
        stream.flush()


def test_a_buffer_that_is_flushed_for_nobody_is_dropped():
    with unread_pipe() as pipe:
        stream = PatientOutput(pipe)
        stream.write("short")
        assert not stream.unread
        stream.flush()
        assert stream.unread


def test_what_is_read_arrives(tmp_path):
    with (tmp_path / "out").open("w", encoding="utf-8") as file:
        stream = PatientOutput(file)
        stream.write("text")
        stream.flush()
        assert (stream.unread, stream.encoding) == (False, "utf-8")
    assert (tmp_path / "out").read_text(encoding="utf-8") == "text"


def test_lines_are_no_longer_made_when_nobody_reads_them():
    made = []

    def lines():
        for number in range(1000):
            made.append(number)
            yield "x" * 1000

    with unread_pipe() as pipe, redirect_stdout(PatientOutput(pipe)):
        print_lines(lines())
    assert 0 < len(made) < 100
