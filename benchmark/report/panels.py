"""Which lines share a panel: a few methods in each, and in all of them what every method is held against.

A drawing of all arms of a suite is a knot. Arms of one method stand together; the reference and the control that
rewards at random are repeated in grey. Curves on a scale of their own, such as an entropy as a reward beside shares
of right answers, get a panel of their own: on one axis they would flatten all others.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.report.results import ArmResult, Curve

LINES = 6
"""Lines of a panel at most, without those that all panels repeat."""
CONTROL = "random_reward"
"""Method that shows what a reward without information does."""


@dataclass(frozen=True, slots=True)
class PanelArms:
    """The arms of a panel, and whether its axis is that of the other panels."""

    title: str
    arms: tuple[str, ...]
    common: bool = True


def repeated_arms(arms: Sequence[ArmResult], reference: str | None) -> tuple[str, ...]:
    """Name the arms that every panel shows: the reference and controls without noise, where there are others."""
    trained = [arm for arm in arms if arm.trained]
    found = [arm.arm for arm in trained if arm.arm == reference]
    found += [arm.arm for arm in trained if arm.method == CONTROL and arm.noise_ratio == 0 and arm.arm != reference]
    return tuple(found) if len(trained) > len(found) else ()


def panels_of(
    arms: Sequence[ArmResult], curves: Mapping[str, Curve], repeated: Sequence[str], domain: tuple[float, float] | None
) -> tuple[PanelArms, ...]:
    """Divide the arms with a curve among panels; those that leave `domain` share one only with their own method."""
    by_method: dict[tuple[bool, str], list[str]] = {}
    for arm in arms:
        if arm.arm in curves and (arm.arm not in repeated or not _inside(curves[arm.arm], domain)):
            by_method.setdefault((_inside(curves[arm.arm], domain), arm.method), []).append(arm.arm)
    common = _packed({method: found for (inside, method), found in by_method.items() if inside})
    own = [
        PanelArms(f"{method} (scale of its own)", tuple(found), common=False)
        for (inside, method), found in by_method.items()
        if not inside
    ]
    if not common and any(label in curves and _inside(curves[label], domain) for label in repeated):
        common = [PanelArms("", ())]
    return (*common, *own)


def _packed(by_method: Mapping[str, list[str]]) -> list[PanelArms]:
    """Fill panels with whole methods, in order; a method with too many arms for one is divided evenly."""
    groups: list[tuple[list[str], list[str]]] = []  # titles and arms
    for method, found in by_method.items():
        count = math.ceil(len(found) / LINES)
        size = math.ceil(len(found) / count)
        for part in range(count):
            here = found[part * size : (part + 1) * size]
            title = method if count == 1 else f"{method}, {part + 1} of {count}"
            if groups and len(groups[-1][1]) + len(here) <= LINES:
                groups[-1][0].append(title)
                groups[-1][1].extend(here)
            else:
                groups.append(([title], here))
    if len(groups) == 1:
        return [PanelArms("", tuple(groups[0][1]))]
    return [PanelArms(", ".join(titles), tuple(found)) for titles, found in groups]


def _inside(curve: Curve, domain: tuple[float, float] | None) -> bool:
    return domain is None or bool(domain[0] <= curve.values.min() and curve.values.max() <= domain[1])
