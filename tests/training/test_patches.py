"""For each patch of benchmark/training/patches.py: a test that fails once upstream no longer needs it."""

import inspect
import subprocess
import sys

import pytest

pytest.importorskip("verl")


def in_a_fresh_process(code: str) -> subprocess.CompletedProcess[str]:
    """Run code where no patch was applied."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False, env=_environment()
    )


def _environment() -> dict[str, str]:
    import os

    kept = {key: value for key, value in os.environ.items() if not key.startswith("VERL_")}
    return {**kept, "OMP_NUM_THREADS": "1"}


def test_transfer_queue_still_uses_one_fixed_namespace_for_all_jobs():
    from transfer_queue import interface

    source = inspect.getsource(interface)
    assert source.count('namespace="transfer_queue"') == 2


def test_torch_still_refuses_the_backend_that_verl_builds_for_a_cpu():
    code = """
import os
os.environ.update(VERL_PLATFORM="cpu", MASTER_ADDR="127.0.0.1", MASTER_PORT="29571", RANK="0", WORLD_SIZE="1")
import verl
from benchmark.training.cpu import platform
from verl.utils.distributed import initialize_global_process_group_ray
try:
    initialize_global_process_group_ray()
except Exception as error:
    print("refused:", error)
"""
    result = in_a_fresh_process(code)
    assert "refused: Duplicate device type cpu" in result.stdout, result.stdout + result.stderr


def test_verl_still_has_no_function_to_register_a_rollout_class():
    from verl.workers.rollout import base

    functions = [name for name, _ in inspect.getmembers(base, inspect.isfunction) if "register" in name]
    assert functions == []


def test_verl_still_computes_log_probs_row_by_row_without_flash_attention():
    code = """
import inspect, verl.utils.torch_functional as functional
print(functional.FLAH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE)
print("for " in inspect.getsource(functional.logprobs_from_logits_v2))
"""
    assert in_a_fresh_process(code).stdout.split() == ["False", "True"]


def test_vectorised_log_probs_equal_those_of_verl():
    code = """
import torch, verl.utils.torch_functional as functional
torch.manual_seed(0)
logits, labels = torch.randn(7, 5, 65) * 4, torch.randint(65, (7, 5))
theirs = functional.logprobs_from_logits_v2(logits, labels)
from benchmark.training import patches
patches.vectorise_log_probs()
print(float((theirs - functional.logprobs_from_logits_v2(logits, labels)).abs().max()))
"""
    assert float(in_a_fresh_process(code).stdout) < 1e-5


@pytest.mark.parametrize(
    ("setting", "left"),
    [({}, 1), ({"VERL_USE_EXTERNAL_MODULES": "benchmark.training.verl_plugin", "VERL_PLATFORM": "cpu"}, 0)],
)
def test_verl_still_leaves_a_lock_file_for_each_folder_of_a_checkpoint_and_with_the_plugin_none(
    setting, left, tmp_path
):
    (tmp_path / "temporary").mkdir()
    code = f"""
import os
os.environ.update({setting!r}, TMPDIR="{tmp_path / "temporary"}")
import verl
from verl.utils.fs import local_mkdir_safe
print(local_mkdir_safe("{tmp_path / "checkpoint"}"))
"""
    result = in_a_fresh_process(code)
    assert result.stdout.split()[-1:] == [str(tmp_path / "checkpoint")], result.stderr
    assert (tmp_path / "checkpoint").is_dir()
    assert len(list((tmp_path / "temporary").glob("*.lock"))) == left
