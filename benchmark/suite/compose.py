"""Profiles: the settings that a suite's cells share, composed by Hydra from configs/profile.

The sections model, data, train and eval become specifications and enter the identity of every cell;
the section cluster says where and how cells run and enters none. Overrides (`train.steps=2`,
`model=qwen3_8b_base`) follow Hydra's grammar, but no new key may appear and every value must have the type
that its specification declares. verl's own tree is not touched here: it is composed by the training code.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import SuiteError, UserError, unknown_name
from benchmark.suite.protocols import follow_protocol
from benchmark.suite.spec import (
    EVAL_SOURCES,
    DataSpec,
    Estimator,
    EvalSpec,
    ModelSpec,
    ProbeSpec,
    TrainSpec,
    frozen_json,
)

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where cells run; nothing in it changes a result."""

    address: str  # "local" starts Ray here, "auto" finds a running one, else its address
    lanes: int  # cells that train side by side
    cpus_per_cell: int
    gpus_per_cell: int
    memory_gb_per_cell: float  # resident, GiB
    threads: int  # of each process of a cell
    checkpoint_every: int  # steps
    deadline_minutes: float  # of one attempt at one stage
    attempts: int  # at one stage, in one run


@dataclass(frozen=True, slots=True)
class Profile:
    """A composed profile."""

    name: str
    model: ModelSpec
    data: DataSpec
    train: TrainSpec
    probe: ProbeSpec
    eval: EvalSpec
    cluster: Cluster


SECTIONS: dict[str, type] = {
    "model": ModelSpec,
    "data": DataSpec,
    "train": TrainSpec,
    "probe": ProbeSpec,
    "eval": EvalSpec,
    "cluster": Cluster,
}

# Smallest values that mean something; what is not listed may be anything of its type.
_MINIMUM: dict[str, float] = {
    "data.pool": 0,
    "data.panel": 1,
    "train.steps": 1,
    "train.prompts": 1,
    "train.rollouts": 1,
    "train.temperature": 0,
    "train.learning_rate": 0,
    "train.warmup_steps": 0,
    "train.kl_coefficient": 0,
    "train.max_prompt_tokens": 1,
    "train.max_response_tokens": 1,
    "train.panel_every": 0,
    "train.panel_samples": 1,
    "train.labelled_share": 0,
    "probe.samples": 1,
    "probe.temperature": 0,
    "probe.max_tokens": 1,
    "eval.items": 0,
    "eval.temperature": 0,
    "eval.max_tokens": 1,
    "eval.seed": 0,
    "cluster.lanes": 1,
    "cluster.cpus_per_cell": 1,
    "cluster.gpus_per_cell": 0,
    "cluster.memory_gb_per_cell": 0,
    "cluster.threads": 1,
    "cluster.checkpoint_every": 1,
    "cluster.deadline_minutes": 0,
    "cluster.attempts": 1,
}

_MAXIMUM: dict[str, float] = {"train.labelled_share": 1, "train.top_p": 1, "probe.top_p": 1, "eval.top_p": 1}
_ABOVE_ZERO = ("train.top_p", "probe.top_p", "eval.top_p")
_CHOICES: dict[str, tuple[str, ...]] = {
    "train.estimator": tuple(kind.value for kind in Estimator),
    "eval.source": EVAL_SOURCES,
}

_TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false"}


def profile_names(configs: Path = CONFIGS) -> tuple[str, ...]:
    """Name the profiles of a configuration folder."""
    return tuple(sorted(path.stem for path in (configs / "profile").glob("*.yaml")))


def compose_profile(name: str, overrides: Sequence[str] = (), configs: Path = CONFIGS) -> Profile:
    """Compose a profile with Hydra-style overrides.

    Raises UnknownNameError for an unknown profile, key or option of a group, SuiteError for a value of the
    wrong type or range; each in one line.
    """
    if not configs.is_dir():
        raise UserError(
            f"no configuration folder beside the package: found nothing at {configs}, needed the folder configs; "
            "fix: install from a checkout with `pip install -e .`"
        )
    if name not in profile_names(configs):
        raise unknown_name("profile", name, profile_names(configs))
    for override in overrides:
        _check_shape(override)
    tree = _compose(name, overrides, configs)
    if isinstance(tree.get("eval"), Mapping):
        tree["eval"] = follow_protocol(tree["eval"])
    parts = {section: _build(cls, section, tree.get(section)) for section, cls in SECTIONS.items()}
    return Profile(name=name, **parts)


def _check_shape(override: str) -> None:
    key, separator, _ = override.partition("=")
    if not separator or not key or key[0] in "+~":
        raise SuiteError(f"override {override!r} is not of the form key=value; fix: write for example train.steps=2")


def _compose(name: str, overrides: Sequence[str], configs: Path) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    # The profile is laid over an empty root, so that its sections are at the top: `train`, not `profile.train`.
    everything = [f"+profile@_global_={name}", *overrides]
    try:
        with initialize_config_dir(str(configs.resolve()), version_base=None, job_name="venus"):
            tree: Any = OmegaConf.to_container(compose(None, overrides=everything), resolve=True)
    except MissingConfigException as error:
        group, _, option = (error.missing_cfg_file or "").rpartition("/")
        raise unknown_name(f"option of the group {group!r}", option, error.options or ()) from None
    except ConfigCompositionException as error:
        raise _unplaced(error, name, overrides, configs) from None
    except (HydraException, OmegaConfBaseException) as error:
        raise SuiteError(f"profile {name!r} cannot be composed: {_first_line(error)}") from None
    return dict(tree)


def _unplaced(error: Exception, name: str, overrides: Sequence[str], configs: Path) -> UserError:
    """Explain an override that Hydra could not place: name the unknown key, with the nearest one."""
    known = _compose(name, (), configs) if overrides else {}
    for override in overrides:
        level: Any = known
        for part in override.partition("=")[0].split("."):
            if not isinstance(level, Mapping) or part not in level:
                nearest = unknown_name("key", part, level if isinstance(level, Mapping) else ())
                return type(nearest)(f"override {override!r}: {nearest}")
            level = level[part]
    return SuiteError(f"profile {name!r} cannot be composed: {_first_line(error)}")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["unknown reason"])[0]


def _build(cls: type, section: str, values: Any) -> Any:
    """Fill a specification from a section of the tree, field by field and strictly typed."""
    if not isinstance(values, Mapping):
        raise SuiteError(f"section {section!r} is {values!r}, allowed a mapping; fix: choose a file of its group")
    hints = typing.get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)]
    for key in values:
        if key not in names:
            raise unknown_name(f"key of section {section!r}", str(key), names)
    missing = [name for name in names if name not in values]
    if missing:
        raise SuiteError(f"section {section!r} lacks {', '.join(missing)}; fix: add it to the file of its group")
    return cls(**{name: typed_value(f"{section}.{name}", hints[name], values[name]) for name in names})


def typed_value(key: str, hint: Any, value: Any) -> Any:
    """Return `value` as its declared type; a whole number passes for a float, nothing else is converted."""
    if isinstance(hint, types.GenericAlias):  # tuple[str, ...]
        return _names(key, value)
    if key.endswith(".recipe"):
        if not isinstance(value, Mapping):
            raise _wrong_type(key, value, "a mapping")
        try:
            return frozen_json(value)
        except ValueError:
            raise _wrong_type(key, value, "finite numbers") from None
    if hint is float and type(value) is int:
        value = float(value)
    if type(value) is not hint:
        raise _wrong_type(key, value, _TYPE_NAMES.get(hint, "a name"))
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong_type(key, value, "a finite number")
    if key in _MINIMUM and value < _MINIMUM[key]:
        raise SuiteError(f"{key}: found {value}, allowed {_MINIMUM[key]:g} or more; fix: raise it")
    if key in _ABOVE_ZERO and value <= 0:
        raise SuiteError(f"{key}: found {value:g}, allowed more than 0; fix: raise it")
    if key in _MAXIMUM and value > _MAXIMUM[key]:
        raise SuiteError(f"{key}: found {value}, allowed {_MAXIMUM[key]:g} at most; fix: lower it")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise unknown_name(key, value, _CHOICES[key])
    return value


def _names(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise _wrong_type(key, value, "a list of names")
    if repeated := next((item for item in value if value.count(item) > 1), None):
        raise SuiteError(f"{key}: found {repeated!r} more than once, allowed distinct names; fix: name it once")
    return tuple(value)


def _wrong_type(key: str, value: Any, allowed: str) -> SuiteError:
    return SuiteError(f"{key}: found {value!r}, allowed {allowed}; fix: correct its type")
