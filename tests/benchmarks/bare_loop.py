"""GRPO in plain PyTorch on one process: the physical limit that a training step is measured against.

Same batch, same passes (old policy, reference policy, one update) and the same sampler as the CPU backend; no
framework around it.
"""

import statistics
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmark.evaluation.engines.decoding import sample


def pack(prompts: list[list[int]], responses: list[list[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Right-pad prompts with their responses; the mask marks the predictions of response tokens."""
    width = max(len(p) + len(r) for p, r in zip(prompts, responses, strict=True))
    ids = torch.full((len(prompts), width), pad)
    mask = torch.zeros(len(prompts), width - 1)
    for i, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        ids[i, : len(prompt) + len(response)] = torch.tensor(prompt + response)
        mask[i, len(prompt) - 1 : len(prompt) + len(response) - 1] = 1
    return ids, mask


def log_probs(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    """Log-probability of each token given those before it, [N, T - 1]."""
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
    return torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None])[..., 0]


def seconds_per_step(model_dir: Path, prompts: list[list[int]], rollouts: int, steps: int) -> float:
    """Median seconds of a step with random 0/1 rewards (their values cost nothing)."""
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    policy = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32).eval()
    reference = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32).eval()
    optimizer = torch.optim.AdamW(policy.parameters(), lr=2e-4, betas=(0.9, 0.95), weight_decay=0.0)
    generator = torch.Generator().manual_seed(0)
    pad, eos = tokenizer.pad_token_id, tokenizer.eos_token_id
    flat = [prompt for prompt in prompts for _ in range(rollouts)]
    seconds = []
    for _ in range(steps):
        started = time.perf_counter()
        with torch.inference_mode():
            drawn = sample(policy, flat, 40, 1.0, -1, 1.0, (eos,), pad, generator)
        ids, mask = pack(flat, [response for response, _ in drawn], pad)
        with torch.no_grad():
            old, ref = log_probs(policy, ids), log_probs(reference, ids)
        rewards = torch.randint(2, (len(prompts), rollouts), generator=generator).float()
        centred = rewards - rewards.mean(1, keepdim=True)
        advantage = (centred / (rewards.std(1, keepdim=True) + 1e-6)).reshape(-1, 1)
        new = log_probs(policy, ids)
        ratio, gap = (new - old).exp(), ref - new
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        loss = ((gap.exp() - gap - 1) * 0.001 - surrogate).mul(mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])
