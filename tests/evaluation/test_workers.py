import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from benchmark.errors import VenusError
from benchmark.evaluation import workers
from benchmark.evaluation.grader import Verdict, grade
from benchmark.evaluation.workers import Outcome, WorkerPool, default_pool

# Its value is asked for to a few digits, which takes hundreds of millions of digits on the way.
ENDLESS = (r"\cos(e^{e^{20}})", "1+x")


@pytest.fixture(scope="module")
def pool():
    with WorkerPool(size=2) as pool:
        yield pool


def test_answers_are_compared_by_algebra(pool):
    assert pool.compare("11+9a", "9a+11") is Outcome.SAME
    assert pool.compare("11+9b", "9a+11") is Outcome.DIFFERENT
    assert pool.compare(r"\int x", "9a+11") is Outcome.UNREADABLE
    assert pool.compare("1.4", r"\sqrt{2}", "0.1") is Outcome.SAME


def test_a_comparison_that_does_not_end_is_killed_at_its_deadline_and_the_next_one_works():
    with WorkerPool(deadline=0.5) as pool:
        assert pool.compare("x", "y") is Outcome.DIFFERENT
        [first] = pool.process_ids()
        started = time.process_time()
        assert pool.compare(*ENDLESS) is Outcome.TIMEOUT
        assert time.process_time() - started < 5  # waiting costs this process nothing
        assert not psutil.pid_exists(first)
        assert pool.compare("y+x", "x+y") is Outcome.SAME


def test_a_timeout_is_remembered_instead_of_repeated():
    with WorkerPool(deadline=0.5) as pool:
        assert pool.compare(*ENDLESS) is Outcome.TIMEOUT
        assert pool.process_ids() == []
        assert pool.compare(*ENDLESS) is Outcome.TIMEOUT
        assert pool.process_ids() == []


def test_an_idle_worker_that_is_killed_from_outside_is_replaced(pool):
    assert pool.compare("a+b", "b+a") is Outcome.SAME
    for pid in pool.process_ids():
        os.kill(pid, signal.SIGKILL)
    assert pool.compare("a+c", "c+a") is Outcome.SAME


def test_a_busy_worker_that_is_killed_from_outside_gets_one_successor_and_then_there_is_a_verdict():
    with WorkerPool(deadline=60) as pool:
        assert pool.compare("x", "y") is Outcome.DIFFERENT
        [busy] = pool.process_ids()
        response, gold = rf"\boxed{{{ENDLESS[0]}}}", ENDLESS[1]
        others = {child.pid for child in psutil.Process().children()} - {busy}
        outcomes = []
        thread = threading.Thread(target=lambda: outcomes.append(grade(response, gold, pool=pool).verdict))
        thread.start()
        killed = set()
        deadline = time.monotonic() + 120
        while thread.is_alive() and time.monotonic() < deadline:
            for child in psutil.Process().children():
                if child.pid not in others | killed and child.cpu_times().user > 1:  # it has started
                    child.kill()
                    killed.add(child.pid)
            time.sleep(0.1)
        thread.join(1)
        assert outcomes == [Verdict.ERROR]
        assert busy in killed
        assert len(killed) == 2
        assert pool.compare("x", "x+0") is Outcome.SAME


def test_threads_share_the_workers(pool):
    outcomes = {}

    def compare(number):
        outcomes[number] = pool.compare(f"{number}+x", f"x+{number}")

    threads = [threading.Thread(target=compare, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == dict.fromkeys(range(12), Outcome.SAME)
    assert len(pool.process_ids()) <= pool.size


def test_closing_ends_the_workers():
    with WorkerPool() as pool:
        pool.compare("x", "y")
        [pid] = pool.process_ids()
    assert not psutil.pid_exists(pid)


def test_the_memory_of_a_worker_is_limited():
    limited = (
        "from benchmark.evaluation.symbolic_worker import limit_memory\n"
        "limit_memory(300 * 2**20)\n"
        "try:\n    bytearray(10**9)\nexcept MemoryError:\n    print('refused')\n"
    )
    found = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=True)
    assert found.stdout == "refused\n"


def kill_starting_workers(monkeypatch, how_many):
    """Kill the first workers before they are ready; returns the list that collects their process ids."""
    start, killed = subprocess.Popen, []

    def popen(*arguments, **settings):
        process = start(*arguments, **settings)
        if len(killed) < how_many:
            process.kill()
            killed.append(process.pid)
        return process

    monkeypatch.setattr(workers.subprocess, "Popen", popen)
    return killed


def test_a_worker_that_is_killed_while_it_starts_gets_one_successor(monkeypatch):
    killed = kill_starting_workers(monkeypatch, 1)
    with WorkerPool() as pool:
        assert pool.compare("x+y", "y+x") is Outcome.SAME
    assert len(killed) == 1


def test_two_workers_that_are_killed_while_they_start_are_an_error_and_the_pool_goes_on(monkeypatch):
    killed = kill_starting_workers(monkeypatch, 2)
    with WorkerPool() as pool:
        with pytest.raises(VenusError, match="did not start: found exit status -9"):
            pool.compare("x+y", "y+x")
        assert len(killed) == 2
        assert pool.compare("x+y", "y+x") is Outcome.SAME


def test_a_worker_that_cannot_start_says_so(capfd):
    with WorkerPool(memory=2**20) as pool, pytest.raises(VenusError, match="did not start: found exit status"):
        pool.compare("x", "y")
    assert capfd.readouterr().err  # what the process said before it ended


def test_a_process_has_one_pool_and_a_forked_child_another(monkeypatch):
    assert default_pool() is default_pool()
    mine = default_pool()
    monkeypatch.setattr(workers.os, "getpid", lambda: -1)
    assert default_pool() is not mine


def test_the_kernel_ends_a_worker_whose_parent_is_gone():
    lost = (
        "import os, time\n"
        "from benchmark.evaluation.workers import WorkerPool\n"
        "import threading\n"
        "pool = WorkerPool(deadline=0.2)\n"
        "pool.compare('x', 'y')\n"
        "print(pool.process_ids()[0], flush=True)\n"
        f"threading.Thread(target=pool.compare, args={ENDLESS!r}, daemon=True).start()\n"
        "time.sleep(0.05)\n"
        "os._exit(0)\n"
    )
    found = subprocess.run([sys.executable, "-c", lost], stdout=subprocess.PIPE, text=True, check=True)
    pid = int(found.stdout)
    end = time.monotonic() + 120
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE and time.monotonic() < end:
        time.sleep(0.2)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
