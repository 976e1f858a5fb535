"""The Ray cluster of a run: real processes, which leave nothing behind however the driver ends."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest
from tiny_suite import CLUSTER

from benchmark.errors import InfeasibleError
from benchmark.runs.cluster import RayCluster

# A driver with a cluster, and with a client on it that connects as a training job does.
DRIVER = """
import json, time
from tiny_suite import CLUSTER
from benchmark.runs.cluster import RayCluster

cluster = RayCluster(CLUSTER)
(node,) = cluster.nodes()
print(cluster._process.pid, node.gpus, cluster.poll(), json.dumps(cluster.environment()), sep="|", flush=True)
time.sleep(600)
"""
CLIENT = """
import sys, ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="error")

@ray.remote(num_gpus=1)
def slot():
    return "ran in a lane"

print(ray.get(slot.remote(), timeout=60))
"""


def gone(processes, seconds=30.0):
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_a_killed_driver_leaves_no_process_of_its_cluster(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    driver = subprocess.Popen([sys.executable, "-c", DRIVER], stdout=subprocess.PIPE, text=True)
    pid, gpus, address, environment = driver.stdout.readline().strip().split("|")
    assert int(gpus) == CLUSTER.lanes
    client = subprocess.run(
        [sys.executable, "-c", CLIENT, address],
        env={**os.environ, **json.loads(environment)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert client.stdout == "ran in a lane\n", client.stderr
    holder = psutil.Process(int(pid))
    cluster = [holder, *holder.children(recursive=True)]
    assert any("raylet" in process.name() for process in cluster)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    assert gone(cluster) == []


def test_an_address_without_a_cluster_is_infeasible_in_one_line():
    cluster = RayCluster(replace(CLUSTER, address="127.0.0.1:1"))
    with pytest.raises(InfeasibleError, match=r"no Ray cluster at cluster\.address='127\.0\.0\.1:1'") as caught:
        cluster.nodes()
    assert "\n" not in str(caught.value)


def test_a_cluster_that_was_never_started_can_be_closed_and_has_no_environment():
    cluster = RayCluster(CLUSTER)
    cluster.close()
    assert cluster.environment() == {}
