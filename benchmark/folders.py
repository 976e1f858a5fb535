"""Folders that a user names: what stands in the way of reading one.

Asked before anything starts, so that a slip of the keyboard is a sentence and not the traceback of whoever stumbles
over it first. Imports nothing of the project, so every package may use it.
"""

import os
from pathlib import Path


def unreadable(folder: Path) -> str | None:
    """Say what is found instead of a folder that can be read; None where there is one."""
    file = file_in_the_way(folder)
    if file is not None:
        return f"a file at {file}"
    if not os.path.exists(folder):
        return f"nothing at {folder}"
    if not os.access(folder, os.R_OK | os.X_OK):
        return f"a folder that may not be read at {folder}"
    return None


def file_in_the_way(folder: Path) -> Path | None:
    """Return the file at a path, or where a parent of it would have to be; None where a folder is or can be made."""
    absolute = folder.absolute()
    nearest = next(path for path in (absolute, *absolute.parents) if os.path.exists(path))
    return None if os.path.isdir(nearest) else nearest
