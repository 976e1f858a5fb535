"""verl without a GPU and nothing else: the plugin of the stock run in step_time.py.

Registers platform and rollout engine and applies the patches without which verl does not run on a CPU;
the faster log-probabilities are left out.
"""

from unittest.mock import patch

from benchmark.training import patches
from benchmark.training.cpu import register

with patch.object(patches, "vectorise_log_probs", lambda: None):
    register()
