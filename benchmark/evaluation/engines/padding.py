"""Prompts of different lengths as one tensor."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def left_pad(prompts: Sequence[Sequence[int]], pad_id: int, device: Any) -> tuple[Tensor, Tensor]:
    """Return token ids and mask of the valid ones, both [P, L], prompts aligned at their end."""
    width = max(map(len, prompts))
    ids = torch.tensor([[pad_id] * (width - len(prompt)) + list(prompt) for prompt in prompts], device=device)
    sizes = torch.tensor([len(prompt) for prompt in prompts], device=device)
    return ids, torch.arange(width, device=device) >= width - sizes[:, None]
