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
STEP = "step.txt"  # in a checkpoint that is handed on: the step after which it was written
_LOADER = "data.pt"  # verl's position in the training file
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


def continue_from(saved: Path, checkpoints: Path) -> None:
    """Start a job's checkpoints with the last one of the round before, without its position in the data."""
    step = int((saved / STEP).read_text(encoding="utf-8"))
    folder = step_folder(checkpoints, step)
    shutil.copytree(saved, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(_LOADER, STEP, MARK))
    mark_whole(checkpoints, step)


def hand_on(checkpoints: Path, step: int, target: Path) -> None:
    """Copy a checkpoint out of a job's folder, for the next round to continue from."""
    shutil.copytree(step_folder(checkpoints, step), target, ignore=shutil.ignore_patterns("huggingface", MARK))
    (target / STEP).write_text(str(step), encoding="utf-8")


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
