"""SupervisionTrainer: one training step as the composition of DE-Venus, equation (3).

    sample rollouts -> targets -> admit -> score -> balance -> old log-probs -> [reference log-probs]
      -> reward transform -> GRPO advantage -> advantage transform -> update

Every arrow is either verl's own stage or one of the four surfaces of the selected method, and a surface
that the method does not use is left out, so that the step is verl's own. Groups are scored after
sampling, on what TransferQueue holds, so the trainer serves verl's stock agent loop with vLLM as well as the
batch agent loop of the CPU backend.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import ray
import torch
from tensordict import TensorDict
from torchdata.stateful_dataloader import StatefulDataLoader
from transfer_queue import KVBatchMeta
from verl.trainer.ppo.utils import Role
from verl.trainer.ppo.v1.trainer_base import register_trainer
from verl.utils.debug import marked_timer

from benchmark.artifacts import TRAIN_REWARD
from benchmark.errors import StageError
from benchmark.evaluation.extract import extract_answer
from benchmark.files import write_atomically
from benchmark.training import diagnostics
from benchmark.training import groups as queue
from benchmark.training.batches import BatchSampler, Row
from benchmark.training.checkpoints import mark_whole, step_folder
from benchmark.training.lean_stages import LeanTrainer
from benchmark.training.method_state import load_state, save_state
from benchmark.training.redraw import with_redrawn_labels
from benchmark.training.supervision import Decision, StepOutcome, advantage_weights, decide, transform_rewards
from benchmark.training.teacher import Teacher
from methods.base import surfaces_used
from methods.groups import RolloutGroups
from methods.registry import build_method

OWNER_FILE = "method.json"
GROUP_ESTIMATORS = ("grpo", "rloo")  # which standardise within a group


@register_trainer("supervision")
class SupervisionTrainer(LeanTrainer):
    """verl's synchronous trainer with the surfaces of a method in its step."""

    # verl compares this name with "sync" in several places; any other name means asynchronous there.
    trainer_mode = property(lambda self: "sync", lambda self, name: None)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        venus = config.venus
        self.method = build_method(venus.method.name, dict(venus.method.options))
        self.surfaces = surfaces_used(self.method)
        self.evidence_request = queue.evidence_request(self.method.evidence)
        self.rows = queue.read_rows(Path(config.data.train_files))
        self.teacher = Teacher(self.method.teacher, self) if self.method.teacher else None
        self.truth = diagnostics.read_truth(Path(venus.truth))
        self.decisions, self.progress = Path(venus.decisions), Path(venus.progress)
        self.decisions.mkdir(parents=True, exist_ok=True)

    # ------------------------------------------------------------------------------- the step

    def _step_once(self, metrics: dict[str, Any], timing_raw: dict[str, float], sample_batch_size: int) -> KVBatchMeta:
        with marked_timer("gen", timing_raw):
            batch = self._sample(metrics, sample_batch_size)
        with marked_timer("supervision", timing_raw):
            groups, layout = self._read_groups(batch)
            teacher_tokens = 0
            if self.teacher:
                groups, teacher_tokens = self._ask_teacher(groups)
            decision = decide(self.method, groups)
            present = layout.present
            queue.write_scores(batch.partition_id, layout, decision.verified, present)
            admitted = decision.admitted & present
            trained = bool(admitted.any())
            batch = self._select(batch, layout, admitted if trained else present)
        batch = self._balance_batch(batch, metrics=metrics)
        with marked_timer("old_log_prob", timing_raw):
            batch = self._compute_old_log_prob(batch, metrics=metrics)
        if self.use_reference_policy:
            with marked_timer("ref", timing_raw):
                batch = self._compute_ref_log_prob(batch, metrics=metrics)
        with marked_timer("adv", timing_raw):
            scores = self._transform_rewards(batch, groups, layout, decision, admitted)
            batch = self._compute_advantage(batch, metrics=metrics)
            self._silence_single_rollouts(batch, layout, admitted)
            weights = self._transform_advantages(batch, groups, layout, admitted)
        if trained:  # a step that admits nothing is legal, and leaves the policy as it is
            with marked_timer("update_actor", timing_raw):
                batch = self._update_actor(batch, metrics=metrics)
        if self.teacher:
            self.teacher.move()
            metrics["supervision/teacher_tokens"] = float(teacher_tokens)
            metrics["supervision/teacher_rollouts"] = float(len(groups) * self.teacher.plan.rollouts)
        self._record(metrics, groups, StepOutcome(decision, admitted, scores, weights))
        metrics["supervision/updated"] = float(trained)
        return batch

    def _sample(self, metrics: dict[str, Any], batch_size: int) -> KVBatchMeta:
        self.on_sample_begin()
        batch, sampling_metrics = self.replay_buffer.sample(
            global_steps=self.global_steps, partition_id="train", batch_size=batch_size
        )
        metrics.update(sampling_metrics)
        batch.extra_info["temperature"] = self.config.actor_rollout_ref.rollout.temperature
        self.on_sample_end()
        return batch

    def _read_groups(self, batch: KVBatchMeta) -> tuple[RolloutGroups, queue.Layout]:
        groups, layout = queue.read_groups(
            batch,
            self.rows,
            int(self.config.actor_rollout_ref.rollout.n),
            self._answers,
            step=self.global_steps,
            epoch=(self.global_steps - 1) // self.steps_per_epoch,
        )
        groups = with_redrawn_labels(groups, self.rows, self.truth, int(self.config.data.seed))
        if self.method.uses_hidden_truth:
            groups = replace(groups, oracle=tuple(self.truth[int(index)] for index in groups.index))
        return groups, layout

    def _ask_teacher(self, groups: RolloutGroups) -> tuple[RolloutGroups, int]:
        answers, tokens = self.teacher.answers(self.prompts, groups, self._answers)
        return replace(groups, teacher_answers=answers), tokens

    def _next_train_batch(self, num_prompts: int | None = None) -> TensorDict:
        """Fetch the prompts of a step, and keep them for the teacher."""
        self.prompts = super()._next_train_batch(num_prompts)
        return self.prompts

    def _answers(self, responses: Sequence[torch.Tensor]) -> list[str | None]:
        return [extract_answer(text).answer for text in self._texts(responses)]

    def _texts(self, responses: Sequence[torch.Tensor]) -> list[str]:
        texts: list[str] = self.tokenizer.batch_decode([ids.tolist() for ids in responses], skip_special_tokens=True)
        return texts

    def _select(self, batch: KVBatchMeta, layout: queue.Layout, mask: Any) -> KVBatchMeta:
        """Keep the selected rollouts in layout order and free the queue of the others."""
        selected = queue.select(batch, layout.selected(mask))
        dropped = sorted(set(batch.keys) - set(selected.keys))
        if dropped:
            queue.tq.kv_clear(keys=dropped, partition_id=batch.partition_id)
        return selected

    def _silence_single_rollouts(self, batch: KVBatchMeta, layout: queue.Layout, admitted: Any) -> None:
        """Give a group of which one rollout is left no advantage: verl would use its bare reward."""
        alone = admitted.sum(axis=1) == 1
        if alone.any() and self.config.algorithm.adv_estimator in GROUP_ESTIMATORS:
            rows = queue.read_advantages(batch.partition_id, layout.selected(admitted & alone[:, None]))
            queue.scale_advantages(batch.partition_id, layout, rows, np.zeros(len(alone)))

    def _transform_rewards(
        self, batch: KVBatchMeta, groups: RolloutGroups, layout: queue.Layout, decision: Decision, admitted: Any
    ) -> Any:
        if "rewards" not in self.surfaces or not admitted.any():
            return decision.verified
        evidence = queue.read_evidence(batch.partition_id, layout, self.method.evidence, admitted, groups)
        scores = transform_rewards(self.method, groups, decision.verified, evidence)
        queue.write_scores(batch.partition_id, layout, scores, admitted)
        return scores

    def _transform_advantages(
        self, batch: KVBatchMeta, groups: RolloutGroups, layout: queue.Layout, admitted: Any
    ) -> Any:
        if "advantages" not in self.surfaces or not admitted.any():
            return np.ones(len(groups))
        evidence = queue.read_evidence(batch.partition_id, layout, self.method.evidence, admitted, groups)
        rows = queue.read_advantages(batch.partition_id, layout.selected(admitted))
        weights = advantage_weights(self.method, groups, queue.one_per_rollout(layout, rows), evidence)
        queue.scale_advantages(batch.partition_id, layout, rows, weights)
        return weights

    def _record(self, metrics: dict[str, Any], groups: RolloutGroups, outcome: StepOutcome) -> None:
        metrics.update(diagnostics.step_metrics(groups, outcome, self.truth))
        for name, value in self.method.report.items():
            metrics[f"supervision/method/{name}"] = value
        rows = diagnostics.decision_rows(groups, outcome, self.truth)
        pq.write_table(rows, self.decisions / f"step-{self.global_steps:06d}.parquet")

    # ------------------------------------------------------------------- checkpoints, progress

    def _save_checkpoint(self) -> None:
        """Write the method's state first, so that a checkpoint that verl calls complete has it."""
        folder = step_folder(Path(self.config.trainer.default_local_dir), self.global_steps)
        folder.mkdir(parents=True, exist_ok=True)
        owner = {"method": self.method.name, "version": self.method.version}
        write_atomically(folder / OWNER_FILE, json.dumps(owner))
        save_state(folder, self.method.state_dict())
        if self.teacher:
            self.teacher.save(str(folder))
        super()._save_checkpoint()
        mark_whole(folder.parent, self.global_steps)

    def _load_checkpoint(self) -> None:
        super()._load_checkpoint()
        if self.global_steps == 0:
            return
        folder = step_folder(Path(self.config.trainer.default_local_dir), self.global_steps)
        saved = json.loads((folder / OWNER_FILE).read_text(encoding="utf-8"))
        found, allowed = (saved["method"], saved["version"]), (self.method.name, self.method.version)
        if found != allowed:
            raise StageError(f"checkpoint {folder} belongs to method {found}, allowed {allowed}; fix: delete it")
        self.method.load_state_dict(load_state(folder))
        if self.teacher:
            self.teacher.load(str(folder))

    # ------------------------------------------------------------------ batches and workers

    def _init_dataloader(self) -> None:
        """Build verl's loaders, and deal the batches ourselves where rows belong together or are mixed."""
        super()._init_dataloader()
        share = float(self.config.venus.labelled_share)
        rows = [Row(index, row.label is not None, row.pair) for index, row in self.rows.items()]
        if share == 0 and all(row.pair == -1 for row in rows):
            return
        loader, batch_size = self.train_dataloader, self.config.data.train_batch_size
        self.train_dataloader = StatefulDataLoader(
            dataset=loader.dataset,
            batch_size=loader.batch_size,
            num_workers=loader.num_workers,
            drop_last=True,
            collate_fn=loader.collate_fn,
            sampler=BatchSampler(rows, batch_size, share, int(self.config.data.seed)),
        )

    def _init_resource_pool_mgr(self) -> None:
        """Build verl's plan of workers, with a teacher beside the actor where the method has one."""
        super()._init_resource_pool_mgr()
        if self.teacher:
            from benchmark.training.teacher_worker import TeacherWorker

            for role in (Role.ActorRolloutRef, Role.ActorRollout):
                if role in self.role_worker_mapping:
                    self.role_worker_mapping[role] = ray.remote(TeacherWorker)

    def _compute_metrics(
        self, batch: KVBatchMeta, metrics: dict[str, Any], timing_raw: dict[str, float], global_steps: int, epoch: int
    ) -> None:
        timing_raw.update(getattr(self.agent_loop_manager, "timing", {}))
        super()._compute_metrics(batch, metrics, timing_raw, global_steps=global_steps, epoch=epoch)
        line = {
            "step": global_steps,
            "steps": self.total_training_steps,
            "reward": float(metrics.get(TRAIN_REWARD, float("nan"))),
            "seconds": float(timing_raw.get("step", float("nan"))),
            "time": time.time(),
        }
        with self.progress.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
