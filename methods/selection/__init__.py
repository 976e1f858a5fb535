"""Active data selection: which questions to annotate, to keep unlabelled and to discard, before training.

`registry` lists the scorers, `base` says what one sees, `router` turns scores into routes.
"""

from methods.selection.registry import build_scorer, scorer_class, scorer_names

__all__ = ["build_scorer", "scorer_class", "scorer_names"]
