"""Intervals of an accuracy itself, not of a difference: what one evaluated model scores.

Questions are the unit, however many responses each has. Wilson's interval with n = number of questions is exact in
spirit for one response per question and wide for more, since the mean of several varies less than one response does. It
is preferred to a standard error or a bootstrap because a benchmark of 30 questions with nothing right has an interval
too: those give [0, 0].

Sources: Wilson 1927; Zou and Donner 2008 (Statistics in Medicine 27) for combining the intervals of independent
estimates (MOVER); Bowyer et al. 2025 (arXiv 2503.01747) on why the normal interval is too narrow for few questions.
"""

from collections.abc import Sequence
from math import sqrt

Z = 1.959963984540054
"""0.975 quantile of the normal distribution."""


def wilson_interval(accuracy: float, questions: int) -> tuple[float, float]:
    """Return the 95% interval of an accuracy in [0, 1] over `questions` (Wilson 1927).

    Raises ValueError for no question or an accuracy out of range.
    """
    if questions < 1 or not 0 <= accuracy <= 1:
        raise ValueError(
            f"interval: found accuracy {accuracy} over {questions} questions, allowed 0 to 1 over 1 or more"
        )
    square = Z**2 / questions
    centre = (accuracy + square / 2) / (1 + square)
    half = sqrt(accuracy * (1 - accuracy) * square + square**2 / 4) / (1 + square)
    # At 0 and 1 the two terms are equal, but for their rounding, which may also leave the range.
    low, high = (0.0 if accuracy == 0 else centre - half), (1.0 if accuracy == 1 else centre + half)
    return max(low, 0.0), min(high, 1.0)


def average_interval(parts: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """Return the 95% interval of the unweighted mean of (accuracy, questions) of independent benchmarks.

    With estimates p_i and their intervals [l_i, u_i]: mean - sqrt(sum (p_i - l_i)^2) / k and
    mean + sqrt(sum (u_i - p_i)^2) / k (Zou and Donner 2008, section 2). Raises ValueError for no benchmark.
    """
    if not parts:
        raise ValueError("interval of an average: found no benchmark, allowed 1 or more")
    mean = sum(accuracy for accuracy, _ in parts) / len(parts)
    bounds = [(accuracy, *wilson_interval(accuracy, questions)) for accuracy, questions in parts]
    below = sqrt(sum((accuracy - low) ** 2 for accuracy, low, _ in bounds)) / len(parts)
    above = sqrt(sum((high - accuracy) ** 2 for accuracy, _, high in bounds)) / len(parts)
    return max(0.0, mean - below), min(1.0, mean + above)
