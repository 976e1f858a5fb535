"""From cells to the graph of stages that produce them.

A cell is a chain of stages with chained keys; cells that agree on a stage share it, so a suite is a
graph without duplicates. `needed` then walks that graph backwards from what the report reads and stops
at what the store has: exactly the missing work is left, and that is all there is to resuming.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from benchmark.evaluation.grader import GRADER_VERSION
from benchmark.runs.stages import STAGES, StageDefinition
from benchmark.stage import Stage, StageKind, canonical_json
from benchmark.suite.identity import arm_key, arm_labels, cell_id
from benchmark.suite.spec import CellSpec, EvalSpec, NoiseKind, ProbeSpec, plain


@dataclass(frozen=True, slots=True)
class CellPlan:
    """A cell with the keys of its stages in the order of its life; of a kind that each round has, the last."""

    spec: CellSpec
    id: str
    arm: str  # arm key
    label: str
    reference: bool
    stages: Mapping[StageKind, str]

    @property
    def targets(self) -> tuple[str, ...]:
        """Keys of the stages whose artifacts the report reads."""
        return tuple(self.stages[kind] for kind in (StageKind.TRAIN, StageKind.RECORD) if kind in self.stages)


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """All cells of a suite and their stages, each key once, inputs before what reads them."""

    cells: tuple[CellPlan, ...]
    stages: Mapping[str, Stage]

    def needed(self, has: Callable[[StageKind, str], bool]) -> tuple[str, ...]:
        """Return the keys of the stages that must run, in order, given what the store has.

        An input is looked at only if something needs it: a removed intermediate artifact of a finished
        cell is not built again.
        """
        missing: set[str] = set()
        seen: set[str] = set()
        queue = [key for cell in self.cells for key in cell.targets]
        while queue:
            key = queue.pop()
            if key in seen:
                continue
            seen.add(key)
            stage = self.stages[key]
            if not has(stage.kind, key):
                missing.add(key)
                queue.extend(parent for _, parent in stage.inputs)
        return tuple(key for key in self.stages if key in missing)

    def chain(self, cell: CellPlan) -> tuple[str, ...]:
        """Return the keys of all stages that a cell is built from, inputs before what reads them."""
        found: dict[str, None] = {}

        def visit(key: str) -> None:
            if key not in found:
                for _, parent in self.stages[key].inputs:
                    visit(parent)
                found[key] = None

        for target in cell.targets:
            visit(target)
        return tuple(found)

    def readers(self) -> dict[str, tuple[str, ...]]:
        """Map each key to the keys of the stages that read its artifact."""
        found: dict[str, list[str]] = {key: [] for key in self.stages}
        for key, stage in self.stages.items():
            for _, parent in stage.inputs:
                found[parent].append(key)
        return {key: tuple(keys) for key, keys in found.items()}


def plan_suite(
    cells: Sequence[CellSpec],
    reference: CellSpec,
    definitions: Mapping[StageKind, StageDefinition] = STAGES,
) -> SuitePlan:
    """Plan the cells of a suite; `reference` is any cell of the arm that the others are compared with."""
    graph = _Graph(definitions)
    reference_arm = arm_key(reference)
    plans = []
    for spec, label in zip(cells, arm_labels(cells), strict=True):
        arm = arm_key(spec)
        plans.append(CellPlan(spec, cell_id(spec), arm, label, arm == reference_arm, graph.add_cell(spec)))
    return SuitePlan(tuple(plans), graph.stages)


@dataclass
class _Graph:
    """Stages by key. What cells have in common is built once: a large suite is planned in a fraction of a second."""

    definitions: Mapping[StageKind, StageDefinition]
    stages: dict[str, Stage] = field(default_factory=dict)
    _shared: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def add_cell(self, spec: CellSpec) -> dict[StageKind, str]:
        """Add the chain of a cell and return its keys by kind; of a kind that occurs in each round, the last."""
        keys: dict[StageKind, str] = {}
        keys[StageKind.BASE_MODEL] = policy = self._share(StageKind.BASE_MODEL, spec.model)
        training: dict[str, str] = {}
        if spec.trained:
            keys |= self._supervision(spec, policy)
            keys |= self._training(spec, policy, keys[StageKind.POOL], keys[StageKind.SUPERVISE])
            policy = keys[StageKind.TRAIN]
            data = keys.get(StageKind.TRANSITION, keys[StageKind.SUPERVISE])
            training = {"train": policy, "supervise": data, "pool": keys[StageKind.POOL]}
        keys[StageKind.BENCHMARKS] = benchmarks = self._share(StageKind.BENCHMARKS, _items(spec.eval))
        keys[StageKind.GENERATE] = samples = self._add(
            StageKind.GENERATE, _sampling(spec.eval, spec.seed), {"model": policy, "benchmarks": benchmarks}
        )
        keys[StageKind.GRADE] = verdicts = self._add(
            StageKind.GRADE, _GRADING, {"samples": samples, "benchmarks": benchmarks}
        )
        keys[StageKind.RECORD] = self._add(
            StageKind.RECORD, "{}", {"verdicts": verdicts, "samples": samples, "benchmarks": benchmarks, **training}
        )
        return keys

    def _supervision(self, spec: CellSpec, policy: str) -> dict[StageKind, str]:
        """Add what leads to the data of the first round: pool, probe of the base policy, selection, labels."""
        keys: dict[StageKind, str] = {}
        keys[StageKind.POOL] = pool = self._share(StageKind.POOL, spec.data)
        inputs = {"pool": pool}
        active = spec.supervision.noise_kind is NoiseKind.ACTIVE_FIXED
        if spec.probe and (spec.selection or active):
            evidence = spec.selection.evidence if spec.selection else ()
            inputs["probe"] = keys[StageKind.PROBE] = self._probe(spec.probe, evidence, spec.seed, policy, pool)
        if spec.selection:
            inputs["selection"] = keys[StageKind.SELECT] = self._share(
                StageKind.SELECT, spec.selection, {"seed": spec.seed}, {"pool": pool, "probe": inputs["probe"]}
            )
        if not active:
            inputs.pop("probe", None)
        keys[StageKind.SUPERVISE] = self._share(StageKind.SUPERVISE, spec.supervision, {"seed": spec.seed}, inputs)
        return keys

    def _training(self, spec: CellSpec, base: str, pool: str, data: str) -> dict[StageKind, str]:
        """Add the rounds of training; between two rounds the pool is probed and labels change."""
        keys: dict[StageKind, str] = {}
        method, train, rounds = _plain(spec.method), _plain(spec.train), spec.method.rounds
        probes: dict[str, str] = {}
        previous: dict[str, str] = {}
        for number in range(rounds):
            params = {"method": method, "train": train, "seed": spec.seed}
            if rounds > 1:
                params |= {"round": number, "rounds": rounds}
            keys[StageKind.TRAIN] = trained = self._add(
                StageKind.TRAIN, canonical_json(params), {"base_model": base, "supervise": data, **previous}
            )
            previous = {"previous": trained}
            if number + 1 < rounds and spec.probe:
                probes[f"probe_{number}"] = self._probe(spec.probe, (), spec.seed, trained, pool)
                keys[StageKind.TRANSITION] = data = self._add(
                    StageKind.TRANSITION,
                    canonical_json({"method": method["name"], "options": method["options"], "round": number}),
                    {"pool": pool, "supervise": data, **probes},
                )
        return keys

    def _probe(self, probe: ProbeSpec, evidence: tuple[str, ...], seed: int, policy: str, pool: str) -> str:
        layers = "all" if "hidden_states" in evidence else "none"
        more = {"evidence": evidence, "layers": layers, "seed": seed}
        return self._share(StageKind.PROBE, probe, more, {"model": policy, "pool": pool})

    def _share(
        self,
        kind: StageKind,
        part: Any,
        more: Mapping[str, Any] = MappingProxyType({}),
        inputs: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """Add a stage whose parameters are a part of the specification, and remember it by that part."""
        found = (kind, part, *more.values(), *inputs.values())
        if found not in self._shared:
            self._shared[found] = self._add(kind, canonical_json({**_plain(part), **more}), inputs)
        return self._shared[found]

    def _add(self, kind: StageKind, params: str, inputs: Mapping[str, str]) -> str:
        stage = Stage(kind, self.definitions[kind].version, params, tuple(sorted(inputs.items())))
        key = stage.key
        self.stages.setdefault(key, stage)
        return key


@dataclass(frozen=True, slots=True)
class _Items:
    """The part of an evaluation that says which items there are."""

    source: str
    benchmarks: tuple[str, ...]
    items: int


@lru_cache(maxsize=64)
def _items(evaluation: EvalSpec) -> _Items:
    return _Items(evaluation.source, evaluation.benchmarks, evaluation.items)


@lru_cache(maxsize=4096)
def _sampling(evaluation: EvalSpec, seed: int) -> str:
    """Return the parameters of sampling; the seed is the same for all methods: common random numbers."""
    return canonical_json(
        {
            "samples": json.loads(evaluation.samples),
            "temperature": evaluation.temperature,
            "top_p": evaluation.top_p,
            "max_tokens": evaluation.max_tokens,
            "engine": evaluation.engine,
            "seed": evaluation.seed + seed,
        }
    )


_GRADING = canonical_json({"grader_version": GRADER_VERSION})


@lru_cache(maxsize=4096)
def _plain(part: Any) -> dict[str, Any]:
    return plain(part)
