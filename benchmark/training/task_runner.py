"""What runs inside Ray: verl's task runner, in a process that knows our trainer."""

from typing import Any


def task_runner_class() -> Any:
    """Build the Ray actor class for `run_ppo(config, task_runner_class=...)`."""
    import ray
    from verl.trainer.main_ppo import TaskRunnerV1

    upstream = TaskRunnerV1.__ray_metadata__.modified_class

    class VenusTaskRunner(upstream):  # type: ignore[misc]
        """verl's V1 task runner with SupervisionTrainer registered."""

        def run(self, config: Any) -> None:
            """Register the trainer in this process, then run verl's own loop."""
            import benchmark.training.trainer  # noqa: F401  registers "supervision"

            super().run(config)

    return ray.remote(num_cpus=0)(VenusTaskRunner)
