"""What a reader must know to read the main table honestly; the notes are part of every form of the table."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from benchmark.report.comparison import DELTAS, Family, delta_note
from benchmark.report.items import GROUP_SIZES, GROUPS
from benchmark.report.power import POWER, minimal_detectable_differences
from benchmark.report.render import number_text
from benchmark.report.results import ArmResult, CellState
from benchmark.report.table_model import GROUP_TITLES, Note, Quantity, Row, count_text

_DELTAS = tuple(DELTAS.values())
_GAPS = tuple(f"gap_{group}" for group in GROUPS)
_INTERVALS = _DELTAS + _GAPS


def suite_notes(
    rows: Sequence[Row],
    arms: Sequence[ArmResult],
    family: Family,
    reference: str,
    floor: ArmResult | None,
) -> tuple[str, ...]:
    """Explain marks and intervals, what the table can resolve, and what its numbers rest on."""
    cells = [row.cells[key] for row in rows for key in _DELTAS]
    entries = _entries(arms)
    notes = [
        f"Accuracies in points ({average_title(entries.values())}); {delta_note(repr(reference), family)}",
        Note(
            "±: standard error of an accuracy, clustered by question, for the seeds at hand; how much seeds differ is "
            "in the intervals of Δ.",
            GROUPS,
            "error",
        ),
        *_measured(entries, arms),
        *_resolved(arms, family),
        *_averaged(entries),
    ]
    if floor is not None:
        ends = f"from {floor.arm!r} to {reference!r}"
        notes.append(
            Note(f"Gap: share of the way {ends}; – at both ends and where the two cannot be told apart.", _GAPS)
        )
    if any(cell.provisional for cell in cells):
        provisional = (
            "† provisional: fewer than 5 seeds. With 1 seed the interval covers the choice of questions only, not "
            "that of the training run; with 2 to 4 it is a t interval over seeds and questions."
        )
        notes.append(Note(provisional, _INTERVALS))
        notes.append(Note("q: the interval over questions alone.", _DELTAS, "questions"))
    if family.tested < len(family.differences):
        notes.append("A difference on 1 of several planned seeds is not tested: it has no star and is never bold.")
    if any(row.cells["state"].state is not CellState.DONE for row in rows):
        notes.append("A value with k/n rests on k of n planned seeds; without a result the state stands instead.")
    return (*notes, *_flagged(arms))


def average_title(entries: Iterable[Mapping[str, Any]], name: str = "avg") -> str:
    """Write a figure over the n responses to a question, such as "avg@8"; "avg@n" where benchmarks differ in n."""
    counts = {int(entry["samples"]) for entry in entries}
    return f"{name}@{counts.pop()}" if len(counts) == 1 else f"{name}@n"


def _entries(arms: Sequence[ArmResult]) -> dict[str, Mapping[str, Any]]:
    """Return what the records say of each benchmark, from the first result that has it."""
    found: dict[str, Mapping[str, Any]] = {}
    for arm in arms:
        for seed in arm.finished.values():
            for name, entry in seed.record["benchmarks"].items():
                found.setdefault(name, entry)
    return found


def _measured(entries: Mapping[str, Mapping[str, Any]], arms: Sequence[ArmResult]) -> list[str]:
    """Say which questions and responses the averages are of, and over how many seeds."""
    said = []
    title = average_title(entries.values())
    for group in GROUPS:
        own = {name: entry for name, entry in entries.items() if entry["group"] == group}
        if own:
            named = own if title != "avg@n" else [f"{name} with n = {entry['samples']}" for name, entry in own.items()]
            questions = count_text(sum(int(entry["items"]) for entry in own.values()), "question")
            said.append(f"{GROUP_TITLES[group]} {questions} ({', '.join(named)})")
    parts = [f"{title}: over the responses to each question; {'; '.join(said)}."] if said else []
    planned = {len(arm.seeds) for arm in arms if arm.trained}
    if len(planned) == 1:
        parts.append(f"Planned for each trained arm: {count_text(planned.pop(), 'seed')}.")
    return [" ".join(parts)] if parts else []


def _averaged(entries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say which benchmarks an average is of, where they are not as many as behind published ones of that name."""
    said = []
    for group in GROUPS:
        names = [name for name, entry in entries.items() if entry["group"] == group]
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


def _resolved(arms: Sequence[ArmResult], family: Family) -> list[str]:
    """Say which true differences would be found; nothing without a comparison of trained arms."""
    trained = {arm.arm for arm in arms if arm.trained}
    by_group = {
        group: [
            difference for (label, own), difference in family.differences.items() if own == group and label in trained
        ]
        for group in GROUPS
    }

    def text(comparisons: int) -> str:
        found = {
            GROUP_TITLES[group]: minimal_detectable_differences(differences, comparisons=comparisons)
            for group, differences in by_group.items()
        }
        return ", ".join(f"{title} {_spread(values)}" for title, values in found.items() if values)

    used = [difference for differences in by_group.values() for difference in differences]
    if not used:
        return []
    adjusted = (
        f"; with the correction (first step of Holm's, that is Bonferroni's) {text(family.planned)}"
        if family.tested and family.planned > 1
        else ""
    )
    limit = (
        ""
        if any(one.seeds > 1 for one in used)
        else " This is about questions only, for these training runs; over seeds it is unknown."
    )
    return [
        f"Smallest true difference that would be found with {100 * POWER:g}% probability, in points, as range over the "
        f"arms: for one comparison {text(1)}{adjusted}.{limit}"
    ]


def _spread(values: Sequence[float]) -> str:
    """Write the range of ascending values and their median, in points."""
    low, high, middle = (number_text(value, Quantity.ACCURACY) for value in (values[0], values[-1], median(values)))
    return low if low == high else f"{low} to {high} (median {middle})"
