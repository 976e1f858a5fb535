"""Rewards made of the policy's own token statistics, shared by the methods without a target.

Evidence is ragged and holds valid response tokens only, so neither padding nor the length of another rollout can
enter a score. Two rules are shared: a labelled item keeps its verified reward, and a rollout without tokens
(it failed on its server) scores as the worst of its group, because an empty sum would
often be the best score there is.

The scores are not rescaled: GRPO standardises them within the group, so that labelled groups (0/1) and unlabelled
ones (nats) weigh the same in the update.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import MethodError
from methods.groups import Evidence, EvidenceKind, RolloutGroups

AGGREGATES: Final = ("mean", "sum")


def token_scores(
    groups: RolloutGroups, evidence: Evidence, kind: EvidenceKind, agg: str = "mean"
) -> NDArray[np.float64]:
    """Aggregate a per-token kind of evidence over the tokens of each rollout: [B, G], NaN for one without tokens.

    Raises MethodError where the kind is absent or where a value is not finite.
    """
    ragged: tuple[tuple[NDArray[np.float64], ...], ...] | None = getattr(evidence, kind.value)
    if ragged is None:
        raise MethodError(f"evidence {kind.value!r} is absent in step {groups.step}; fix: declare it in the method")
    rollouts = [tokens for row in ragged for tokens in row]
    counts = np.array([len(tokens) for tokens in rollouts], dtype=np.int64)
    scores = np.full(len(rollouts), np.nan)
    present = counts > 0
    if present.any():
        tokens = np.concatenate(rollouts, dtype=np.float64)
        _require_finite(groups, kind, tokens, counts)
        starts = np.cumsum(counts) - counts
        scores[present] = np.add.reduceat(tokens, starts[present])
        if agg == "mean":
            scores[present] /= counts[present]
    return scores.reshape(groups.lengths.shape)


def with_verified_labels(
    groups: RolloutGroups, verified: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the verified reward of labelled items and the intrinsic score of the others, all [B, G].

    A NaN score becomes the smallest of its group, 0 where the group has none.
    """
    missing = np.isnan(scores)
    worst = np.where(missing, np.inf, scores).min(axis=1, initial=np.inf)
    worst[np.isinf(worst)] = 0.0
    return np.where(groups.labelled[:, None], verified, np.where(missing, worst[:, None], scores))


def require_aggregate(agg: str) -> None:
    """Raise ValueError for an aggregate that does not exist."""
    if agg not in AGGREGATES:
        raise ValueError(f"agg: found {agg!r}, allowed {', '.join(AGGREGATES)}")


def _require_finite(
    groups: RolloutGroups, kind: EvidenceKind, tokens: NDArray[np.float64], counts: NDArray[np.int64]
) -> None:
    finite = np.isfinite(tokens)
    if not finite.all():
        rollout = int(np.searchsorted(np.cumsum(counts), int(np.argmin(finite)), side="right"))
        item = int(groups.index[rollout // groups.rollouts_per_prompt])
        raise MethodError(
            f"evidence {kind.value!r} is not finite: found {tokens[np.argmin(finite)]} at item {item} in step "
            f"{groups.step}, allowed finite numbers; fix: check the policy for overflow"
        )
