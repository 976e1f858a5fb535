"""The store: whole artifacts or none, damage found and moved aside, one driver at a time."""

import hashlib
import json
import subprocess
import sys

import pytest

from benchmark.errors import StageError, StoreBusyError
from benchmark.runs.store import MANIFEST, CorruptArtifactError, Store, driver_pid, read_manifest
from benchmark.stage import Stage, StageKind, canonical_json

STAGE = Stage(StageKind.POOL, 1, canonical_json({"pool": 8}), ())


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def publish(store, content=b"rows"):
    work = store.prepare(STAGE.kind, STAGE.key, keep=True)
    (work / "out" / "deep").mkdir()
    (work / "out" / "deep" / "pool.parquet").write_bytes(content)
    return store.publish(STAGE, STAGE.key, 1.5)


def test_reading_creates_nothing(store):
    assert not store.has(STAGE.kind, STAGE.key)
    with pytest.raises(CorruptArtifactError):
        store.open(STAGE.kind, STAGE.key)
    assert driver_pid(store.root) is None
    assert not store.root.exists()


def test_a_published_artifact_is_described_by_its_manifest(store):
    folder = publish(store)
    manifest = read_manifest(folder)
    assert folder == store.root / "pool" / STAGE.key
    assert manifest["files"] == {
        "deep/pool.parquet": {
            "sha256": hashlib.sha256(b"rows").hexdigest(),
            "size": 4,
        }
    }
    assert (manifest["params"], manifest["seconds"], manifest["versions"]["python"][:2]) == ({"pool": 8}, 1.5, "3.")
    assert store.has(STAGE.kind, STAGE.key)
    assert store.open(STAGE.kind, STAGE.key) == folder
    assert not store.work(STAGE.kind, STAGE.key).exists()


def test_what_is_not_published_is_not_there(store):
    work = store.prepare(STAGE.kind, STAGE.key, keep=True)
    (work / "out" / "pool.parquet").write_bytes(b"half of the ro")
    assert not store.has(STAGE.kind, STAGE.key)


def test_an_empty_artifact_is_refused(store):
    store.prepare(STAGE.kind, STAGE.key, keep=True)
    with pytest.raises(StageError, match="wrote no file"):
        store.publish(STAGE, STAGE.key, 1.0)


def test_a_new_attempt_keeps_the_work_folder_or_only_its_log(store):
    work = store.prepare(STAGE.kind, STAGE.key, keep=True)
    (work / "checkpoint").write_text("step 10")
    (work / "log.txt").write_text("attempt 1")
    (work / "out" / "half").write_text("")
    store.prepare(STAGE.kind, STAGE.key, keep=True)
    assert sorted(path.name for path in work.iterdir()) == ["checkpoint", "log.txt", "out"]
    assert list((work / "out").iterdir()) == []
    store.prepare(STAGE.kind, STAGE.key, keep=False)
    assert sorted(path.name for path in work.iterdir()) == ["log.txt", "out"]


@pytest.mark.parametrize("damage", ["grown", "removed", "manifest", "folder"])
def test_damage_that_shows_in_sizes_makes_an_artifact_missing(store, damage):
    folder = publish(store)
    file = folder / "deep" / "pool.parquet"
    if damage == "grown":
        file.write_bytes(b"rows and more")
    elif damage == "removed":
        file.unlink()
    elif damage == "manifest":
        (folder / MANIFEST).write_text("{")
    else:
        (folder / MANIFEST).write_text(json.dumps({"files": {"deep": {"size": 1}, "absent": {"size": 1}}}))
    assert not store.has(STAGE.kind, STAGE.key)


def test_a_changed_byte_is_found_on_first_use_and_quarantined(store):
    folder = publish(store)
    (folder / "deep" / "pool.parquet").write_bytes(b"r0ws")
    assert store.has(STAGE.kind, STAGE.key)  # the cheap check sees sizes only
    with pytest.raises(CorruptArtifactError, match="differs from its manifest"):
        store.open(STAGE.kind, STAGE.key)
    aside = store.quarantine(STAGE.kind, STAGE.key)
    assert (aside / "deep" / "pool.parquet").read_bytes() == b"r0ws"
    assert not store.has(STAGE.kind, STAGE.key)
    publish(store)
    assert store.open(STAGE.kind, STAGE.key) == folder


def test_only_the_named_files_are_hashed(store):
    folder = publish(store)
    (folder / "deep" / "pool.parquet").write_bytes(b"r0ws")
    assert store.open(STAGE.kind, STAGE.key, names=()) == folder


def test_publishing_over_a_damaged_artifact_moves_it_aside(store):
    folder = publish(store)
    (folder / MANIFEST).write_text("{")
    publish(store)
    assert store.open(STAGE.kind, STAGE.key) == folder
    assert len(list((store.root / "quarantine").iterdir())) == 1


HOLD = """
import sys, time
from pathlib import Path
from benchmark.runs.store import Store
with Store(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_driver_is_refused_and_told_who_holds_the_store(store):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(store.root)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreBusyError, match=f"process {holder.pid}"), store.lock():
            pass
        assert driver_pid(store.root) == holder.pid
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert driver_pid(store.root) is None
    with store.lock():  # the kernel has released the lock of the killed driver
        assert driver_pid(store.root) is not None
