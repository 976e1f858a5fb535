"""Artifacts of small synthetic cells, written as the stages write them, for the tests of the report."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import artifacts
from benchmark.report.collect import arm_result, load_seed
from benchmark.report.record import run
from benchmark.report.results import CellState, MissingSeed, SeedResult, SuiteReport
from benchmark.stage import StageJob, StageKind

GROUPS = {"add": "id", "mul": "id", "words": "ood"}
REFERENCE = "grpo, 100% labels"


@dataclass(frozen=True)
class World:
    """Where the cells of a test lie, and how large their benchmarks are."""

    root: Path
    items: int = 20
    samples: int = 8
    steps: int = 60

    def benchmarks(self) -> Path:
        rows = [
            {"benchmark": b, "group": g, "item_id": f"{b}-{i:03d}", "question": f"{i}?", "gold": str(i), "kind": "math"}
            for b, g in GROUPS.items()
            for i in range(self.items)
        ]
        folder = self.root / "benchmarks"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=artifacts.BENCHMARKS_SCHEMA), folder / artifacts.BENCHMARKS)
        return folder

    def graded(self, name: str, ability: float, seed: int) -> tuple[Path, Path]:
        """Write samples and verdicts of a policy that is right with a probability around `ability`."""
        difficulty = np.random.default_rng(0).normal(0, 0.2, (len(GROUPS), self.items))
        generator = np.random.default_rng((seed, round(1000 * ability)))
        samples, verdicts = [], []
        for b, (benchmark, group) in enumerate(GROUPS.items()):
            for i in range(self.items):
                right = generator.random(self.samples) < np.clip(ability + difficulty[b, i], 0, 1)
                for n in range(self.samples):
                    silent = not right[n] and n % 3 == 0
                    verdict = "correct" if right[n] else ["truncated", "no_answer"][n % 2] if silent else "wrong"
                    key = {"benchmark": benchmark, "item_id": f"{benchmark}-{i:03d}", "sample": n}
                    answer = None if silent else str(i if right[n] else i + 1 + n % 2)
                    samples.append(
                        {
                            **key,
                            "prompt_hash": "0" * 64,
                            "response": f"\\boxed{{{answer}}}",
                            "finish_reason": "length" if verdict == "truncated" else "stop",
                            "prompt_tokens": 9,
                            "response_tokens": 19,
                        }
                    )
                    verdicts.append({**key, "group": group, "verdict": verdict, "extracted": answer, "method": "text"})
        folders = self.root / f"{name}-samples", self.root / f"{name}-verdicts"
        for folder in folders:
            folder.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(samples, schema=artifacts.SAMPLES_SCHEMA), folders[0] / artifacts.SAMPLES)
        pq.write_table(
            pa.Table.from_pylist(verdicts, schema=artifacts.VERDICTS_SCHEMA), folders[1] / artifacts.VERDICTS
        )
        (folders[1] / artifacts.GRADE_INFO).write_text(json.dumps({"grader_version": "1"}), encoding="utf-8")
        generated = {"sampling": {"samples": self.samples, "seed": seed}, "engine": {"name": "fake", "version": "1"}}
        (folders[0] / artifacts.GENERATE_INFO).write_text(json.dumps(generated), encoding="utf-8")
        return folders

    def trained(self, name: str, ability: float, seed: int, labels: int, pseudo: bool) -> tuple[Path, Path]:
        """Write the artifacts of supervise and train."""
        train, supervise = self.root / f"{name}-train", self.root / f"{name}-supervise"
        for folder in (train, supervise):
            folder.mkdir(parents=True)
        generator = np.random.default_rng(seed)
        rows = []
        for step in range(1, self.steps + 1):
            grown = 0.45 + (ability - 0.45) * (1 - np.exp(-step / 20))
            rows.append((step, artifacts.TRAIN_REWARD, grown + generator.normal(0, 0.02)))
            rows.append((step, "supervision/true_pass_rate", grown + generator.normal(0, 0.02)))
            rows.append((step, "actor/grad_norm", 0.3))
            if pseudo:
                rows.append((step, "supervision/pseudo_label_accuracy", 0.62 + generator.normal(0, 0.03)))
            if step == 1 or step % 10 == 0:
                rows.append((step, artifacts.PANEL_ACCURACY, grown + generator.normal(0, 0.01)))
        columns = {name: [row[i] for row in rows] for i, name in enumerate(("step", "key", "value"))}
        pq.write_table(pa.table(columns, schema=artifacts.METRICS_SCHEMA), train / artifacts.METRICS)
        summary = {"steps": self.steps, "prompts": 32 * self.steps, "rollouts": 256 * self.steps, "attempts": 1}
        summary |= {"generated_tokens": 4800 * self.steps, "optimizer_steps": self.steps}
        summary |= {"wall_seconds": 85.5 + seed, "cpu_seconds": 92.0, "peak_rss_bytes": 3 * 2**30}
        (train / artifacts.TRAIN_INFO).write_text(json.dumps(summary), encoding="utf-8")
        ratio = {"nominal": labels / 1536, "realised": labels / 1536}
        (supervise / artifacts.SUPERVISION_INFO).write_text(
            json.dumps({"labels_bought": {"total": labels}, "rows": 1536, "label_ratio": ratio}), encoding="utf-8"
        )
        panel = pa.table({"index": pa.array(range(198), pa.int64())})
        pq.write_table(panel, supervise / artifacts.PANEL)
        return train, supervise

    def pool(self) -> Path:
        """Write a pool of one question, which is no benchmark's."""
        folder = self.root / "pool"
        folder.mkdir(exist_ok=True)
        row = {"index": 1, "question": "1+1?", "answer": "2", "family": "add", "level": 0, "paraphrase": ""}
        pq.write_table(pa.Table.from_pylist([row], schema=artifacts.POOL_SCHEMA), folder / artifacts.POOL)
        return folder

    def cell(self, name: str, ability: float, seed: int = 0, labels: int | None = None, pseudo: bool = False) -> Path:
        """Run the record stage of a cell; untrained without `labels`. Returns the folder of the record."""
        samples, verdicts = self.graded(name, ability, seed)
        inputs = {"benchmarks": self.benchmarks(), "samples": samples, "verdicts": verdicts}
        if labels is not None:
            inputs["train"], inputs["supervise"] = self.trained(name, ability, seed, labels, pseudo)
            inputs["pool"] = self.pool()
        out, work = self.root / f"{name}-record", self.root / f"{name}-work"
        for folder in (out, work):
            folder.mkdir(parents=True)
        run(StageJob(StageKind.RECORD, "0" * 64, {}, inputs, work, out, 1, {}))
        return out

    def seed(self, name: str, ability: float, seed: int = 0, labels: int | None = None, pseudo=False) -> SeedResult:
        """Run and load a cell."""
        record = self.cell(name, ability, seed, labels, pseudo)
        return load_seed(record, self.root / f"{name}-train" if labels is not None else None)

    def suite(self, seeds: int = 1, *, broken: bool = True) -> SuiteReport:
        """Build the report of a suite like `quick`, with one failed and one pending arm if `broken`."""

        def cells(name: str, ability: float, labels: int, pseudo: bool = False) -> dict[int, SeedResult]:
            return {n: self.seed(f"{name}-{n}", ability + 0.01 * n, n, labels, pseudo) for n in range(seeds)}

        arms = [
            arm_result("base model", "base", None, "none", {0: self.seed("base", 0.45)}, trained=False),
            arm_result(REFERENCE, "grpo", 1.0, "none", cells("full", 0.62, 1536)),
            arm_result("labeled_only, 10% labels", "labeled_only", 0.1, "none", cells("few", 0.56, 154)),
            arm_result("ttrl, 0% labels", "ttrl", 0.0, "none", cells("ttrl0", 0.53, 0, True)),
            arm_result("ttrl, 10% labels", "ttrl", 0.1, "none", cells("ttrl10", 0.55, 154, True)),
        ]
        if broken:
            failed = {n: MissingSeed(CellState.FAILED, "out of memory in step 12 <3>") for n in range(seeds)}
            waiting = {n: MissingSeed(CellState.PENDING, "not started") for n in range(seeds)}
            arms.append(arm_result("olr, 50% inactive noise", "olr", 1.0, "50% inactive", failed))
            arms.append(arm_result("geomin, 10% labels", "geomin", 0.1, "none", waiting))
        return SuiteReport(
            suite="quick",
            version=1,
            title="Majority-vote pseudo labels against supervision",
            profile="micro",
            arms=tuple(arms),
            reference=REFERENCE,
            identity="5f" * 32,
            data_date="2026-01-02T03:04:05Z",
        )
