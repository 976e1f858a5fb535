"""What a reader must know to read the main table honestly; the notes are part of every form of the table."""

from collections.abc import Sequence

from benchmark.report.items import GROUP_SIZES, GROUPS
from benchmark.report.power import POWER, minimal_detectable_difference
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult, CellState
from benchmark.report.stats import Difference
from benchmark.report.table_model import GROUP_TITLES, SIGNIFICANCE, Quantity, Row

Comparisons = dict[tuple[str, str], Difference]
"""Differences to the reference, by arm and group of benchmarks."""


def suite_notes(
    rows: Sequence[Row],
    arms: Sequence[ArmResult],
    compared: Comparisons,
    reference: str,
    floor: ArmResult | None,
) -> tuple[str, ...]:
    """Explain marks and intervals, what the table can resolve, and what its numbers rest on."""
    star = (
        f", a star (*) where p < {100 * SIGNIFICANCE:g}% after Holm's correction for all {len(compared)} differences "
        "of this table"
    )
    notes = [
        f"Accuracies in points (avg@n); Δ is the paired difference to {reference!r} with its 95% interval: bold where "
        f"it excludes 0{star if compared else ''}."
    ]
    notes += [*_resolved(arms, compared), *_averaged(arms)]
    if floor is not None:
        notes.append(
            f"Gap: share of the way from {floor.arm!r} to {reference!r}; – where the two cannot be told apart."
        )
    if any(row.cells[f"delta_{group}"].provisional for row in rows for group in GROUPS):
        notes.append(
            "† provisional: fewer than 5 seeds. With 1 seed the interval covers the choice of questions only, not "
            "that of the training run; with 2 to 4 it is a t interval over seeds and questions, and q (where shown) "
            "the one over questions."
        )
    if any(row.cells["state"].state is not CellState.DONE for row in rows):
        notes.append("A value with k/n rests on k of n planned seeds; without a result the state stands instead.")
    return (*notes, *_flagged(arms))


def _averaged(arms: Sequence[ArmResult]) -> list[str]:
    """Say which benchmarks an average is of, where they are not as many as behind published ones of that name."""
    entries = {
        name: entry["group"]
        for arm in arms
        for seed in arm.finished.values()
        for name, entry in seed.record["benchmarks"].items()
    }
    said = []
    for group in GROUPS:
        names = [name for name, own in entries.items() if own == group]
        if names and len(names) != GROUP_SIZES[group]:
            title, few = GROUP_TITLES[group], "1 benchmark" if len(names) == 1 else f"{len(names)} benchmarks"
            said.append(
                f"{title} averages {few} ({', '.join(names)}); published {title} averages {GROUP_SIZES[group]}."
            )
    return said


def _flagged(arms: Sequence[ArmResult]) -> list[str]:
    """Pass on what records warn of, such as questions with fewer responses than planned."""
    flags = [
        f"{arm.arm}, seed {number}: {flag}"
        for arm in arms
        for number, seed in arm.finished.items()
        for flag in seed.record.get("flags", ())
    ]
    more = f" (and {len(flags) - 1} more flags in the records)" if len(flags) > 1 else ""
    return [f"Flagged: {flags[0]}{more}."] if flags else []


def _resolved(arms: Sequence[ArmResult], compared: Comparisons) -> list[str]:
    """Say which true differences the table would find; nothing without a comparison of trained arms."""
    trained = {arm.arm for arm in arms if arm.trained}
    by_group = {
        group: [difference for (label, own), difference in compared.items() if own == group and label in trained]
        for group in GROUPS
    }

    def text(comparisons: int) -> str:
        found = {
            GROUP_TITLES[group]: minimal_detectable_difference(differences, comparisons=comparisons)
            for group, differences in by_group.items()
        }
        return ", ".join(
            f"{title} {number_text(value, Quantity.ACCURACY)}" for title, value in found.items() if value is not None
        )

    if not any(by_group.values()):
        return []
    adjusted = f", {text(len(compared))} with the correction" if len(compared) > 1 else ""
    return [
        f"Smallest true difference that would be found with {100 * POWER:g}% probability, in points: "
        f"{text(1)} for one comparison{adjusted}."
    ]
