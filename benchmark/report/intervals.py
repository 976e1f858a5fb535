r"""The variance of a paired difference, split into seeds and questions, and the interval that follows.

d[s, q] = mean + a[s] + b[q] + e[s, q]: training seeds and questions are both drawn from more than was run, e holds
what is left, which is decoding noise and the interaction. The mean over S seeds and Q questions has the variance

    var(a) / S  +  var(b) / Q  +  var(e) / (S Q).

Each of two obvious estimates contains the last term once: V_S = sample variance of the means of the seeds / S, and
V_Q = sample variance of the means of the questions / Q. Adding them counts it twice, and a bootstrap that resamples
seeds and questions together counts it a third time, because every resampled cell moves with both draws (Owen 2007,
The pigeonhole bootstrap). With V_E = mean square of the residuals / (S Q), the sum that counts it once is

    V = V_S + max(V_Q - V_E, 0),        or V_Q where that is 0.

The interaction is taken off the questions, of which there are many, so that the difference is known well; taking it
off V_S, known from S - 1 differences only, would often leave nothing. A V of 0 is luck of very few seeds and
questions, and would make any difference certain: the true variance is never below that of V_Q. All terms are of macro
averages: for k benchmarks, V_Q and V_E are sums over benchmarks divided by k^2, and residuals are those within a
benchmark.

The interval is Student's, with Satterthwaite's degrees of freedom, into which V_S enters two of its standard errors
higher. Entered as it is, a V_S that is small by luck narrows the interval and raises the degrees of freedom as well:
coverage then falls to 94% with five seeds and to 92% with three where questions add a little to the variance of
seeds. `tests/report/test_report_coverage.py` shows the coverage in worlds where either source dominates; with two
seeds it is between 92% and 96%.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Variance:
    """Estimated variances of a macro-averaged difference; the sources of the module's formula.

    With one seed nothing is known about seeds: `seed` and `interaction` are 0, and the rest is about questions only.
    """

    seeds: int
    sizes: NDArray[np.int64]  # [K] questions of each benchmark
    seed: float  # V_S
    questions: NDArray[np.float64]  # [K], sums to V_Q
    interaction: float  # V_E

    @property
    def question_total(self) -> float:
        """V_Q: of the mean over questions, for the seeds at hand."""
        return float(self.questions.sum())

    @property
    def question(self) -> float:
        """The part of V_Q that more seeds would not remove, at least 0; all of it where nothing else is left."""
        left = max(self.question_total - self.interaction, 0.0)
        return left if left + self.seed > 0 else self.question_total

    @property
    def total(self) -> float:
        """V, which covers another draw of seeds and of questions."""
        return self.seed + self.question

    @property
    def question_degrees(self) -> float:
        """Satterthwaite's degrees of freedom of V_Q over benchmarks of different size; infinite where it is 0."""
        known = self.sizes > 1
        lost = float((self.questions[known] ** 2 / (self.sizes[known] - 1)).sum())
        return self.question_total**2 / lost if lost > 0 else np.inf

    @property
    def degrees(self) -> float:
        """Satterthwaite's degrees of freedom of V, V_S taken two standard errors higher."""
        if self.seeds == 1:
            return self.question_degrees
        seed, question = self.seed * (1 + 2 * np.sqrt(2 / (self.seeds - 1))), self.question
        lost = seed**2 / (self.seeds - 1) + question**2 / self.question_degrees
        return float((seed + question) ** 2 / lost) if lost > 0 else np.inf


def variance_of(differences: NDArray[np.float64], strata: Sequence[NDArray[np.intp]]) -> Variance:
    """Split the variance of the macro average of paired differences [S, Q]; `strata` as in `bootstrap`.

    A benchmark with one question adds no variance of questions: none can be estimated from it.
    """
    seeds, kinds = len(differences), len(strata)
    sizes = np.array([len(where) for where in strata], dtype=np.int64)
    questions, interaction = np.zeros(kinds), 0.0
    for place, where in enumerate(strata):
        if len(where) < 2:
            continue
        own = differences[:, where]
        by_question = own.mean(axis=0)
        questions[place] = by_question.var(ddof=1) / len(where)
        if seeds > 1:
            residual = own - own.mean(axis=1, keepdims=True) - by_question + by_question.mean()
            interaction += float((residual**2).sum()) / ((seeds - 1) * (len(where) - 1) * seeds * len(where))
    by_seed = seed_means(differences, strata)
    seed = float(by_seed.var(ddof=1)) / seeds if seeds > 1 else 0.0
    return Variance(seeds, sizes, seed, questions / kinds**2, interaction / kinds**2)


def seed_means(differences: NDArray[np.float64], strata: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the macro average of each seed, [S]."""
    return np.asarray(np.mean([differences[:, where].mean(axis=1) for where in strata], axis=0))


def t_interval(seed_means: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95% Student t interval of the mean of two or more seeds; the questions are taken as fixed."""
    n, mean = len(seed_means), float(seed_means.mean())
    half = t_quantile(n - 1) * float(seed_means.std(ddof=1)) / np.sqrt(n)
    return mean - half, mean + half


def t_quantile(degrees: float, probability: float = (1 + LEVEL) / 2) -> float:
    """Return a quantile of Student's t; the normal one for infinite degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(probability) if np.isinf(degrees) else stdtrit(degrees, probability))


def two_sided_p(mean: float, variance: float, degrees: float) -> float:
    """Return the p-value of no difference: Student's t, two-sided.

    1 for a difference of exactly nothing, and for one without any spread, from which no error can be estimated.
    """
    from scipy.special import ndtr, stdtr

    if mean == 0 or variance <= 0:
        return 1.0
    ratio = -abs(mean) / np.sqrt(variance)
    return float(2 * (ndtr(ratio) if np.isinf(degrees) else stdtr(degrees, ratio)))


def clustered_standard_error(accuracy: NDArray[np.float64], benchmark: NDArray[np.str_]) -> float | None:
    """Return the standard error of a macro average, clustered by question; None where it is undefined.

    `accuracy` [Q] is the mean over all responses to a question, so repeated samples do not narrow it (Miller 2024,
    section 2.2). For k benchmarks with n_b questions: sqrt(sum_b var_b / n_b) / k.
    """
    variance = 0.0
    names = np.unique(benchmark)
    for name in names:
        values = accuracy[benchmark == name]
        if len(values) < 2 or not np.isfinite(values).all():
            return None
        variance += values.var(ddof=1) / len(values)
    return float(np.sqrt(variance) / len(names)) if len(names) else None
