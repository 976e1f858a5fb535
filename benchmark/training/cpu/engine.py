"""The FSDP engine of verl on a CPU, registered on import.

Only a frozen reference policy differs: the stock engine offloads it through pinned memory, and
pinning needs an accelerator. verl imports this module through `actor_rollout_ref.model.external_lib`.
"""

import torch
from verl.utils.torch_dtypes import PrecisionType
from verl.workers.engine.base import EngineRegistry

from benchmark.errors import SuiteError
from benchmark.training.evidence_engine import EvidenceEngine


@EngineRegistry.register(model_type="language_model", backend=["fsdp", "fsdp2"], device="cpu")
class CPUEngine(EvidenceEngine):
    """FSDP2 over gloo; the reference policy is a plain frozen module on every rank."""

    def _build_fsdp_module(self, module: torch.nn.Module) -> torch.nn.Module:
        if self.engine_config.strategy != "fsdp2":
            raise SuiteError(
                f"actor.strategy {self.engine_config.strategy!r} needs a GPU; allowed on a CPU: fsdp2; "
                "fix: set actor_rollout_ref.actor.strategy=fsdp2"
            )
        if not self.engine_config.forward_only:
            return super()._build_fsdp_module(module)
        precision = self.engine_config.mixed_precision or {}
        self._autocast_dtype = PrecisionType.to_dtype(precision.get("param_dtype", "bf16"))
        self.scaler = None
        self._is_offload_param = self._is_offload_optimizer = False
        return module.requires_grad_(False)
