"""What nodes have, what stages take, and the arithmetic between the two."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmark.runs.stages import Place
from benchmark.stage import Stage
from benchmark.suite.compose import Cluster

GIB = 1024**3
_NVIDIA = Path("/proc/driver/nvidia/gpus")  # one entry per GPU; asking torch would take seconds


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster."""

    name: str
    cpus: int
    gpus: int
    memory_gb: float  # GiB


@dataclass(frozen=True, slots=True)
class Resources:
    """What a stage holds while it runs."""

    cpus: int = 0
    gpus: int = 0
    lanes: int = 0
    memory_gb: float = 0.0  # judged per node by the preflight, not counted by the scheduler
    takes_free_cpus: bool = False  # grows to all CPU slots that are free when it starts

    def fits(self, free: "Resources") -> bool:
        """Say whether `free` covers this."""
        return self.cpus <= free.cpus and self.gpus <= free.gpus and self.lanes <= free.lanes

    def __str__(self) -> str:
        return f"{self.cpus} CPUs, {self.gpus} GPUs and {self.lanes} lanes"

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(self.cpus + other.cpus, self.gpus + other.gpus, self.lanes + other.lanes)

    def __sub__(self, other: "Resources") -> "Resources":
        return Resources(self.cpus - other.cpus, self.gpus - other.gpus, self.lanes - other.lanes)


def stage_resources(stage: Stage, place: Place, cluster: Cluster) -> Resources:
    """Return what a stage holds while it runs, before any growth."""
    if place is Place.DRIVER:
        return Resources()
    if place is Place.WHOLE_MACHINE:
        return Resources(cpus=1, takes_free_cpus=True)
    if place is Place.LANE:
        return Resources(cluster.cpus_per_cell, cluster.gpus_per_cell, 1, cluster.memory_gb_per_cell)
    on_gpus = json.loads(stage.params).get("engine") == "vllm"
    return Resources(cpus=1, gpus=cluster.gpus_per_cell if on_gpus else 0)


def capacity(nodes: Iterable[Node], cluster: Cluster) -> Resources:
    """Return what the scheduler may hand out at one time."""
    nodes = tuple(nodes)
    return Resources(sum(node.cpus for node in nodes), sum(node.gpus for node in nodes), cluster.lanes)


def local_node() -> Node:
    """Describe this machine."""
    import psutil

    gpus = len(list(_NVIDIA.iterdir())) if _NVIDIA.is_dir() else 0
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Node("this machine", cpus, gpus, round(psutil.virtual_memory().total / GIB, 1))
