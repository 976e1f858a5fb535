"""verl's replay buffer, asked more often.

The stock buffer looks into TransferQueue every 2 s, which is longer than a whole step of the micro
model. Set through `trainer.v1.sampler.custom_sampler`.
"""

from typing import Any

from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

POLL_SECONDS = 0.02


class FastPollReplayBuffer(ReplayBuffer):
    """The stock buffer with a short poll interval."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["poll_interval"] = POLL_SECONDS
        super().__init__(*args, **kwargs)
