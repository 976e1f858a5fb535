"""The FSDP engine of verl on NVIDIA GPUs with evidence, registered on import.

verl looks for an engine of the vendor before it takes the one of the device, so its own stays in the registry
untouched. verl imports this module through `actor_rollout_ref.model.external_lib`.
"""

from verl.workers.engine.base import EngineRegistry

from benchmark.training.evidence_engine import EvidenceEngine


@EngineRegistry.register(model_type="language_model", backend=["fsdp", "fsdp2"], device="cuda", vendor="nvidia")
class GPUEngine(EvidenceEngine):
    """verl's FSDP engine, which adds the evidence that a method declares to the old-log-prob pass."""
