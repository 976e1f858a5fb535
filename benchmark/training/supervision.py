"""The surfaces of a method, called in order and held to the contract. Pure: numpy in, numpy out.

Each function calls one surface (or two that belong together), checks what came back, and raises
MethodError with the rule that was broken. The trainer moves data; nothing here knows verl.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import MethodError
from methods.base import Method
from methods.groups import Evidence, NoTarget, RolloutGroups, Targets, TargetSource
from methods.verification import verify


@dataclass(frozen=True, slots=True)
class Decision:
    """What a method decided about a step before any gradient is computed."""

    targets: Targets
    admitted: NDArray[np.bool_]  # [B, G]
    verified: NDArray[np.float64]  # [B, G] 1 where the answer equals the target


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """All that was decided in a step, for the diagnostics."""

    decision: Decision
    admitted: NDArray[np.bool_]  # [B, G] admitted by the method, and not lost on a server
    scores: NDArray[np.float64]  # [B, G] what the rollouts were trained on
    weights: NDArray[np.float64]  # [B] of the advantages

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which prompts moved the policy, [B]: admitted, and not weighed down to nothing."""
        used: NDArray[np.bool_] = self.admitted.any(axis=1) & (self.weights > 0)
        return used


def decide(method: Method, groups: RolloutGroups) -> Decision:
    """Build targets, admit rollouts and verify answers.

    Raises MethodError where a rule is broken: wrong shapes, a labelled item whose given label was
    replaced, a target without a source or a source without a target.
    """
    targets = method.targets(groups)
    _check_targets(method, groups, targets)
    admitted = _as_rollout_mask(method, groups, method.admit(groups, targets))
    return Decision(targets, admitted, verify(groups, targets))


def transform_rewards(
    method: Method, groups: RolloutGroups, verified: NDArray[np.float64], evidence: Evidence
) -> NDArray[np.float64]:
    """Call the reward surface; every score [B, G] must be finite."""
    rewards = np.asarray(method.rewards(groups, verified, evidence), dtype=np.float64)
    _require_shape(method, "rewards", rewards.shape, groups.lengths.shape)
    _require(method, groups, np.isfinite(rewards).all(axis=1), "rewards must be finite")
    return rewards


def advantage_weights(
    method: Method, groups: RolloutGroups, advantages: NDArray[np.float64], evidence: Evidence
) -> NDArray[np.float64]:
    """Call the advantage surface; every weight [B] must lie in [0, 1]."""
    weights = np.asarray(method.advantages(groups, advantages, evidence), dtype=np.float64)
    _require_shape(method, "advantages", weights.shape, (len(groups),))
    _require(method, groups, (weights >= 0) & (weights <= 1), "advantage weights must lie in [0, 1]")
    return weights


def _check_targets(method: Method, groups: RolloutGroups, targets: Targets) -> None:
    for name, found in (("values", len(targets.values)), ("sources", len(targets.sources))):
        _require_shape(method, f"targets.{name}", (found,), (len(groups),))
    _require_shape(method, "targets.confidence", targets.confidence.shape, (len(groups),))

    def kept(i: int) -> bool:
        if method.refines_labels and targets.sources[i] is TargetSource.REFINED:
            return bool(groups.labelled[i])
        return not groups.labelled[i] or (
            targets.sources[i] is TargetSource.GIVEN
            and not isinstance(targets.values[i], NoTarget)
            and targets.values[i] == groups.labels[i]
        )

    def sourced(i: int) -> bool:
        return isinstance(targets.values[i], NoTarget) == (targets.sources[i] is TargetSource.NONE)

    def honest(i: int) -> bool:
        return bool(groups.labelled[i]) or targets.sources[i] is not TargetSource.GIVEN

    rules: tuple[tuple[Callable[[int], bool], str], ...] = (
        (kept, "labelled items always use their given label"),
        (sourced, "a target has the source 'none' exactly where it is NO_TARGET"),
        (honest, "an unlabelled item has no given target"),
    )
    for rule, text in rules:
        _require(method, groups, np.array([rule(i) for i in range(len(groups))], dtype=np.bool_), text)


def _as_rollout_mask(method: Method, groups: RolloutGroups, admitted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    mask = np.asarray(admitted)
    if mask.dtype != np.bool_:
        raise MethodError(f"method {method.name!r}: admit must return booleans, found {mask.dtype}")
    if mask.shape == (len(groups),):
        mask = np.repeat(mask[:, None], groups.rollouts_per_prompt, axis=1)
    _require_shape(method, "admit", mask.shape, groups.lengths.shape)
    return mask


def _require_shape(method: Method, what: str, found: tuple[int, ...], allowed: tuple[int, ...]) -> None:
    if found != allowed:
        raise MethodError(f"method {method.name!r}: {what} has shape {found}, allowed {allowed}")


def _require(method: Method, groups: RolloutGroups, holds: NDArray[np.bool_], rule: str) -> None:
    if not holds.all():
        index = int(groups.index[int(np.argmin(holds))])
        raise MethodError(f"method {method.name!r} broke a rule: {rule}; first at item {index} in step {groups.step}")
