"""The Ray cluster of a run, held by a process of its own.

The driver never imports Ray. It starts `python -m benchmark.runs.cluster`, which starts a local cluster or
connects to an existing one, reports its address and nodes, and ends when its standard input does: that
is when the driver closes it, exits or is killed. Ray's own processes end with the one that started them, so
nothing is left behind. A logical GPU per lane stands for the slot of a cell that trains on CPUs, because
verl counts only GPUs; it is a slot, not a claim about hardware.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmark.errors import InfeasibleError, StageError
from benchmark.files import write_atomically
from benchmark.runs.resources import GIB, Node
from benchmark.suite.compose import Cluster

LOCAL = "local"
START_SECONDS = 180.0
_CPUS_PER_LANE = 16  # logical: each bundle of verl also asks for CPUs, and a shortage hangs without a word
_OBJECT_STORE = 1 * GIB  # of a cluster without GPUs: tensors travel by TransferQueue, not by the object store
_TEMPORARY = "venus-ray-"
_KNOCK_SECONDS = 10.0
_REPORT = "cluster.json"
_LOG = "log.txt"
_AUTHENTICATION = "RAY_AUTH_MODE"


class RayCluster:
    """The cluster as the driver sees it: started on demand, polled, closed."""

    def __init__(self, settings: Cluster) -> None:
        self.settings = settings
        self._folder: Path | None = None  # of the report and the log of the process
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0

    def start(self) -> None:
        """Start or join the cluster unless that has happened; returns at once."""
        if self._process is not None:
            return
        self._folder = Path(tempfile.mkdtemp(prefix="venus-cluster-"))
        with (self._folder / _LOG).open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmark.runs.cluster", str(self._folder), json.dumps(asdict(self.settings))],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                start_new_session=True,
            )
        self._started = time.monotonic()

    def poll(self) -> str | None:
        """Return the address once the cluster is up, None while it starts.

        Raises InfeasibleError where an existing cluster cannot be reached, StageError where a local one does
        not start.
        """
        report = self._read()
        if report is not None and "address" in report:
            return str(report["address"])
        ended = self._process is None or self._process.poll() is not None
        if ended or time.monotonic() - self._started > START_SECONDS:
            reason = (report or {}).get("error", f"no answer, its log is in {self._folder}")
            self.close()
            if report is not None and self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)  # the log adds nothing to the reason
            if self.settings.address == LOCAL:
                raise StageError(f"Ray did not start on this machine: {reason}")
            raise InfeasibleError(
                f"no Ray cluster at cluster.address={self.settings.address!r}: {reason}; "
                "fix: start one, or set cluster.address=local"
            )
        return None

    def environment(self) -> dict[str, str]:
        """Return the variables without which a process cannot connect to the cluster."""
        found: dict[str, str] = (self._read() or {}).get("environment", {})
        return found

    def nodes(self) -> tuple[Node, ...]:
        """Wait for the cluster and return its nodes; raises what `poll` raises."""
        self.start()
        while self.poll() is None:
            time.sleep(0.1)
        report = self._read() or {"nodes": []}
        return tuple(Node(**node) for node in report["nodes"])

    def close(self) -> None:
        """Let go of the cluster; one that was started here ends."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _read(self) -> dict[str, Any] | None:
        if self._folder is None:
            return None
        try:
            report: dict[str, Any] = json.loads((self._folder / _REPORT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return report


def hold(folder: Path, settings: Cluster) -> None:
    """Bring the cluster up, report it in `folder`, and hold it until standard input ends; then remove both."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    temporary: Path | None = None
    try:
        _knock(settings.address)
        import ray

        if settings.address == LOCAL:
            temporary = _temporary_folder()
            ray.init(**_local_options(settings, temporary))
        else:
            ray.init(address=settings.address, namespace="venus", log_to_driver=False)
    except Exception as error:  # whatever it is, the driver turns it into one line
        write_atomically(folder / _REPORT, json.dumps({"error": " ".join(str(error).split())[:300]}))
        raise
    try:
        address = ray.get_runtime_context().gcs_address
        nodes = [asdict(_node(entry)) for entry in ray.nodes() if entry["Alive"]]
        # Ray turns token authentication on for a cluster that it starts, but not for who connects by address.
        environment = {name: os.environ[name] for name in (_AUTHENTICATION,) if name in os.environ}
        found = {"address": address, "nodes": nodes, "environment": environment}
        write_atomically(folder / _REPORT, json.dumps(found))
        sys.stdin.buffer.read()
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _knock(address: str) -> None:
    """Raise OSError where nothing listens at host:port: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_KNOCK_SECONDS).close()


def _local_options(settings: Cluster, temporary: Path) -> dict[str, Any]:
    options: dict[str, Any] = {
        "address": LOCAL,
        "include_dashboard": False,
        "namespace": "venus",
        "log_to_driver": False,
        "num_cpus": max(os.cpu_count() or 1, settings.lanes * max(_CPUS_PER_LANE, settings.cpus_per_cell)),
        "_temp_dir": str(temporary),
    }
    if settings.gpus_per_cell == 0:
        options |= {"num_gpus": settings.lanes, "object_store_memory": _OBJECT_STORE}
    return options


def _temporary_folder() -> Path:
    """Create Ray's folder, with a short path as sockets need, and remove those of processes that were killed."""
    root = Path(tempfile.gettempdir())
    for old in root.glob(f"{_TEMPORARY}*"):
        pid = old.name.removeprefix(_TEMPORARY)
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(old, ignore_errors=True)
    folder = root / f"{_TEMPORARY}{os.getpid()}"
    folder.mkdir(exist_ok=True)
    return folder


def _node(entry: dict[str, Any]) -> Node:
    resources = entry["Resources"]
    return Node(
        name=entry["NodeManagerHostname"],
        cpus=int(resources.get("CPU", 0)),
        gpus=int(resources.get("GPU", 0)),
        memory_gb=round(resources.get("memory", 0.0) / GIB, 1),
    )


if __name__ == "__main__":
    hold(Path(sys.argv[1]), Cluster(**json.loads(sys.argv[2])))
