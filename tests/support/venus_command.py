"""The command `venus` in a process of its own, as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path


def run_venus(
    *arguments: object, store: Path | None = None, cwd: Path | None = None, text: str = "", **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command with one thread; `text` is its standard input, `store` its VENUS_STORE."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    if store is not None:
        variables["VENUS_STORE"] = str(store)
    return subprocess.run(
        [sys.executable, "-m", "benchmark.cli", *map(str, arguments)],
        input=text,
        env=variables,
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


UNREAD = """
import os, sys
reading, writing = os.pipe()
os.close(reading)
os.dup2(writing, 1)
import benchmark.cli
sys.argv = ["venus", *sys.argv[1:]]
benchmark.cli.main()
"""


def run_unread(*arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the command with a standard output whose reader has gone, as that of `head` does."""
    return subprocess.run(
        [sys.executable, "-c", UNREAD, *map(str, arguments)],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
