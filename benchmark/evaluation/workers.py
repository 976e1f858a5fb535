"""Worker processes that compare answers by algebra, and are killed when they take too long.

A formula of a model can make sympy, or one power of big integers, run for ever; no signal handler and no thread stops
that. So every comparison runs in a process of its own interpreter, which is killed at its deadline and replaced. The
pool may be used from any thread and survives the death of a worker from outside.

Trade-off taken: the deadline is processor time of the worker, not time on the clock, so that a busy machine gives the
same verdicts as an idle one; the clock only guards against a worker that does nothing. Processes talk over pipes in
JSON lines instead of `multiprocessing`, whose spawned children import the main module of whoever grades.
"""

import atexit
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from enum import StrEnum
from types import TracebackType
from typing import Final

import psutil

from benchmark.errors import VenusError
from benchmark.evaluation.symbolic_worker import READY

DEADLINE: Final = 5.0
"""Seconds of processor time that one comparison may take."""
MEMORY: Final = 2 * 2**30
"""Bytes of address space that one worker may use."""
_CLOCK_FACTOR: Final = 8  # on the clock a comparison may take so many deadlines
_START_SECONDS: Final = 180.0
_POLL_SECONDS: Final = 0.1
_MEMO_SIZE: Final = 1 << 14


class Outcome(StrEnum):
    """What a comparison gave."""

    SAME = "same"
    DIFFERENT = "different"
    UNREADABLE = "unreadable"
    """One of the two is no formula that is read; their texts decide."""
    TIMEOUT = "timeout"
    """The worker was killed at its deadline."""
    FAILED = "failed"
    """The worker ran out of memory, died twice, or sympy raised an error."""


class WorkerPool:
    """Up to `size` worker processes, each started when it is first needed; outcomes are remembered, unless told not."""

    def __init__(self, size: int = 1, deadline: float = DEADLINE, memory: int = MEMORY, remember: bool = True):
        self.size = size
        self.deadline = deadline
        self._memory = memory
        self._slots: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(size):
            self._slots.put(None)
        self._memo: dict[tuple[str, str, str | None], Outcome] = {}
        self._remember = remember
        self._closed = False

    def compare(self, answer: str, gold: str, tolerance: str | None = None) -> Outcome:
        """Compare two answers as `benchmark.evaluation.symbolic.same_answer` does; waits for a free worker.

        Raises VenusError where a worker does not start, nor a second one.
        """
        key = (answer, gold, tolerance)
        if (known := self._memo.get(key)) is not None:
            return known
        outcome = self._compare(json.dumps(key))
        if self._remember and outcome is not Outcome.FAILED and len(self._memo) < _MEMO_SIZE:
            self._memo[key] = outcome
        return outcome

    def process_ids(self) -> list[int]:
        """Return the process ids of the workers that run and are idle."""
        return [worker.process.pid for worker in list(self._slots.queue) if worker is not None]

    def close(self) -> None:
        """End the idle workers; one that is at work ends when its comparison does."""
        self._closed = True
        for _ in range(self.size):
            try:
                worker = self._slots.get_nowait()
            except queue.Empty:
                return
            if worker is not None:
                worker.kill()
            self._slots.put(None)

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _compare(self, request: str) -> Outcome:
        worker = self._slots.get()
        try:
            for attempt in range(2):  # a worker that was killed from outside gets one successor
                try:
                    worker = worker or _Worker(self.deadline, self._memory)
                except _StartError:
                    if attempt:
                        raise
                    continue
                reply = worker.ask(request)
                if reply in (Outcome.SAME, Outcome.DIFFERENT, Outcome.UNREADABLE):
                    return Outcome(reply)
                if reply.startswith(Outcome.FAILED) and "MemoryError" not in reply:
                    return Outcome.FAILED
                worker.kill()
                worker = None
                if reply:  # at its deadline, or out of memory: a successor would end likewise
                    return Outcome.TIMEOUT if reply == Outcome.TIMEOUT else Outcome.FAILED
            return Outcome.FAILED
        except BaseException:
            if worker is not None:  # interrupted between question and reply
                worker.kill()
                worker = None
            raise
        finally:
            if self._closed and worker is not None:
                worker.kill()
                worker = None
            self._slots.put(worker)


class _StartError(VenusError):
    """A worker ended before it was ready."""


class _Worker:
    """One process and the two ends of its pipes."""

    def __init__(self, deadline: float, memory: int):
        self.deadline = deadline
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "benchmark.evaluation.symbolic_worker",
            str(memory),
            str(deadline),
        ]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.usage = psutil.Process(self.process.pid)
        self.buffer = b""
        if self._read_line(float("inf"), _START_SECONDS) != READY:
            self.kill()
            raise _StartError(
                f"a worker for symbolic comparison did not start: found exit status {self.process.returncode}, "
                f"allowed a reply within {_START_SECONDS:.0f} s; fix: see the message above, or free memory"
            )

    def ask(self, request: str) -> str:
        """Send a line and return the reply; empty where the process died, `timeout` at the deadline."""
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(request.encode() + b"\n")
            self.process.stdin.flush()
            return self._read_line(self._seconds_used() + self.deadline, self.deadline * _CLOCK_FACTOR)
        except (BrokenPipeError, psutil.NoSuchProcess):
            return ""

    def kill(self) -> None:
        """End the process at once and forget it."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what was not sent is not wanted any more
        self.process.wait()

    def _seconds_used(self) -> float:
        times = self.usage.cpu_times()
        return float(times.user + times.system)

    def _read_line(self, used_at_most: float, seconds: float) -> str:
        assert self.process.stdout is not None
        source = self.process.stdout.fileno()
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            readable, _, _ = select.select([source], [], [], _POLL_SECONDS)
            if readable:
                found = os.read(source, 4096)
                if not found:
                    return ""
                self.buffer += found
            elif time.monotonic() > end or self._seconds_used() > used_at_most:
                return Outcome.TIMEOUT.value
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()


_default: tuple[int, WorkerPool] | None = None
_default_lock = threading.Lock()


def default_pool() -> WorkerPool:
    """Return the pool of this process: a worker for each of up to four processors, ended at exit.

    A forked child gets a pool of its own, because two processes cannot share the pipes of one worker.
    """
    global _default  # noqa: PLW0603 - one pool per process, made when it is first needed
    with _default_lock:
        if _default is None or _default[0] != os.getpid():
            _default = (os.getpid(), WorkerPool(size=max(1, min(4, len(os.sched_getaffinity(0))))))
            atexit.register(_close_default, os.getpid())
        return _default[1]


def _close_default(owner: int) -> None:
    if _default is not None and _default[0] == owner == os.getpid():
        _default[1].close()
