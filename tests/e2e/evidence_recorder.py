"""Imported first in the job of `test_evidence_in_a_real_job`: registers the method and records what it is given.

The evidence is recorded where the trainer reads it, together with the tokens that it is about.
"""

import sys
from pathlib import Path

import all_evidence  # noqa: F401  registers itself
import torch

from benchmark.training import groups as queue

WORK = Path(sys.argv[1])
_read_evidence = queue.read_evidence


def recorded(partition, layout, declared, present, groups):
    evidence = _read_evidence(partition, layout, declared, present, groups)
    keys = layout.selected(present)
    tokens = queue.tq.kv_batch_get(keys=keys, partition_id=partition, select_fields=["prompts", "responses"])
    pairs = zip(tokens["prompts"].unbind(), tokens["responses"].unbind(), strict=True)
    seen = {
        "evidence": {kind: getattr(evidence, kind) for kind in queue.FIELD_OF_EVIDENCE},
        "sequences": dict(zip(keys, [(p.tolist(), r.tolist()) for p, r in pairs], strict=True)),
        "keys": layout.keys,
        "present": present,
        "lengths": groups.lengths,
    }
    torch.save(seen, WORK / f"evidence-{groups.step}.pt")
    return evidence


queue.read_evidence = recorded
