"""The module that verl imports in every process of a job (`VERL_USE_EXTERNAL_MODULES`).

It applies the patches and, on a machine without a GPU (`VERL_PLATFORM=cpu`), registers the CPU platform
and rollout engine. verl swallows the exceptions of entry-point plugins at debug level; a module named
in the environment variable fails loudly, which is why venus uses the variable.
"""

import os

from benchmark.training import patches

patches.isolate_transfer_queue(os.environ.get(patches.JOB_NAMESPACE, "transfer_queue"))

if os.environ.get("VERL_PLATFORM") == "cpu":
    from benchmark.training.cpu import register

    register()
