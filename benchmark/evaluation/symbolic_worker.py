"""The process in which sympy runs: reads comparisons as JSON lines, answers each with one word.

Started by `benchmark.evaluation.workers` with the limits of memory and processor time as arguments. The operating
system enforces both, also inside one long operation on big integers, where no Python handler would run; the limit of
time holds even if the parent is gone.
"""

import json
import resource
import sys
from math import ceil
from typing import Final

READY: Final = "ready"
_GRACE: Final = 2  # seconds after which the kernel ends what the parent did not


def main(memory: int, deadline: float) -> None:
    """Serve until the input ends; `memory` is in bytes of address space, `deadline` in seconds per comparison."""
    limit_memory(memory)
    from benchmark.evaluation.latex_tokens import UnreadableError
    from benchmark.evaluation.symbolic import same_answer

    print(READY, flush=True)
    for line in sys.stdin:
        _limit_time(deadline)
        answer, gold, tolerance = json.loads(line)
        try:
            reply = "same" if same_answer(answer, gold, tolerance) else "different"
        except (UnreadableError, RecursionError):
            reply = "unreadable"
        except Exception as error:  # noqa: BLE001 - whatever sympy raises is a failed comparison, not a failed worker
            reply = f"failed {type(error).__name__}"
        print(reply, flush=True)


def limit_memory(memory: int) -> None:
    """Set the address space that this process may use, in bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(deadline: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(used.ru_utime + used.ru_stime + deadline) + _GRACE, hard))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
