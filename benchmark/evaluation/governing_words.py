"""The words in front of "the answer is ..." that turn it into something else than a statement."""

import re
from typing import Final

REACH: Final = 80
"""Characters before a phrase in which such words stand."""

_DETERMINER = r"(?:\s+(?:the|my|your|our|an?|its?|this))?(?:\s+(?:final|correct|right|best))*"
_SUPPOSED: Final = re.compile(
    r"\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine|were|let(?:'s|\s+us)\s+say)(?:\s+that)?"
    rf"{_DETERMINER}\s*\Z",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"(?:n't|\b(?:doubt|deny|not|never|false|wrong|untrue|unlikely|impossible|incorrect))"
    r"(?:\s+(?:think|believe|say|mean|sure|clear|certain|true|convinced|claim|conclude|agree|the\s+case))?"
    rf"(?:\s+(?:that|if|whether))?{_DETERMINER}\s*\Z",
    re.IGNORECASE,
)


def is_supposed(text: str, start: int) -> bool:
    """Say whether what starts at a position is only supposed, as in "if the answer is 5"."""
    return _SUPPOSED.search(text[max(0, start - REACH) : start]) is not None


def is_denied(text: str, start: int) -> bool:
    """Say whether what starts at a position is denied, as in "I doubt the answer is 5"."""
    return _DENIED.search(text[max(0, start - REACH) : start]) is not None
