"""verl's task runner, in the process of the job itself.

`run_ppo(config, task_runner_class=...)` expects a Ray actor class, because verl's own entry point may run on a
machine outside the cluster. A cell is a process of its own anyway, so its runner needs no second one: that saves the
start of a process (seconds of imports on a CPU) and its memory.
"""

from typing import Any


class InProcessTaskRunner:
    """What `run_ppo` makes of a task runner class, without the actor: `.remote()` and `.run.remote(config)`."""

    @classmethod
    def remote(cls) -> "InProcessTaskRunner":
        """Build the runner here."""
        return cls()

    @property
    def run(self) -> "_Call":
        """The call that `run_ppo` makes and waits for."""
        return _Call()


class _Call:
    def remote(self, config: Any) -> Any:
        """Run verl's V1 task with SupervisionTrainer registered; return the finished call as an object reference."""
        import ray
        from verl.trainer.main_ppo import TaskRunnerV1

        import benchmark.training.trainer  # noqa: F401  registers "supervision"

        TaskRunnerV1.__ray_metadata__.modified_class().run(config)
        return ray.put(None)
