"""What a job uses: processor time and resident memory, summed over all its processes.

The processes of a job are its driver and the Ray workers that carry its environment; Ray's own
daemons are shared by all jobs and not counted. Resident memory counts shared pages once per process,
so the figure is an upper bound.
"""

import json
import os
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from benchmark.files import write_atomically

PATTERN = "usage-*.json"
SETTLED_SECONDS = 60.0  # Ray gives a worker its environment only some time after it has started the process


class UsageMonitor:
    """Context manager that samples the job's processes and keeps `usage-<attempt>.json` up to date.

    The file survives a kill, so that the cost of a crashed attempt is not forgotten.
    """

    def __init__(self, folder: Path, attempt: int, variable: str, value: str, period_seconds: float = 2.0) -> None:
        self.path = folder / f"usage-{attempt:03d}.json"
        self.attempt, self.variable, self.value, self.period = attempt, variable, value, period_seconds
        self._belongs: dict[int, bool] = {}  # pid -> whether it is ours
        self._cpu: dict[int, float] = {}  # pid -> processor seconds when last seen
        self._peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="usage", daemon=True)

    def __enter__(self) -> "UsageMonitor":
        self._started = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()

    def _watch(self) -> None:
        while not self._stop.wait(self.period):
            self._sample()

    def _sample(self) -> None:
        resident = 0
        for process in psutil.process_iter():
            try:
                if self._is_ours(process):
                    resident += process.memory_info().rss
                    times = process.cpu_times()
                    self._cpu[process.pid] = times.user + times.system
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue  # it ended between the listing and the look, or is not ours to see
        self._peak = max(self._peak, resident)
        self._write()

    def _is_ours(self, process: psutil.Process) -> bool:
        if process.pid == os.getpid():
            return True
        if process.pid in self._belongs:
            return self._belongs[process.pid]
        ours = process.environ().get(self.variable) == self.value
        if ours or time.time() - process.create_time() > SETTLED_SECONDS:
            self._belongs[process.pid] = ours
        return ours

    def _write(self) -> None:
        usage = {
            "attempt": self.attempt,
            "wall_seconds": time.perf_counter() - self._started,
            "cpu_seconds": sum(self._cpu.values()),
            "peak_rss_bytes": self._peak,
        }
        write_atomically(self.path, json.dumps(usage))


def read_usage(folder: Path) -> list[dict[str, Any]]:
    """Read the usage of every attempt that left a file, in order."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob(PATTERN))]
