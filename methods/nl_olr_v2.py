"""NL-OLR v2: rounds of GRPO on labels, and corrected labels between them (DE-Venus, section 2.3).

Within a round nothing is special: GRPO on the stored labels, and rows without one score 0. Between rounds
`methods.transitions.nl_olr_v2` replaces labels that a majority answer overtakes; its numbers are a RECONSTRUCTION.
"""

from methods.base import LabelNeed, Method, Module, SourceConfidence
from methods.transitions.nl_olr_v2 import Relabelling, RelabellingOptions


class NLOLRv2(Method):
    """GRPO on stored labels, which are corrected between rounds."""

    name = "nl_olr_v2"
    summary = "replace labels that a growing majority answer beats, between rounds"
    module = Module.REFINEMENT
    paper = "2609.03324"
    confidence = SourceConfidence.RECONSTRUCTION
    label_need = LabelNeed.REQUIRED
    Options = RelabellingOptions

    @property
    def transition(self) -> Relabelling:
        """Relabelling from all probes so far."""
        return Relabelling(self.options)
