"""Progress of a training job, from the lines that it writes."""

import io
import json

import pytest
from rich.console import Console

from benchmark.runs.console import PlainLines, display, duration
from benchmark.runs.progress import PROGRESS, CellState, JobProgress, RunningStage, RunView, read_progress


def lines(work, *entries):
    with (work / PROGRESS).open("a") as stream:
        for step, reward, time in entries:
            stream.write(json.dumps({"step": step, "steps": 10, "reward": reward, "time": time}) + "\n")


def test_no_file_is_no_progress(tmp_path):
    assert read_progress(tmp_path, 0.0) is None


def test_one_line_has_no_pace_yet(tmp_path):
    lines(tmp_path, (1, 0.25, 100.0))
    assert read_progress(tmp_path, 0.0) == JobProgress(1, 10, 0.25, None)


def test_the_time_left_follows_the_pace(tmp_path):
    lines(tmp_path, (1, 0.1, 100.0), (2, 0.2, 102.0), (4, 0.5, 106.0))
    assert read_progress(tmp_path, 0.0) == JobProgress(4, 10, 0.5, 12.0)


def test_lines_of_an_earlier_attempt_do_not_count(tmp_path):
    lines(tmp_path, (1, 0.1, 0.0), (6, 0.2, 5.0), (5, 0.2, 1000.0), (6, 0.3, 1003.0))
    assert read_progress(tmp_path, 900.0) == JobProgress(6, 10, 0.3, 12.0)
    assert read_progress(tmp_path, 1004.0) is None


def test_a_line_that_is_being_written_and_a_reward_that_is_none_are_survived(tmp_path):
    lines(tmp_path, (1, None, 1.0))
    with (tmp_path / PROGRESS).open("a") as stream:
        stream.write('{"step": 2, "st')
    assert read_progress(tmp_path, 0.0) == JobProgress(1, 10, None, None)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7440, "2 h 04 min")]
)
def test_durations_are_for_people(seconds, text):
    assert duration(seconds) == text


VIEW = RunView(
    {CellState.DONE: 1, CellState.RUNNING: 1, CellState.PENDING: 0, CellState.FAILED: 0},
    3,
    9,
    (
        RunningStage("train", "ttrl, 10% labels, seed 0", 2, 31.0, JobProgress(4, 10, 0.5, 12.0)),
        RunningStage("generate", "base model, seed 0", 1, 7.0, None),
    ),
    75.0,
)


def test_a_terminal_gets_a_live_panel_with_events_above_it():
    screen = Console(force_terminal=True, width=100, file=io.StringIO(), color_system=None)
    with display(screen, machine=False) as listener:
        listener.event("done in 1.0 s: pool [shared]")
        listener.tick(VIEW)
        listener.live.refresh()
        shown = screen.file.getvalue()
    assert "done in 1.0 s: pool [shared]" in shown
    assert "cells: 1 done, 1 running; stages: 3/9; 1 min 15 s" in shown
    assert "attempt 2 step 4/10, reward 0.500, 12 s left" in shown
    assert "base model, seed 0" in shown


def test_a_machine_is_shown_nothing(capsys):
    with display(Console(), machine=True) as listener:
        listener.event("done")
        listener.tick(VIEW)
    assert capsys.readouterr().out == ""


def test_plain_lines_come_now_and_then(capsys, monkeypatch):
    listener = PlainLines()
    listener.tick(VIEW)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("benchmark.runs.console.PLAIN_SECONDS", 0.0)
    listener.tick(VIEW)
    assert capsys.readouterr().out == (
        "cells: 1 done, 1 running; stages: 3/9; 1 min 15 s; "
        "train (ttrl, 10% labels, seed 0) attempt 2 step 4/10, reward 0.500, 12 s left; "
        "generate (base model, seed 0) 7 s\n"
    )
