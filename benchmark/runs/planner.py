"""From cells to the graph of stages that produce them.

A cell is a chain of stages with chained keys; cells that agree on a stage share it, so a suite is a
graph without duplicates. `needed` then walks that graph backwards from what the report reads and stops
at what the store has: exactly the missing work is left, and that is all there is to resuming.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from benchmark.evaluation.grader import GRADER_VERSION
from benchmark.runs.stages import STAGES, StageDefinition
from benchmark.stage import Stage, StageKind, canonical_json
from benchmark.suite.identity import arm_key, arm_labels, cell_id
from benchmark.suite.spec import CellSpec, EvalSpec, plain


@dataclass(frozen=True, slots=True)
class CellPlan:
    """A cell with the keys of its stages, by kind, in the order of its life."""

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
        """Add the chain of a cell and return its keys by kind."""
        keys: dict[StageKind, str] = {}
        keys[StageKind.BASE_MODEL] = policy = self._share(StageKind.BASE_MODEL, spec.model)
        training: dict[str, str] = {}
        if spec.trained:
            keys[StageKind.POOL] = pool = self._share(StageKind.POOL, spec.data)
            keys[StageKind.SUPERVISE] = supervise = self._share(
                StageKind.SUPERVISE, spec.supervision, {"seed": spec.seed}, {"pool": pool}
            )
            keys[StageKind.TRAIN] = policy = self._add(
                StageKind.TRAIN,
                canonical_json({"method": _plain(spec.method), "train": _plain(spec.train), "seed": spec.seed}),
                {"base_model": policy, "supervise": supervise},
            )
            training = {"train": policy, "supervise": supervise}
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
            "samples": evaluation.samples,
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
