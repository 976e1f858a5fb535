"""How reliable a value is, from where it lies among recent ones.

A mixture of two Gaussians splits the values into reliable and unreliable ones, without a threshold to
tune. Where there are not two modes to split, the rank takes its place: a mixture fitted to one mode calls an
arbitrary part of it unreliable with great confidence. RECONSTRUCTION of GeoMin's adaptive
split (arXiv 2606.04516), of which only the mixture is published.
"""

import numpy as np
from numpy.typing import NDArray


def reliability(
    recent: NDArray[np.float64],
    queries: NDArray[np.float64],
    variance_floor: float = 1e-3,
    separation: float = 1.0,
    seed: int = 0,
) -> tuple[NDArray[np.float64], bool]:
    """Return the reliability of each query [q], in [0, 1], and whether the recent values [n] have two modes.

    With two modes, |m1 - m2| >= separation * sqrt(v1 + v2), it is the posterior of the mode with the higher mean;
    otherwise the percentile rank. A separation of 1 is lax: it holds for most samples of a single Gaussian; for
    two equal parts the density has two peaks from sqrt(2) on. The floor is added to the variances. The order of
    the queries does not matter; that of the recent values does to the last bit, so callers keep them sorted.
    """
    ranks = percentile_ranks(recent, queries)
    if len(np.unique(recent)) < 2:
        return ranks, False
    from sklearn.mixture import GaussianMixture  # takes a second to import, which `venus plan` must not pay

    mixture = GaussianMixture(2, reg_covar=variance_floor, init_params="kmeans", random_state=seed)
    mixture.fit(recent[:, None])
    means, variances = mixture.means_.ravel(), mixture.covariances_.ravel()
    if abs(means[0] - means[1]) < separation * np.sqrt(variances.sum()):
        return ranks, False
    distinct, place = np.unique(queries, return_inverse=True)
    if not len(distinct):
        return ranks, True
    posterior = mixture.predict_proba(distinct[:, None])[:, int(np.argmax(means))]
    return np.asarray(posterior[place], dtype=np.float64), True


def percentile_ranks(recent: NDArray[np.float64], queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the recent values [n] below each query [q], ties counted half, in [0, 1]."""
    ordered = np.sort(recent)
    below, up_to = np.searchsorted(ordered, queries, "left"), np.searchsorted(ordered, queries, "right")
    ranks: NDArray[np.float64] = (below + up_to) / (2 * max(1, len(ordered)))
    return ranks
