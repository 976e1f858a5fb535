"""The frozen values that describe a cell; everything in them is part of its identity.

Paths, hosts, thread counts, loggers, checkpoint frequency and the like are deliberately not here:
two cells that differ only in those are the same cell. They live in the runtime section of a profile.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from benchmark.stage import canonical_json

BASE = "base"
"""Method name of the untrained policy, a reference that has no training stage."""


class NoiseKind(StrEnum):
    """How the label of a corrupted row is wrong."""

    NONE = "none"
    """No label is corrupted."""
    INACTIVE = "inactive"
    """A label that the policy never produces: the group earns nothing."""
    ACTIVE_FIXED = "active_fixed"
    """A wrong answer that the base policy gives, drawn once from its probe rollouts."""
    ACTIVE_REDRAW = "active_redraw"
    """A wrong answer of the item's own group, drawn anew at every visit."""


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """A method with its version and its options as canonical JSON, defaults filled in."""

    name: str
    version: int
    options: str = "{}"
    rounds: int = 1  # of training, with a change of labels between two


@dataclass(frozen=True, slots=True)
class SupervisionSpec:
    """Which labels the learner is given."""

    label_ratio: float  # nominal share of the pool that is labelled, in [0, 1]
    noise_kind: NoiseKind = NoiseKind.NONE
    noise_ratio: float = 0.0  # nominal share of the labelled rows that is corrupted, in [0, 1]
    rows: str = "all"  # methods.base.TrainingRows: which rows enter the training file


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The base policy: `source` names the way to obtain it, `recipe` its parameters."""

    source: str  # micro | hub | local
    recipe: str  # canonical JSON


@dataclass(frozen=True, slots=True)
class DataSpec:
    """The pool and the validation panel: `source` names the way to obtain them."""

    source: str  # micro | hub | local
    pool: int  # rows
    panel: int  # rows
    recipe: str  # canonical JSON


@dataclass(frozen=True, slots=True)
class SelectionSpec:
    """How the questions to label are chosen, before training (DE-Venus, section 2.4)."""

    scorer: str  # methods.selection
    options: str  # of the scorer, canonical JSON
    mode: str  # budget | calibrated
    annotate: float  # share of the pool that is labelled, in [0, 1]; a budget
    discard: float  # share of the pool that is left out, in [0, 1]; a budget
    evidence: tuple[str, ...] = ()  # what the scorer reads of the probe, beside the answers


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """How answers to the pool are sampled from a policy, where a cell needs evidence or wrong answers."""

    samples: int  # responses per question
    temperature: float
    top_p: float
    max_tokens: int
    engine: str  # transformers | vllm


class Estimator(StrEnum):
    """How rewards become advantages; each is verl's own."""

    GRPO = "grpo"
    """Reward minus the mean of the group, over its standard deviation."""
    DR_GRPO = "dr_grpo"
    """Reward minus the mean of the group; the loss is not divided by response lengths (arXiv 2503.20783)."""
    RLOO = "rloo"
    """Reward minus the mean of the others in the group (arXiv 2402.14740)."""
    REINFORCE_PLUS_PLUS = "reinforce_plus_plus"
    """Reward, standardised over the batch (arXiv 2501.03262)."""


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """One verl job: hyper-parameters of the policy optimisation and the engine that runs it."""

    backend: str  # configs/backend: cpu | gpu
    steps: int
    prompts: int  # per step
    rollouts: int  # per prompt
    temperature: float
    top_p: float
    learning_rate: float
    warmup_steps: int
    weight_decay: float
    kl_coefficient: float  # weight of the k3 estimate of the divergence from the base policy
    clip: float
    estimator: str  # Estimator
    normalise_by_std: bool  # of GRPO
    labelled_share: float  # of each batch; 0 means that labelled and unlabelled rows are shuffled together
    max_prompt_tokens: int
    max_response_tokens: int
    panel_every: int  # steps between evaluations of the validation panel; 0 means never
    panel_samples: int  # responses per panel question


EVAL_SOURCES = ("micro", "local", "hub")
"""Where benchmarks come from: generated, files below the data directory, a dataset hub."""


@dataclass(frozen=True, slots=True)
class EvalSpec:
    """Which benchmarks are sampled, and how."""

    source: str  # EVAL_SOURCES
    benchmarks: tuple[str, ...]  # distinct
    items: int  # per benchmark; 0 means all
    protocol: str  # benchmark.suite.protocols; values below that differ from it are shown as deviations
    samples: str  # n of avg@n: a number, or canonical JSON of {benchmark: n}
    temperature: float
    top_p: float  # in (0, 1]
    max_tokens: int
    engine: str  # transformers | vllm
    seed: int


@dataclass(frozen=True, slots=True)
class CellSpec:
    """One cell of a suite: a method under one supervision regime, with one seed."""

    method: MethodSpec
    supervision: SupervisionSpec
    seed: int
    model: ModelSpec
    data: DataSpec
    train: TrainSpec
    eval: EvalSpec
    selection: SelectionSpec | None = None
    probe: ProbeSpec | None = None  # where the cell needs one

    @property
    def trained(self) -> bool:
        """False for the untrained base policy."""
        return self.method.name != BASE


def plain(spec: Any) -> dict[str, Any]:
    """Return a specification as plain JSON data, nested recipes parsed."""

    def parse(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: json.loads(item) if key in ("recipe", "options") and isinstance(item, str) else parse(item)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [parse(item) for item in value]
        return value

    result: dict[str, Any] = parse(asdict(spec))
    return result


def frozen_json(value: Mapping[str, Any]) -> str:
    """Freeze a mapping as canonical JSON, so that a spec that holds it hashes and compares by value."""
    return canonical_json(dict(value))
