"""The content-addressed store: one folder per artifact, published whole or not at all.

    <root>/<kind>/<key>/          an artifact with its manifest.json
    <root>/work/<kind>-<key>/     a stage in progress; its artifact grows in out/
    <root>/quarantine/            artifacts that failed their check
    <root>/reports/<suite>/       what `tables` and `run` write; of the default store it lies beside the root
    <root>/ledger.jsonl, lock, driver.json

Publishing writes the manifest, flushes every file to disk and renames `out` into place, so that a folder
under <root>/<kind> is complete. Readers check sizes always and hashes on the first use in a process; a
damaged artifact is moved aside and counts as missing. `plan`, `status` and `tables` read without a lock
and create nothing but the report.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from benchmark.errors import StageError, StoreBusyError, UserError, VenusError
from benchmark.files import write_atomically
from benchmark.stage import Stage, StageKind

MANIFEST = "manifest.json"
OUT = "out"
LOG = "log.txt"
_PACKAGES = ("venus-bench", "verl", "torch", "ray", "transformers", "tensordict", "TransferQueue", "numpy", "pyarrow")


class CorruptArtifactError(VenusError):
    """An artifact differs from its manifest."""


class Store:
    """The artifacts under one root folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._verified: set[Path] = set()

    @property
    def ledger_path(self) -> Path:
        """File of the ledger that belongs to this store."""
        return self.root / "ledger.jsonl"

    def path(self, kind: StageKind, key: str) -> Path:
        """Return where the artifact of a stage is or will be."""
        return self.root / kind.value / key

    def work(self, kind: StageKind, key: str) -> Path:
        """Return the folder in which a stage works."""
        return self.root / "work" / f"{kind.value}-{key}"

    def has(self, kind: StageKind, key: str) -> bool:
        """Say whether an artifact is there and complete by its file sizes; contents are not read."""
        folder = f"{self.root}/{kind.value}/{key}"  # plain text: this is asked thousands of times for a plan
        try:
            files = read_manifest(folder)["files"]
            return all(os.stat(f"{folder}/{name}").st_size == entry["size"] for name, entry in files.items())
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def open(self, kind: StageKind, key: str, names: Sequence[str] | None = None) -> Path:
        """Return the folder of an artifact, with its files (or only `names`) checked against their hashes.

        Files are hashed once per process. Raises CorruptArtifactError where the artifact is damaged or
        absent.
        """
        folder = self.path(kind, key)
        try:
            files = read_manifest(folder)["files"]
            for name in files if names is None else names:
                path = folder / name
                if path not in self._verified:
                    if path.stat().st_size != files[name]["size"] or _sha256(path) != files[name]["sha256"]:
                        raise CorruptArtifactError(f"{path} differs from its manifest")
                    self._verified.add(path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptArtifactError(f"{folder} is not a whole artifact: {error!r}") from error
        return folder

    def prepare(self, kind: StageKind, key: str, keep: bool) -> Path:
        """Return the work folder of a stage with an empty `out`; the rest of it is kept or, but for the log, wiped."""
        work = self.work(kind, key)
        work.mkdir(parents=True, exist_ok=True)
        for entry in work.iterdir():
            if entry.name == OUT or not (keep or entry.name == LOG):
                _remove(entry)
        (work / OUT).mkdir()
        return work

    def publish(self, stage: Stage, key: str, seconds: float) -> Path:
        """Turn `out` of a stage's work folder into its artifact, then remove the work folder.

        Raises StageError where the stage has written nothing.
        """
        work = self.work(stage.kind, key)
        out = work / OUT
        files = sorted(path for path in out.rglob("*") if path.is_file())
        if not files:
            raise StageError(f"stage {stage.kind.value} wrote no file into {out}")
        manifest = {
            "format": 1,
            "key": key,
            "stage": stage.kind.value,
            "version": stage.version,
            "params": json.loads(stage.params),
            "inputs": dict(stage.inputs),
            "files": {
                path.relative_to(out).as_posix(): {"sha256": _sha256(path), "size": path.stat().st_size}
                for path in files
            },
            "versions": _versions(),
            "seconds": round(seconds, 3),
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        (out / MANIFEST).write_text(json.dumps(manifest, indent=1, allow_nan=False), encoding="utf-8")
        for path in out.rglob("*"):
            _flush(path)
        _flush(out)
        folder = self.path(stage.kind, key)
        if folder.exists():
            self.quarantine(stage.kind, key)
        folder.parent.mkdir(parents=True, exist_ok=True)
        os.rename(out, folder)
        _flush(folder.parent)
        shutil.rmtree(work)
        return folder

    def quarantine(self, kind: StageKind, key: str) -> Path | None:
        """Move a damaged artifact aside, so that it counts as missing; return where it went."""
        folder = self.path(kind, key)
        self._verified = {path for path in self._verified if folder not in path.parents}
        if not folder.exists():
            return None
        aside = self.root / "quarantine"
        aside.mkdir(parents=True, exist_ok=True)
        target = aside / f"{kind.value}-{key}-{time.time_ns()}"
        os.rename(folder, target)
        return target

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the store as its one driver; the kernel releases it even if the driver is killed.

        Raises StoreBusyError, with the process id of the holder, and UserError where the store cannot be written.
        """
        from filelock import FileLock, Timeout

        note = self.root / "driver.json"
        guard = FileLock(self.root / "lock", timeout=0)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            guard.acquire()
        except Timeout:
            raise StoreBusyError(
                f"the store {self.root} is in use by another venus run (process {driver_pid(self.root) or 'unknown'}); "
                "fix: wait for it or stop it, or use another store with --store"
            ) from None
        except OSError as error:
            raise no_store(f"{self.root}, which cannot be written ({error.strerror})") from error
        try:
            write_atomically(note, json.dumps({"pid": os.getpid()}))
            yield
        finally:
            note.unlink(missing_ok=True)
            guard.release()


def no_store(found: str) -> UserError:
    """Build the error for a path at which there is no store, and for a verb that runs none can be made."""
    return UserError(
        f"store: found {found}, allowed a folder that `venus run` has made or can make; "
        "fix: correct --store or VENUS_STORE"
    )


def driver_pid(root: Path) -> int | None:
    """Return the process id of the driver that holds a store, None where no driver lives."""
    try:
        pid = int(json.loads((root / "driver.json").read_text(encoding="utf-8"))["pid"])
        os.kill(pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid


def read_manifest(folder: Path | str) -> dict[str, Any]:
    """Read the manifest of an artifact folder; raises OSError or ValueError."""
    with open(f"{folder}/{MANIFEST}", "rb") as stream:
        manifest: dict[str, Any] = json.load(stream)
    return manifest


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue  # an artifact of a machine without it says so by its absence
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _flush(path: Path) -> None:
    """Force a file or folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
