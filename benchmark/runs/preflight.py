"""What can never run, said before anything starts."""

from collections.abc import Iterable, Sequence

from benchmark.errors import InfeasibleError
from benchmark.runs.resources import Node, Resources


def problems(need: Resources, nodes: Iterable[Node]) -> tuple[str, ...]:
    """Say for each node why it cannot hold a cell; empty where one node can.

    A cell is not spread over nodes: verl's workers of one cell share a placement group.
    """
    found = []
    for node in nodes:
        short = [
            f"{has:g} {unit}"
            for wanted, has, unit in (
                (need.cpus, node.cpus, "CPUs"),
                (need.gpus, node.gpus, "GPUs"),
                (need.memory_gb, node.memory_gb, "GiB"),
            )
            if wanted > has
        ]
        if not short:
            return ()
        found.append(f"{node.name} has {' and '.join(short)}")
    return tuple(found) or ("it has no node",)


def check(needs: Sequence[Resources], nodes: Sequence[Node]) -> None:
    """Raise InfeasibleError where the cluster can never fit one of `needs`."""
    for need in dict.fromkeys(needs):
        if reasons := problems(need, nodes):
            raise InfeasibleError(
                f"the cluster can never fit a cell: it needs {need.cpus} CPUs, {need.gpus} GPUs and "
                f"{need.memory_gb:g} GiB on one node, found {'; '.join(reasons)}; "
                "fix: choose another profile or cluster.address, or lower cluster.cpus_per_cell, gpus_per_cell "
                "or memory_gb_per_cell"
            )
