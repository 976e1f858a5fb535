"""Every change that venus makes to verl or TransferQueue at run time: one function each, with its reason.

`tests/training/test_patches.py` holds, for each of them, a test that fails as soon as the upstream
package no longer needs it. Everything else goes through verl's own registries.
"""

import functools
import os
from typing import Any

JOB_NAMESPACE = "VENUS_TRANSFER_QUEUE_NAMESPACE"
"""Environment variable: the Ray namespace of this job's TransferQueue."""


def isolate_transfer_queue(namespace: str) -> None:
    """Give the TransferQueue of this job a Ray namespace of its own.

    TransferQueue 0.1.11 names its controller "TransferQueueController" in the fixed namespace
    "transfer_queue", so the second verl job on a Ray cluster would attach to the queue of the first,
    and the first one to end would kill it for both.
    """
    import ray
    from transfer_queue import interface

    class _Ray:
        """`ray` as the interface module uses it, with the actor looked up in our namespace."""

        def __getattr__(self, name: str) -> Any:
            return getattr(ray, name)

        def get_actor(self, name: str, namespace: str | None = None) -> Any:
            return ray.get_actor(name, namespace=own if namespace == "transfer_queue" else namespace)

    class _Controller:
        """The controller's actor class, created in our namespace."""

        def __init__(self, actor_class: Any) -> None:
            self._actor_class = actor_class

        def options(self, **options: Any) -> Any:
            if options.get("namespace") == "transfer_queue":
                options["namespace"] = own
            return self._actor_class.options(**options)

    own = namespace
    if not isinstance(interface.TransferQueueController, _Controller):
        interface.ray = _Ray()
        interface.TransferQueueController = _Controller(interface.TransferQueueController)


def use_gloo_alone() -> None:
    """Start torch.distributed with the backend "gloo".

    verl builds "cpu:gloo,{device}:{backend}", which on the device "cpu" names the same device twice, and
    torch refuses that. The function has an argument for the backend, but its callers do not pass it.
    """
    from verl.utils import distributed

    distributed.initialize_global_process_group_ray = functools.partial(
        distributed.initialize_global_process_group_ray, backend="gloo"
    )


def register_rollout_class(name: str, path: str) -> None:
    """Make `path` the worker-side class of the rollout engine `name` in asynchronous mode.

    verl has a register function for replicas but none for this table.
    """
    from verl.workers.rollout import base

    base._ROLLOUT_REGISTRY[(name, "async")] = path


def vectorise_log_probs() -> None:
    """Compute the log-probabilities of labels in one gather minus one logsumexp.

    Without flash-attn, verl loops over the rows in Python, one row per token: thousands of autograd nodes
    per micro-batch. The values agree to about 1e-6.
    """
    import torch
    import verl.utils.torch_functional as functional

    def log_probs(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        picked = logits.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        return picked - torch.logsumexp(logits, dim=-1)

    functional.logprobs_from_logits_v2 = log_probs


def make_folders_without_lock_files() -> None:
    """Make the folders of checkpoints without a lock.

    verl 0.9.1 locks a file in the system's folder for temporary files, named by a hash that differs in every process,
    so that it excludes nobody, and leaves it there: three files per checkpoint, for ever. Making a
    folder that may exist already needs no lock.
    """
    from verl.utils import fs

    def make_folder(path: str) -> str:
        path = os.path.abspath(path)
        os.makedirs(path, exist_ok=True)
        return path

    fs.local_mkdir_safe = make_folder
