"""Which checkpoint of a job is whole, and telling verl to start from it.

verl notes its newest checkpoint in a text file that is not written atomically, and never falls back to an
older one. `mark_whole` is called as the last act of saving; after a crash the newest marked folder is the
one to resume from, and the note is rewritten to point to it.
"""

import os
import shutil
from pathlib import Path

from benchmark.files import write_atomically

NOTE = "latest_checkpointed_iteration.txt"
MARK = "whole"
_PREFIX = "global_step_"


def step_folder(checkpoints: Path, step: int) -> Path:
    """Return the folder of the checkpoint after `step` steps, as verl names it."""
    return checkpoints / f"{_PREFIX}{step}"


def mark_whole(checkpoints: Path, step: int, keep: int = 2) -> None:
    """Mark a checkpoint as completely written, after everything else is on disk, and keep the newest `keep`.

    verl prunes the weights of older checkpoints but leaves their folders behind.
    """
    os.sync()
    (step_folder(checkpoints, step) / MARK).touch()
    for old in _whole_steps(checkpoints)[:-keep]:
        shutil.rmtree(step_folder(checkpoints, old))


def latest_whole_checkpoint(checkpoints: Path) -> int:
    """Return the step of the newest complete checkpoint, 0 where there is none."""
    return max(_whole_steps(checkpoints), default=0)


def _whole_steps(checkpoints: Path) -> list[int]:
    return sorted(int(mark.parent.name.removeprefix(_PREFIX)) for mark in checkpoints.glob(f"{_PREFIX}*/{MARK}"))


def point_to(checkpoints: Path, step: int) -> None:
    """Make verl resume from `step`; 0 makes it start from scratch."""
    note = checkpoints / NOTE
    if step == 0:
        note.unlink(missing_ok=True)
        return
    write_atomically(note, str(step))
