"""From one combination of a suite's values to the specification of a cell, with the rules on what can be run.

Every rule is judged here, before anything runs, and names the place in the suite where it was broken.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_type_hints

from benchmark.errors import SuiteError, unknown_name
from benchmark.suite.compose import CONFIGS, Profile, typed_value
from benchmark.suite.spec import (
    BASE,
    CellSpec,
    MethodSpec,
    NoiseKind,
    ProbeSpec,
    SelectionSpec,
    SupervisionSpec,
    TrainSpec,
    frozen_json,
)
from methods.base import LabelNeed, Method, TrainingRows
from methods.registry import build_method, method_class

BASE_VERSION = 1
BASE_SEED = 0  # the untrained policy is sampled once per suite
CONTROLS = "controls"  # the only suite in which a method may use the hidden truth
MODES = ("budget", "calibrated")

Pairs = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class SelectionChoice:
    """One combination of the values of a row's selection."""

    scorer: str
    options: Pairs
    mode: str
    annotate: float
    discard: float


@dataclass(frozen=True, slots=True)
class Choice:
    """One combination of the values of a row, as written; None means "not stated"."""

    method: str
    pool: int | None
    steps: int | None
    label_ratio: float | None
    noise: str | None
    noise_ratio: float | None
    options: Pairs
    train: Pairs
    selection: SelectionChoice | None


@lru_cache(maxsize=4096)
def build_cell(choice: Choice, profile: Profile, suite: str, place: str) -> CellSpec:
    """Build the cell of a choice with seed 0.

    Raises SuiteError or UnknownNameError where it cannot be run.
    """
    if choice.method == BASE:
        return _base(choice, profile, place)
    method = _method(choice)
    cls = type(method)
    place = f"{place} ({choice.method})"
    if cls.uses_hidden_truth and suite != CONTROLS:
        raise SuiteError(
            f"{place}: the method uses the hidden truth: found it in suite {suite!r}, allowed {CONTROLS!r} only; "
            "fix: move the row there"
        )
    data = profile.data if choice.pool is None else replace(profile.data, pool=choice.pool)
    train = _train(choice, profile.train, place)
    selection = _selection(choice.selection, profile.probe, place)
    supervision = _supervision(choice, cls, selection, place)
    _check_rows(place, supervision, selection, data.pool, train)
    rounds = 1 if method.transition is None else method.transition.rounds
    if not 1 <= rounds <= train.steps:
        raise SuiteError(
            f"{place}: found {rounds} rounds, allowed 1 to {train.steps}, the number of steps; fix: set options.rounds"
        )
    if selection and rounds > 1:
        raise SuiteError(
            f"{place}: found a selection beside rounds of changing labels, allowed one of them, as a round could "
            "label what the selection left out; fix: remove one"
        )
    needs_probe = selection or rounds > 1 or supervision.noise_kind is NoiseKind.ACTIVE_FIXED
    return CellSpec(
        method=MethodSpec(choice.method, cls.version, frozen_json(_options(method)), rounds),
        supervision=supervision,
        seed=0,
        model=profile.model,
        data=data,
        train=train,
        eval=profile.eval,
        selection=selection,
        probe=profile.probe if needs_probe else None,
    )


def _base(choice: Choice, profile: Profile, place: str) -> CellSpec:
    for name, written in (("options", choice.options), ("train", choice.train), ("selection", choice.selection)):
        if written:
            raise SuiteError(f"{place}: {BASE!r} is not trained and has no {name}, found some; fix: remove them")
    return CellSpec(
        method=MethodSpec(BASE, BASE_VERSION),
        supervision=SupervisionSpec(label_ratio=0.0),
        seed=BASE_SEED,
        model=profile.model,
        data=profile.data,
        train=profile.train,
        eval=profile.eval,
    )


def _train(choice: Choice, train: TrainSpec, place: str) -> TrainSpec:
    hints = get_type_hints(TrainSpec)
    values: dict[str, Any] = {} if choice.steps is None else {"steps": choice.steps}
    for name, value in choice.train:
        if name not in hints:
            raise unknown_name(f"{place}: setting of training", name, hints)
        if name == "backend":
            raise SuiteError(f"{place}: the backend belongs to the profile; fix: remove it from the row")
        values[name] = typed_value(f"train.{name}", hints[name], value)
    return replace(train, **values)


def _selection(choice: SelectionChoice | None, probe: ProbeSpec, place: str) -> SelectionSpec | None:
    if choice is None:
        return None
    from methods.selection import build_scorer, scorer_names

    if choice.scorer not in scorer_names():
        raise unknown_name(f"{place}: scorer", choice.scorer, scorer_names())
    if choice.mode not in MODES:
        raise unknown_name(f"{place}: mode of selection", choice.mode, MODES)
    if choice.annotate + choice.discard > 1:
        raise SuiteError(
            f"{place}: found annotate {choice.annotate:g} and discard {choice.discard:g}, allowed 1 together"
        )
    scorer = build_scorer(choice.scorer, dict(choice.options))
    if scorer.samples > probe.samples:
        raise SuiteError(
            f"{place}: scorer {choice.scorer!r} needs {scorer.samples} probe responses per question, "
            f"found probe.samples {probe.samples}; fix: raise it"
        )
    return SelectionSpec(
        scorer=choice.scorer,
        options=frozen_json(asdict(scorer.options)),
        mode=choice.mode,
        annotate=choice.annotate,
        discard=choice.discard,
        evidence=tuple(sorted(kind.value for kind in scorer.evidence)),
    )


def _supervision(choice: Choice, cls: type[Method], selection: SelectionSpec | None, place: str) -> SupervisionSpec:
    if cls.label_need is LabelNeed.IGNORED:
        return SupervisionSpec(label_ratio=0.0, rows=cls.rows.value)
    if selection is not None:
        if choice.label_ratio is not None:
            raise SuiteError(f"{place}: found label_ratio beside a selection, which chooses the labels; fix: remove it")
        label_ratio = selection.annotate
    elif choice.label_ratio is None:
        raise SuiteError(f"{place}: label_ratio is missing; fix: state the share of labelled rows, 0 to 1")
    else:
        label_ratio = choice.label_ratio
    if label_ratio == 0.0 and cls.label_need is LabelNeed.REQUIRED:
        raise SuiteError(f"{place}: found label_ratio 0, allowed more than 0, as the method learns from labels only")
    kind, ratio = _noise(choice, place)
    if ratio > 0.0 and label_ratio == 0.0:
        raise SuiteError(f"{place}: found noise_ratio {ratio:g} on unlabelled rows, allowed 0; fix: exclude it")
    return SupervisionSpec(label_ratio, kind, ratio, cls.rows.value)


def _noise(choice: Choice, place: str) -> tuple[NoiseKind, float]:
    kind = NoiseKind(choice.noise or NoiseKind.NONE)
    if kind is NoiseKind.NONE:
        if choice.noise_ratio:
            raise SuiteError(f"{place}: found noise_ratio {choice.noise_ratio:g} without a kind; fix: state noise")
        return kind, 0.0
    if choice.noise_ratio is None:
        raise SuiteError(f"{place}: noise {kind.value!r} has no noise_ratio; fix: state the share of corrupted labels")
    return (kind, choice.noise_ratio) if choice.noise_ratio > 0.0 else (NoiseKind.NONE, 0.0)


def _check_rows(
    place: str, supervision: SupervisionSpec, selection: SelectionSpec | None, pool: int, train: TrainSpec
) -> None:
    """Refuse a batch that the training rows cannot fill; a pool of 0 means all rows, known only later."""
    if supervision.rows == TrainingRows.PAIRED and train.prompts % 2:
        raise SuiteError(
            f"{place}: found a batch of {train.prompts} prompts, allowed an even number, as rows are paired"
        )
    if pool == 0:
        return
    labelled = round(supervision.label_ratio * pool)
    kept = pool if selection is None else pool - round(selection.discard * pool)
    rows = {TrainingRows.LABELLED: labelled, TrainingRows.PAIRED: 2 * kept}.get(TrainingRows(supervision.rows), kept)
    if train.prompts > rows:
        what = {
            TrainingRows.LABELLED: f"{rows} labelled rows",
            TrainingRows.PAIRED: f"{rows} rows of the paired pool",
        }.get(TrainingRows(supervision.rows), f"{rows} rows of the pool")
        raise SuiteError(
            f"{place}: found a batch of {train.prompts} prompts, allowed at most the {what}; "
            "fix: raise label_ratio or data.pool, or lower train.prompts"
        )
    wanted = round(train.labelled_share * train.prompts)
    if train.labelled_share and not (wanted <= labelled and train.prompts - wanted <= kept - labelled):
        raise SuiteError(
            f"{place}: found train.labelled_share {train.labelled_share:g}, which asks for {wanted} labelled and "
            f"{train.prompts - wanted} unlabelled rows per batch, allowed {labelled} and {kept - labelled}; "
            "fix: lower it"
        )


def _method(choice: Choice) -> Method:
    """Build the method with its options: the defaults of the class, of configs/method, then of the row.

    A whole number where a float is the default becomes a float.
    """
    cls = method_class(choice.method)
    floats = {field.name for field in fields(cls.Options) if isinstance(field.default, float)}
    written = {**_configured_options(choice.method), **dict(choice.options)}
    return build_method(
        choice.method,
        {name: float(value) if name in floats and type(value) is int else value for name, value in written.items()},
    )


def _options(method: Method) -> dict[str, Any]:
    complete: dict[str, Any] = json.loads(json.dumps(asdict(method.options)))
    return complete


@lru_cache(maxsize=256)
def _configured_options(name: str, configs: Path = CONFIGS) -> Mapping[str, Any]:
    """Return the options that configs/method/NAME.yaml sets; a plugin has no such file."""
    import yaml

    path = configs / "method" / f"{name}.yaml"
    if not path.is_file():
        return {}
    content = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    found = content.get("options") or {}
    if content.get("name", name) != name or not isinstance(found, dict):
        raise SuiteError(f"{path.name}: allowed `name: {name}` and a mapping `options`; fix: correct the file")
    return found
