"""The CPU as a verl platform, registered under the name "cpu"."""

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import torch
from verl.plugin.platform import PlatformBase, PlatformRegistry


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Accept any call: there is no device memory to manage."""


def _zero(*args: Any, **kwargs: Any) -> int:
    return 0


def _memory(*args: Any, **kwargs: Any) -> tuple[int, int]:
    memory = psutil.virtual_memory()
    return memory.available, memory.total


class _DeviceModule(types.ModuleType):
    """`torch.cpu`, completed by the calls that verl makes on a device module."""

    memory_allocated = memory_reserved = max_memory_allocated = max_memory_reserved = staticmethod(_zero)
    empty_cache = synchronize = ipc_collect = reset_peak_memory_stats = staticmethod(_nothing)
    set_device = set_per_process_memory_fraction = staticmethod(_nothing)
    mem_get_info = staticmethod(_memory)
    get_device_name = staticmethod(lambda *args: "cpu")
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    get_rng_state = staticmethod(torch.get_rng_state)
    set_rng_state = staticmethod(torch.set_rng_state)

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.cpu, name)


_MODULE = _DeviceModule("benchmark.training.cpu.device")


@PlatformRegistry.register(platform="cpu")
class CPUPlatform(PlatformBase):
    """One device, no device memory, gloo for collectives."""

    device_name = "cpu"
    vendor_name = "cpu"

    @property
    def device_module(self) -> types.ModuleType:
        """The stand-in for torch.cuda."""
        return _MODULE

    def is_available(self) -> bool:
        """Return True: there is always a CPU."""
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        """Return whether verl should choose this platform by itself: never where CUDA is present."""
        return not torch.cuda.is_available()

    def current_device(self) -> torch.device:
        """Return what verl passes on to Tensor.to and Module.to."""
        return torch.device("cpu")

    def device_count(self) -> int:
        """Return 1."""
        return 1

    def set_device(self, device_index: int) -> None:
        """Accept the only device."""

    def synchronize(self, device_index: int | None = None) -> None:
        """Return at once: CPU kernels are synchronous."""

    def manual_seed(self, seed: int) -> None:
        """Seed torch."""
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seed torch."""
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        """Ignore the settings: there is no caching allocator."""

    def empty_cache(self) -> None:
        """Return at once: there is no cache."""

    def get_device_capability(self, device_index: int = 0) -> tuple[None, None]:
        """Return that a CPU has no compute capability."""
        return None, None

    def communication_backend_name(self) -> str:
        """Return gloo, the collective backend of CPUs."""
        return "gloo"

    def visible_devices_envvar(self) -> str:
        """Return the variable that Ray sets for the logical GPU."""
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        """Mark nothing: there is no NVTX."""
        yield

    def profiler_start(self) -> None:
        """Ignore the request: there is no device profiler."""

    def profiler_stop(self) -> None:
        """Ignore the request: there is no device profiler."""

    def ray_resource_name(self) -> str:
        """Return "GPU", the only name that verl's resource check counts (a logical slot here)."""
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        """Return no variable: Ray may set what it likes."""
        return []

    def is_ipc_supported(self) -> bool:
        """Return False: weights are copied."""
        return False

    def cudart(self) -> None:
        """Return no CUDA run time."""
