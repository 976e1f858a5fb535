"""verl 0.9.1 without a GPU: platform, engine, rollout server and batch agent loop.

Everything real, nothing faked but one name: verl counts only resources called "GPU", so a local Ray
cluster is given one *logical* GPU per lane. It is a slot for a cell, not a claim about hardware.
"""

ROLLOUT = "hf"
"""Name of the rollout engine in verl's registries (`actor_rollout_ref.rollout.name`)."""


def register() -> None:
    """Register platform and rollout engine with verl, and apply the patches that a CPU needs."""
    from verl.workers.rollout.replica import RolloutReplicaRegistry

    from benchmark.training import patches
    from benchmark.training.cpu import platform  # noqa: F401  registers itself

    def load_replica() -> type:
        from benchmark.training.cpu.rollout import CPURolloutReplica

        return CPURolloutReplica

    RolloutReplicaRegistry.register(ROLLOUT, load_replica)
    patches.register_rollout_class(ROLLOUT, "benchmark.training.cpu.rollout.WeightSender")
    patches.use_gloo_alone()
    patches.vectorise_log_probs()
