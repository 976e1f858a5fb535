"""Imports that a process can do without, and that cost it seconds.

transformers imports scikit-learn, with pandas and scipy.stats behind it, wherever it is installed, for one
function of assisted generation that nobody here calls. That is a third of the imports of every process that
holds a model, and a cell on a CPU starts five of them. So transformers is loaded while scikit-learn looks as if
it were not installed; who needs it (a mixture, a calibration) imports it as usual afterwards.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_NAME = "sklearn"


@contextmanager
def scikit_learn_hidden() -> Iterator[None]:
    """Let imports inside find no scikit-learn, unless it is loaded already."""
    if _NAME in sys.modules:
        yield
        return
    hide_scikit_learn()
    try:
        yield
    finally:
        del sys.modules[_NAME]


def hide_scikit_learn() -> None:
    """Hide scikit-learn from this process for good; the set-up hook of Ray workers, which run models only."""
    sys.modules.setdefault(_NAME, None)  # type: ignore[arg-type]  # None is how Python marks what cannot be imported
