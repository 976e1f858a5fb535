"""verl's own way with a partial batch, as a trainer to compare with: pad it to whole mini-batches, then update."""

import all_surfaces  # noqa: F401 (registers the method of the job)
from verl.trainer.ppo.v1.trainer_base import PPOTrainer, register_trainer

from benchmark.training.trainer import SupervisionTrainer


@register_trainer("padded")
class PaddedTrainer(SupervisionTrainer):
    """The supervised step around verl's stages for padding and update."""

    _get_required_batch_multiple = PPOTrainer._get_required_batch_multiple
    _balance_batch = PPOTrainer._balance_batch
    _update_once = PPOTrainer._update_actor
    _with_fields = staticmethod(lambda stage, batch, metrics, fields: stage(batch, metrics))
