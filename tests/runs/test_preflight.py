"""Resources: what fits, and what is refused before anything starts."""

import pytest
from tiny_suite import CELLS, CLUSTER

from benchmark.errors import InfeasibleError
from benchmark.runs.planner import plan_suite
from benchmark.runs.preflight import check, problems
from benchmark.runs.resources import Node, Resources, capacity, local_node, stage_resources
from benchmark.runs.stages import STAGES, Place
from benchmark.stage import Stage, StageKind, canonical_json

CELL = Resources(cpus=24, gpus=8, lanes=1, memory_gb=256)


def test_a_node_that_has_everything_is_enough():
    assert problems(CELL, [Node("small", 2, 0, 20), Node("large", 128, 8, 1000)]) == ()


def test_each_node_says_what_it_lacks():
    nodes = [Node("a", 2, 0, 1000), Node("b", 128, 4, 1000)]
    assert problems(CELL, nodes) == ("a has 2 CPUs and 0 GPUs", "b has 4 GPUs")


def test_two_halves_are_not_a_node():
    assert problems(CELL, [Node("a", 64, 4, 500), Node("b", 64, 4, 500)]) != ()


def test_a_cell_that_never_fits_is_refused_in_one_line():
    with pytest.raises(InfeasibleError, match="it needs 24 CPUs, 8 GPUs and 256 GiB on one node") as caught:
        check([Resources(cpus=1), CELL], [Node("this machine", 2, 0, 22.5)])
    assert "found this machine has 2 CPUs and 0 GPUs and 22.5 GiB" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_node_at_all_is_refused():
    with pytest.raises(InfeasibleError, match="it has no node"):
        check([Resources(cpus=1)], [])


def test_this_machine_is_described():
    node = local_node()
    assert node.cpus >= 1
    assert node.memory_gb > 0.1


def test_a_micro_cell_fits_one_core_without_gpus():
    stages = plan_suite(CELLS, CELLS[1]).stages.values()
    needs = [stage_resources(stage, STAGES[stage.kind].place, CLUSTER) for stage in stages]
    assert {problems(need, [Node("n", 1, 0, 6)]) for need in needs} == {()}


def test_slots_are_handed_out_and_come_back():
    total = capacity([Node("a", 2, 0, 8), Node("b", 4, 1, 8)], CLUSTER)
    assert (total.cpus, total.gpus, total.lanes) == (6, 1, 2)
    lane = Resources(cpus=4, lanes=1)
    assert lane.fits(total)
    assert not lane.fits(total - lane)
    assert total - lane + lane == total


def test_sampling_with_vllm_needs_the_gpus_of_a_cell():
    for engine, gpus in (("vllm", 8), ("transformers", 0)):
        stage = Stage(StageKind.GENERATE, 1, canonical_json({"engine": engine}), ())
        settings = type(CLUSTER)("auto", 1, 24, 8, 256.0, 8, 20, 60.0, 3)
        assert stage_resources(stage, Place.PROCESS, settings).gpus == gpus
