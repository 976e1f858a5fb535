"""verl's stages, with less to carry: what is the same for every method, and cheaper than the stock form.

Batches are one mini-batch each (one update per step), worker stages ship the fields that they read, and the
validation reports one figure. Nothing here changes what is computed: tests hold the steps against verl's own.
"""

from typing import Any

import numpy as np
from transfer_queue import KVBatchMeta
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
from verl.utils.metric import reduce_metrics
from verl.utils.py_functional import rename_dict

from benchmark.artifacts import PANEL_ACCURACY
from benchmark.training.groups import EVIDENCE_REQUEST

_FORWARD_FIELDS = ["input_ids", "position_ids", "loss_mask"]
_UPDATE_FIELDS = [*_FORWARD_FIELDS, "prompts", "responses", "response_mask", "old_log_probs", "advantages"]


class LeanTrainer(PPOTrainerSync):
    """verl's synchronous trainer for batches that are updated on once, as a whole."""

    evidence_request = ""
    """What the pass over the old log-probabilities must add (groups.evidence_request)."""

    def _compute_old_log_prob(self, batch: KVBatchMeta, metrics: dict[str, Any]) -> KVBatchMeta:
        padded = any(tag.get("is_padding", False) for tag in batch.tags)  # padding copies them in a wrong length
        if self.config.venus.trust_rollout_log_probs and not padded:  # the agent loop has written them
            return batch
        if not self.evidence_request:
            return self._with_fields(super()._compute_old_log_prob, batch, metrics, _FORWARD_FIELDS)
        extra_info = batch.extra_info  # of this pass alone: neither the reference nor the update delivers evidence
        batch.extra_info = {**extra_info, EVIDENCE_REQUEST: self.evidence_request}
        batch = self._with_fields(super()._compute_old_log_prob, batch, metrics, _FORWARD_FIELDS)
        batch.extra_info = extra_info
        return batch

    def _compute_ref_log_prob(self, batch: KVBatchMeta, metrics: dict[str, Any]) -> KVBatchMeta:
        return self._with_fields(super()._compute_ref_log_prob, batch, metrics, _FORWARD_FIELDS)

    def _update_actor(self, batch: KVBatchMeta, metrics: dict[str, Any]) -> KVBatchMeta:
        fields = [*_UPDATE_FIELDS, "ref_log_prob"] if self.use_reference_policy else _UPDATE_FIELDS
        return self._with_fields(self._update_once, batch, metrics, fields)

    def _update_once(self, batch: KVBatchMeta, metrics: dict[str, Any]) -> KVBatchMeta:
        """Do verl's update with the whole batch as one mini-batch, however many rollouts were admitted.

        verl's own stage wants a multiple of the planned mini-batch, and pads with rows of 128 tokens up to it, which
        cost more than the rollouts. `global_batch_size`, which only the losses that average over
        responses divide by, stays the planned one: a rollout weighs the same whatever else was admitted.
        """
        actor, rollout = self.config.actor_rollout_ref.actor, self.config.actor_rollout_ref.rollout
        batch.extra_info.update(
            calculate_entropy=actor.calculate_entropy or actor.entropy_coeff != 0.0,
            distillation_use_topk=False,
            distillation_only=False,
            global_batch_size=actor.ppo_mini_batch_size * rollout.n,
            mini_batch_size=len(batch),
            epochs=actor.ppo_epochs,
            seed=actor.data_loader_seed,
            dataloader_kwargs={"shuffle": actor.shuffle},
            temperature=rollout.temperature,
        )
        output = rename_dict(self.actor_rollout_wg.update_actor(batch)["metrics"], "actor/")
        output["perf/mfu/actor"] = output.pop("actor/mfu")
        metrics.update(reduce_metrics(output))
        return batch

    def _get_required_batch_multiple(self, dp_size: int) -> int:
        """Every rank needs as many rows as the others; nothing else is required of a batch."""
        return dp_size

    def _balance_batch(self, batch: KVBatchMeta, metrics: dict[str, Any], **options: Any) -> KVBatchMeta:
        """Spread the rows over the ranks; with one rank there is nothing to spread, and 10% of a step to save."""
        return super()._balance_batch(batch, metrics, **options) if self._ranks > 1 else batch

    @property
    def _ranks(self) -> int:
        return int(self.config.trainer.nnodes * self.config.trainer.n_gpus_per_node)

    def _with_fields(self, stage: Any, batch: KVBatchMeta, metrics: dict[str, Any], fields: list[str]) -> KVBatchMeta:
        """Run a worker stage on named fields; without names verl ships every field, raw prompts included.

        Where micro-batches have a fixed size, it is that of the rows at hand: the configured one need not divide them.
        """
        batch.fields = fields
        if not self.config.actor_rollout_ref.actor.use_dynamic_bsz:
            batch.extra_info["micro_batch_size_per_gpu"] = len(batch) // self._ranks
        batch = stage(batch, metrics)
        batch.fields = None
        return batch

    def _val_metrics_update(
        self, data_sources: Any, sample_uids: Any, reward_extra_infos_dict: Any, sample_turns: Any, **_: Any
    ) -> dict[str, float]:
        """Report the accuracy on the validation panel alone.

        verl bootstraps best@N and maj@N of every logged variable here, which takes 20 s for 198 questions and
        ends in figures that venus does not use: its statistics come from the records of the evaluation.
        """
        return {PANEL_ACCURACY: float(np.mean(reward_extra_infos_dict["reward"]))}
