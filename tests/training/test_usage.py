import subprocess
import sys
import time

from benchmark.training.usage import UsageMonitor, read_usage

BUSY = "import time\nblock = bytearray(64 * 2**20)\nend = time.time() + 60\nwhile time.time() < end: pass"


def test_processes_are_counted_by_the_environment_that_they_carry(tmp_path):
    mine = subprocess.Popen([sys.executable, "-c", BUSY], env={"VENUS_TEST_JOB": "a"})
    other = subprocess.Popen([sys.executable, "-c", BUSY], env={"VENUS_TEST_JOB": "b"})
    try:
        with UsageMonitor(tmp_path, 1, "VENUS_TEST_JOB", "a", period_seconds=0.2):
            time.sleep(3)
    finally:
        for process in (mine, other):
            process.kill()
            process.wait()
    with UsageMonitor(tmp_path, 2, "VENUS_TEST_JOB", "nobody", period_seconds=0.2):
        time.sleep(1)
    counted, alone = read_usage(tmp_path)
    assert counted["peak_rss_bytes"] - alone["peak_rss_bytes"] > 60 * 2**20
    assert counted["peak_rss_bytes"] - alone["peak_rss_bytes"] < 120 * 2**20  # one process, not both
    assert counted["cpu_seconds"] > alone["cpu_seconds"]
    assert [counted["attempt"], alone["attempt"]] == [1, 2]
