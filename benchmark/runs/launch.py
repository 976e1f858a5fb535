"""Attempts at stages: how they are started, watched and stopped.

An attempt is a process in a session of its own, or, for light stages, a thread of the driver. Both are
polled by the scheduler. Processes must be started from the thread that outlives them, as the kernel ties
their life to the thread and not only to the process that started them.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import traceback
from typing import Protocol

from benchmark.runs import job as jobs
from benchmark.runs.failures import Failure, FailureKind, classify, classify_exit
from benchmark.runs.store import LOG
from benchmark.stage import StageJob

GRACE_SECONDS = 5.0
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Attempt(Protocol):
    """One attempt at a stage."""

    pid: int

    def ended(self) -> bool:
        """Say whether it has ended, without waiting."""

    def failure(self) -> Failure | None:
        """Return why an ended attempt failed, None where it succeeded."""

    def stop(self) -> bool:
        """End it now, with everything that it started; return whether it can no longer write."""


class ProcessAttempt:
    """A stage in a process of its own; output goes to the log in its work folder."""

    def __init__(self, job: StageJob, function: str) -> None:
        self.job = job
        jobs.write_job(job, function)
        threads = str(job.runtime.get("threads", 1))
        environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, threads), "PYTHONUNBUFFERED": "1"}
        environment |= job.runtime.get("environment", {})
        with (job.work / LOG).open("ab") as log:
            log.write(f"--- attempt {job.attempt} at {job.kind.value} {job.key}\n".encode())
            log.flush()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmark.runs.job", str(job.work.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=job.work,
                env=environment,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def ended(self) -> bool:
        """Say whether the process has ended; what it left running in its group is ended then, too."""
        if self._process.poll() is None:
            return False
        self._signal(signal.SIGKILL)
        return True

    def failure(self) -> Failure | None:
        """Read the report of the process; without one, judge by its exit status."""
        if (self.job.work / jobs.RESULT).exists():
            return None
        return jobs.read_failure(self.job.work) or classify_exit(self._process.returncode)

    def stop(self) -> bool:
        """Ask the process group to end, and kill it after a grace period."""
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=GRACE_SECONDS)
        self._signal(signal.SIGKILL)
        self._process.wait()
        return True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is gone
            os.killpg(self.pid, number)


class ThreadAttempt:
    """A light stage in a thread of the driver.

    A thread cannot be ended: one that passed its deadline is left alone, and its stage is not tried again by
    this driver. It is a daemon, so it does not keep the driver from exiting.
    """

    def __init__(self, job: StageJob, function: str) -> None:
        self.job = job
        self.pid = os.getpid()
        self._failure: Failure | None = None
        self._thread = threading.Thread(target=self._run, args=(function,), name=job.kind.value, daemon=True)
        self._thread.start()

    def ended(self) -> bool:
        """Say whether the thread has ended."""
        return not self._thread.is_alive()

    def failure(self) -> Failure | None:
        """Return how the stage failed, None where it succeeded."""
        return self._failure

    def stop(self) -> bool:
        """Leave the thread alone: nothing can end it."""
        return self.ended()

    def _run(self, function: str) -> None:
        try:
            jobs.stage_function(function)(self.job)
        except Exception as error:  # noqa: BLE001  (whatever it is, it fails this stage and no other)
            self._failure = classify(error, self.job.kind)
            with (self.job.work / LOG).open("a", encoding="utf-8") as log:
                log.write(f"--- attempt {self.job.attempt} at {self.job.kind.value} {self.job.key}\n")
                log.write(traceback.format_exc())


def overdue(seconds: float) -> Failure:
    """Build the failure of an attempt that passed its deadline."""
    return Failure(FailureKind.HANG, f"no end after {seconds:g} s, the deadline of an attempt")
