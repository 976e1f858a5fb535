"""The module that verl imports in every process of a job (`VERL_USE_EXTERNAL_MODULES`).

It applies the patches and, on a machine without a GPU (`VERL_PLATFORM=cpu`), registers the CPU platform
and rollout engine. verl swallows the exceptions of entry-point plugins at debug level; a module named
in the environment variable fails loudly, which is why venus uses the variable.
"""

import gc
import os

from benchmark.training import patches

# A verl process holds millions of objects and makes thousands of short-lived ones per step; at Python's default
# the collector walks all of them several times in a step of the micro model.
gc.set_threshold(100_000, 50, 100)

patches.isolate_transfer_queue(os.environ.get(patches.JOB_NAMESPACE, "transfer_queue"))
patches.make_folders_without_lock_files()

if os.environ.get("VERL_PLATFORM") == "cpu":
    from benchmark.training.cpu import register

    register()
