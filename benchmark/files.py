"""Writing a file so that no reader and no crash ever sees half of it.

Imports nothing of the project, so every package may use it.
"""

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write beside the target, flush to disk, then rename over it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8", newline="\n") as sink:
        sink.write(text)
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(temporary, path)
