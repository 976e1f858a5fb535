"""Cost of the old-log-prob pass with each kind of evidence, relative to the pass without any, at micro size.

    python tests/benchmarks/evidence_cost.py [--rollouts 256] [--repeats 15] [--packed]

Runs the CPU engine of verl in this process on a random model of the micro size and prints medians as JSON. The
worker alone is measured: what the queue takes to carry the results is not in here.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "training"))

import evidence_job  # first: it tells verl the platform
import numpy as np
import torch

KINDS = (None, "self_certainty", "hidden_states", "attention", evidence_job.ALL_KINDS)


def micro_model(folder: Path) -> None:
    """Save a random model of the size of configs/model/micro.yaml."""
    from transformers import LlamaConfig, LlamaForCausalLM

    size = {"hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 2, "num_attention_heads": 4}
    LlamaForCausalLM(LlamaConfig(vocab_size=65, max_position_embeddings=128, **size)).save_pretrained(folder / "model")


def main() -> None:
    """Measure the kinds in turn, so that a busy machine slows all of them alike."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--packed", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    evidence_job.register()
    rng = np.random.default_rng(0)
    lengths = rng.integers(8, 24, (options.rollouts, 2))
    sequences = [(rng.integers(2, 65, p).tolist(), rng.integers(2, 65, r).tolist()) for p, r in lengths]
    masks = [[1] * len(response) for _, response in sequences]
    seconds: dict[str, list[float]] = {kind or "none": [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        micro_model(folder)
        torch.distributed.init_process_group("gloo", f"file://{folder / 'store'}", rank=0, world_size=1)
        engine = evidence_job.build(folder)
        for repeat in range(options.repeats + 1):
            for kind in KINDS:
                started = time.perf_counter()
                evidence_job.run(engine, sequences, masks, kind, use_remove_padding=options.packed)
                if repeat:  # the first round warms up
                    seconds[kind or "none"].append(time.perf_counter() - started)
        torch.distributed.destroy_process_group()
    medians = {kind: statistics.median(found) for kind, found in seconds.items()}
    relative = {kind: round(median / medians["none"], 2) for kind, median in medians.items()}
    report = {"seconds_without": round(medians["none"], 4), "relative": relative}
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
