"""TraPO v2: rounds of GRPO on labels, and promoted pseudo labels between them (DE-Venus, section 2.3).

Within a round nothing is special: GRPO on the rows that carry a label, given or promoted. Between rounds
`methods.transitions.trapo_v2` promotes unlabelled items; its numbers are a RECONSTRUCTION.
"""

from methods.base import LabelNeed, Method, Module, SourceConfidence, TrainingRows
from methods.transitions.trapo_v2 import Promotion, PromotionOptions


class TraPOv2(Method):
    """GRPO on labelled and promoted rows."""

    name = "trapo_v2"
    summary = "promote stable, growing majority answers between rounds"
    module = Module.REFINEMENT
    paper = "2609.03324"
    confidence = SourceConfidence.RECONSTRUCTION
    label_need = LabelNeed.REQUIRED
    rows = TrainingRows.LABELLED
    Options = PromotionOptions

    @property
    def transition(self) -> Promotion:
        """Promotion from all probes so far."""
        return Promotion(self.options)
