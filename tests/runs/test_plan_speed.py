"""How long planning and replaying take; absolute times are for the closing notes, never asserted."""

import json
import os
import subprocess
import sys
import time

import pytest

from benchmark.runs.ledger import read_events, replay
from benchmark.runs.planner import plan_suite
from benchmark.suite.compose import compose_profile
from benchmark.suite.file import parse_suite
from benchmark.suite.grid import expand, reference_cell

LARGE = """
name: large
version: 1
title: A thousand cells
profile: micro
seeds: {seeds}
reference: {{method: grpo, label_ratio: 1.0}}
cells:
  - {{method: [grpo, ttrl], label_ratio: [0.1, 0.2, 0.5, 0.8, 1.0], pool: [512, 1536]}}
"""


def large(seeds):
    return LARGE.format(seeds=list(range(seeds)))


def plan(seeds, profile):
    suite = parse_suite(large(seeds), "large.yaml")
    cells = expand(suite, profile)
    return plan_suite(cells, reference_cell(suite, profile, cells))


def test_a_thousand_cells_are_a_thousand_cells():
    assert len(plan(50, compose_profile("micro")).cells) == 1000


def test_planning_grows_linearly_with_the_cells():
    profile = compose_profile("micro")
    plan(5, profile)  # imports and caches

    def seconds(seeds):
        times = []
        for _ in range(3):
            begun = time.perf_counter()
            plan(seeds, profile)
            times.append(time.perf_counter() - begun)
        return min(times)

    assert seconds(100) < 40 * seconds(5)  # twenty times the cells, with room for a busy machine


def test_speed_of_planning_a_thousand_cells(benchmark):
    profile = compose_profile("micro")
    assert len(benchmark(plan, 50, profile).cells) == 1000


@pytest.mark.parametrize("verb", ["plan", "--help"])
def test_speed_of_the_command(benchmark, verb, tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text(large(50))
    arguments = [verb, str(path)] if verb == "plan" else [verb]
    command = [sys.executable, "-m", "benchmark.cli", *arguments]
    environment = {**os.environ, "VENUS_STORE": str(tmp_path / "store")}

    def call():
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert "cells: 1000" in benchmark.pedantic(call, rounds=5, warmup_rounds=1) or verb == "--help"


def test_speed_of_replaying_a_hundred_thousand_events(benchmark, tmp_path):
    path = tmp_path / "ledger.jsonl"
    with path.open("w") as stream:
        for number in range(50_000):
            key = f"{number % 20_000:064x}"
            started = {"event": "stage_started", "time": number, "key": key, "stage": "train", "attempt": 1, "pid": 1}
            ended = {"event": "stage_finished", "time": number, "key": key, "stage": "train", "seconds": 1.5}
            stream.write(json.dumps(started) + "\n" + json.dumps(ended) + "\n")
    history = benchmark.pedantic(lambda: replay(read_events(path)), rounds=3)
    assert len(history.stages) == 20_000
    assert history.of(f"{7:064x}").attempts == 3
