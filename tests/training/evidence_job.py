"""One rank of a real CPU engine: runs the old-log-prob pass in several layouts and saves what comes out.

    python tests/training/evidence_job.py FOLDER RANK WORLD_SIZE

FOLDER holds the model and `inputs.pt`; the outputs go to `outputs-RANK.pt`. A process of its own, because verl
reads its platform from the environment on import.
"""

import os
import sys
from pathlib import Path

os.environ["VERL_PLATFORM"] = "cpu"

import torch
import verl  # noqa: F401  its platform registry before ours
from tensordict import TensorDict

from benchmark.training.cpu import register

TEMPERATURE = 0.7
ALL_KINDS = "attention,hidden_states,self_certainty"


def build(folder: Path):
    """Build verl's engine as its worker does."""
    from verl.trainer.config import CheckpointConfig
    from verl.workers.config import FSDPEngineConfig, FSDPOptimizerConfig, HFModelConfig
    from verl.workers.engine import EngineRegistry

    precision = {"param_dtype": "fp32", "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
    engine = EngineRegistry.new(
        model_type="language_model",
        backend="fsdp2",
        model_config=HFModelConfig(
            path=str(folder / "model"),
            load_tokenizer=False,
            external_lib="benchmark.training.cpu.engine",
            override_config={"attn_implementation": "sdpa"},
            enable_gradient_checkpointing=False,
            use_remove_padding=False,
        ),
        engine_config=FSDPEngineConfig(strategy="fsdp2", use_torch_compile=False, mixed_precision=precision),
        optimizer_config=FSDPOptimizerConfig(lr=1e-3),
        checkpoint_config=CheckpointConfig(),
    )
    engine.initialize()
    return engine


def jagged(rows: list[list[int]]) -> torch.Tensor:
    return torch.nested.as_nested_tensor([torch.tensor(row) for row in rows], layout=torch.jagged)


def run(engine, sequences, masks, request: str | None, **settings) -> dict[str, list[torch.Tensor]]:
    """Run the pass as the worker does, with the settings that the trainer sends."""
    from verl.utils import tensordict_utils as tu

    whole = [[*prompt, *response] for prompt, response in sequences]
    fields = {
        "input_ids": jagged(whole),
        "position_ids": jagged([list(range(len(row))) for row in whole]),
        "loss_mask": jagged(masks),
    }
    settings = {"use_dynamic_bsz": False, "micro_batch_size_per_gpu": len(whole), **settings}
    settings |= {"calculate_entropy": True, "compute_loss": False, "use_fused_kernels": False}
    settings.setdefault("temperature", TEMPERATURE)
    if request is not None:
        settings["venus_evidence"] = request
    data = TensorDict(fields, batch_size=[len(whole)])
    tu.assign_non_tensor(data, **settings)
    with engine.eval_mode():
        output = engine.infer_batch(data, loss_function=None)["model_output"]
    return {key: [row.clone() for row in value.unbind()] for key, value in output.items()}


def main() -> None:
    """Run every case that the tests compare."""
    folder, rank, world = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    register()
    torch.distributed.init_process_group("gloo", f"file://{folder / f'store-{world}'}", rank=rank, world_size=world)
    inputs = torch.load(folder / "inputs.pt")
    sequences, masks = inputs["sequences"][rank::world], inputs["masks"][rank::world]
    engine = build(folder)
    outputs = {
        "padded": run(engine, sequences, masks, ALL_KINDS, use_remove_padding=False),
        "packed": run(engine, sequences, masks, ALL_KINDS, use_remove_padding=True),
        "micro": run(engine, sequences, masks, ALL_KINDS, use_remove_padding=False, micro_batch_size_per_gpu=2),
        "dynamic": run(
            engine,
            sequences,
            masks,
            ALL_KINDS,
            use_remove_padding=True,
            use_dynamic_bsz=True,
            max_token_len_per_gpu=120,
        ),
        "silent": run(engine, sequences, masks, None, use_remove_padding=False),
        "states": run(engine, sequences, masks, "hidden_states", use_remove_padding=True),
        "hot": run(engine, sequences, masks, "self_certainty", use_remove_padding=True, temperature=1.0),
    }
    engine.pad_to_length, engine.pad_to_length_bucket = True, 128
    outputs["bucket"] = run(engine, sequences, masks, ALL_KINDS, use_remove_padding=True)
    torch.save(outputs, folder / f"outputs-{rank}-of-{world}.pt")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
