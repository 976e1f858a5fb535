"""The planner: chained keys, shared stages, and exactly the missing work."""

import json
from collections import Counter
from dataclasses import replace

from tiny_suite import CELLS, cell

from benchmark.runs.planner import plan_suite
from benchmark.runs.stages import STAGES
from benchmark.stage import StageKind
from benchmark.suite.spec import MethodSpec, NoiseKind, ProbeSpec, SelectionSpec, SupervisionSpec

PROBE = ProbeSpec(8, 1.0, 1.0, 40, "transformers")
PLAN = plan_suite(CELLS, CELLS[1])


def kinds(keys, plan=PLAN):
    return sorted(plan.stages[key].kind.value for key in keys)


def test_keys_are_those_of_the_stages():
    assert all(key == stage.key for key, stage in PLAN.stages.items())


def test_inputs_come_before_what_reads_them():
    order = list(PLAN.stages)
    for key, stage in PLAN.stages.items():
        assert all(order.index(parent) < order.index(key) for _, parent in stage.inputs)


def test_cells_share_what_is_equal_and_nothing_else():
    count = Counter(stage.kind for stage in PLAN.stages.values())
    assert count == {
        StageKind.BASE_MODEL: 1,
        StageKind.POOL: 1,
        StageKind.BENCHMARKS: 1,
        StageKind.SUPERVISE: 2,
        StageKind.TRAIN: 2,
        StageKind.GENERATE: 3,
        StageKind.GRADE: 3,
        StageKind.RECORD: 3,
    }


def test_equal_supervision_is_shared_by_methods():
    plan = plan_suite((cell("grpo", 0.5), cell("ttrl", 0.5)), cell("grpo", 0.5))
    assert plan.cells[0].stages[StageKind.SUPERVISE] == plan.cells[1].stages[StageKind.SUPERVISE]
    assert plan.cells[0].stages[StageKind.TRAIN] != plan.cells[1].stages[StageKind.TRAIN]


def test_the_untrained_policy_has_no_training_stage_and_reads_the_base_model():
    base = PLAN.cells[0]
    assert StageKind.TRAIN not in base.stages
    inputs = dict(PLAN.stages[base.stages[StageKind.GENERATE]].inputs)
    assert inputs == {"model": base.stages[StageKind.BASE_MODEL], "benchmarks": base.stages[StageKind.BENCHMARKS]}
    assert set(dict(PLAN.stages[base.stages[StageKind.RECORD]].inputs)) == {"verdicts", "samples", "benchmarks"}


def test_a_record_of_a_trained_cell_reads_its_training_and_supervision():
    record = PLAN.stages[PLAN.cells[1].stages[StageKind.RECORD]]
    assert set(dict(record.inputs)) == {"verdicts", "samples", "benchmarks", "train", "supervise", "pool"}


def test_all_methods_of_a_seed_are_sampled_with_the_same_seed():
    plan = plan_suite((cell("grpo", seed=5), cell("ttrl", seed=5), cell("ttrl", seed=6)), cell("grpo"))
    seeds = [json.loads(plan.stages[c.stages[StageKind.GENERATE]].params)["seed"] for c in plan.cells]
    assert seeds == [105, 105, 106]


def test_the_reference_is_marked_on_all_its_seeds():
    cells = (cell("grpo", seed=0), cell("grpo", seed=1), cell("ttrl"))
    assert [c.reference for c in plan_suite(cells, cells[1]).cells] == [True, True, False]


def test_an_empty_store_needs_everything_and_a_full_one_nothing():
    assert PLAN.needed(lambda kind, key: False) == tuple(PLAN.stages)
    assert PLAN.needed(lambda kind, key: True) == ()


def test_only_what_leads_to_a_missing_artifact_is_needed():
    target = PLAN.cells[2]
    lost = {target.stages[StageKind.GRADE], target.stages[StageKind.RECORD]}
    assert kinds(PLAN.needed(lambda kind, key: key not in lost)) == ["grade", "record"]


def test_a_removed_intermediate_artifact_of_finished_cells_is_not_built_again():
    lost = {cell.stages[StageKind.GENERATE] for cell in PLAN.cells} | {PLAN.cells[1].stages[StageKind.POOL]}
    assert PLAN.needed(lambda kind, key: key not in lost) == ()


def test_a_new_version_of_a_stage_makes_it_and_its_readers_new():
    newer = {**STAGES, StageKind.GRADE: replace(STAGES[StageKind.GRADE], version=99)}
    had = set(PLAN.stages)
    plan = plan_suite(CELLS, CELLS[1], newer)
    assert kinds(plan.needed(lambda kind, key: key in had), plan) == ["grade"] * 3 + ["record"] * 3


def test_a_selection_probes_the_base_policy_and_feeds_the_labels():
    chosen = replace(
        cell("grpo"), selection=SelectionSpec("coe_r", "{}", "budget", 0.3, 0.4, ("hidden_states",)), probe=PROBE
    )
    plan = plan_suite((chosen,), chosen)
    keys = plan.cells[0].stages
    assert dict(plan.stages[keys[StageKind.SUPERVISE]].inputs) == {
        "pool": keys[StageKind.POOL],
        "selection": keys[StageKind.SELECT],
    }
    probe = plan.stages[keys[StageKind.PROBE]]
    assert dict(probe.inputs) == {"model": keys[StageKind.BASE_MODEL], "pool": keys[StageKind.POOL]}
    assert json.loads(probe.params)["evidence"] == ["hidden_states"]
    assert json.loads(probe.params)["layers"] == "all"


def test_methods_under_the_same_active_noise_share_one_probe():
    noise = SupervisionSpec(1.0, NoiseKind.ACTIVE_FIXED, 0.5)
    cells = [replace(cell(name), supervision=noise, probe=PROBE) for name in ("grpo", "ttrl")]
    plan = plan_suite(cells, cells[0])
    assert plan.cells[0].stages[StageKind.PROBE] == plan.cells[1].stages[StageKind.PROBE]
    assert set(dict(plan.stages[plan.cells[0].stages[StageKind.SUPERVISE]].inputs)) == {"pool", "probe"}


def rounds_of_three():
    spec = replace(cell("grpo", 0.5), method=MethodSpec("trapo_v2", 1, "{}", 3), probe=PROBE)
    return plan_suite((spec,), spec)


def test_every_round_continues_the_one_before_on_changed_labels():
    plan = rounds_of_three()
    trains = [stage for stage in plan.stages.values() if stage.kind is StageKind.TRAIN]
    assert [json.loads(stage.params)["round"] for stage in trains] == [0, 1, 2]
    assert [dict(stage.inputs).get("previous") for stage in trains] == [None, trains[0].key, trains[1].key]
    transitions = [stage for stage in plan.stages.values() if stage.kind is StageKind.TRANSITION]
    assert [sorted(dict(stage.inputs)) for stage in transitions] == [
        ["pool", "probe_0", "supervise"],
        ["pool", "probe_0", "probe_1", "supervise"],
    ]
    assert [dict(stage.inputs)["supervise"] for stage in trains[1:]] == [stage.key for stage in transitions]
    assert dict(plan.stages[plan.cells[0].stages[StageKind.RECORD]].inputs)["supervise"] == transitions[1].key


def test_the_chain_of_a_cell_has_every_round_of_it_inputs_first():
    plan = rounds_of_three()
    chain = plan.chain(plan.cells[0])
    assert sorted(chain) == sorted(plan.stages)
    for position, key in enumerate(chain):
        assert all(parent in chain[:position] for _, parent in plan.stages[key].inputs)
