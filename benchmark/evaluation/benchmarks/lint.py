"""Repair and inspection of benchmark items: pure functions from raw items to items and findings."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmark.data.content import normalise_question
from benchmark.evaluation.benchmarks.defects import Defect, Finding
from benchmark.evaluation.benchmarks.items import Item, item_id
from benchmark.evaluation.benchmarks.options import letter

_FLOAT = re.compile(r"-?\d+\.0+")
_DEGREES = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:\^\s*\{?\s*\\circ\s*\}?|\\degree|°)")
_PLACEHOLDER = re.compile(r"__\w+__")
_DOLLAR = re.compile(r"(?<!\\)\$")
_INTEGER = re.compile(r"-?\d+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # a tab or a line break is none in a question
_RESIDUE = re.compile("[\x80-\x9f\ufeff]")
_SEPARATOR = re.compile("[\u2028\u2029]")
_DIGITS = "123456789"


@dataclass(frozen=True, slots=True)
class RawItem:
    """What a source says about an item, before repairs."""

    source_id: str
    question: str
    gold: str
    choices: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None  # what the source calls the options; null: A, B, ...
    gold_index: int | None = None  # a second statement of the right option, 0-based
    tolerance: str | None = None
    stored_prompt: str = ""  # from which the question is cut out, where it has no column of its own


def repair(raw: RawItem, integers: bool) -> tuple[Item, list[Finding]]:
    """Take the one right reading of golds and labels that are written oddly.

    `integers` says that every gold of the benchmark is a whole number; elsewhere 2.0 and a degree sign may be meant.
    """
    findings = []
    gold = raw.gold.strip()
    if gold != raw.gold:
        findings.append(Finding(Defect.GOLD_BLANKS, raw.source_id))
    if raw.choices is None and integers:
        if _FLOAT.fullmatch(gold):
            findings.append(Finding(Defect.FLOAT_GOLD, raw.source_id))
            gold = gold.partition(".")[0]
        if degrees := _DEGREES.fullmatch(gold):
            findings.append(Finding(Defect.DEGREE_GOLD, raw.source_id))
            gold = degrees[1]
    if raw.choices and raw.labels and all(label in _DIGITS for label in raw.labels):
        findings.append(Finding(Defect.DIGIT_LABELS, raw.source_id, f"{len(raw.labels)} options"))
        gold = letter(raw.labels.index(gold)) if gold in raw.labels else gold
    return Item(raw.source_id, raw.question, gold, raw.choices, raw.tolerance), findings


def inspect(item: Item, integers: bool, usual_options: int) -> list[Finding]:
    """Find what is wrong with one item; `usual_options` is the number that most items of the benchmark have."""
    text = "\n".join([item.question, item.gold, *(item.choices or ())])
    found = [
        (Defect.EMPTY_QUESTION, "" if not item.question.strip() else None),
        (Defect.EMPTY_GOLD, "" if not item.gold else None),
        (Defect.PLACEHOLDER_GOLD, "" if _PLACEHOLDER.fullmatch(item.gold) else None),
        (Defect.CONTROL_CHARACTER, _code_points(text, _CONTROL)),
        (Defect.ENCODING_RESIDUE, _code_points(text, _RESIDUE)),
        (Defect.LINE_SEPARATOR, _code_points(text, _SEPARATOR)),
    ]
    if item.choices is None:
        found += [
            (Defect.STRAY_DOLLAR, "" if _has_stray_dollar(item.gold) else None),
            (Defect.GOLD_NOT_AN_INTEGER, "" if integers and item.gold and not _INTEGER.fullmatch(item.gold) else None),
            (Defect.GOLD_FULL_STOP, "" if item.gold.endswith(".") else None),
        ]
    else:
        found += _inspect_options(item, item.choices, usual_options)
    return [Finding(defect, item.source_id, detail) for defect, detail in found if detail is not None]


def inspect_raw(raw: RawItem) -> list[Finding]:
    """Find a line separator that is cut off with the stored prompt, and whether labels disagree or are missing."""
    found = []
    read = "\n".join([raw.question, raw.gold, *(raw.choices or ())])
    if (points := _code_points(raw.stored_prompt, _SEPARATOR)) and _code_points(read, _SEPARATOR) != points:
        found.append(Finding(Defect.LINE_SEPARATOR, raw.source_id, f"{points}, cut off with the stored prompt"))
    if raw.choices is None:
        return found
    names = raw.labels or tuple(letter(position) for position in range(min(len(raw.choices), 26)))
    if raw.gold_index is not None and (
        raw.gold.strip() not in names or names.index(raw.gold.strip()) != raw.gold_index
    ):
        found.append(Finding(Defect.LETTER_INDEX_DISAGREE, raw.source_id, f"{raw.gold} and {raw.gold_index}"))
    if raw.labels and len(raw.labels) != len(raw.choices):
        found.append(Finding(Defect.OPTION_COUNT, raw.source_id, f"{len(raw.choices)} with {len(raw.labels)} labels"))
    return found


def _inspect_options(item: Item, choices: Sequence[str], usual: int) -> list[tuple[Defect, str | None]]:
    texts = [normalise_question(choice) for choice in choices]
    names = {letter(position) for position in range(min(len(choices), 26))}
    return [
        (Defect.EMPTY_OPTION, "" if not all(texts) else None),
        (Defect.REPEATED_OPTION, "" if len(set(texts)) < len(texts) else None),
        (Defect.GOLD_NOT_AN_OPTION, "" if item.gold not in names or len(choices) < 2 else None),
        (Defect.OPTION_COUNT, f"{len(choices)}" if len(choices) != usual else None),
    ]


def distinct(benchmark: str, items: Sequence[Item]) -> tuple[list[Item], list[Finding]]:
    """Find repeated items and indices; collapse rows only where all of them are repeated equally often.

    avg@k is a number of samples here, never a number of rows. An item that the published file repeats now and then
    stays, as occurrence 2, 3, ...
    """
    groups: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item_id(benchmark, item.question, item.choices or ())].append(item)
    times = {len(group) for group in groups.values()}
    findings = [
        Finding(Defect.CONFLICTING_ITEM, group[0].source_id, f"{len(group)} rows")
        for group in groups.values()
        if len({_right_answer(item) for item in group}) > 1
    ]
    if len(times) == 1 and times != {1} and not findings:
        kept = [group[0] for group in groups.values()]
        findings.append(Finding(Defect.ROWS_REPEATED, "*", f"each {times.pop()} times"))
    else:
        kept = [replace(item, occurrence=n) for group in groups.values() for n, item in enumerate(group, start=1)]
        findings += [Finding(Defect.REPEATED_ITEM, item.source_id) for item in kept if item.occurrence > 1]
    counts = Counter(item.source_id for item in kept)
    findings += [Finding(Defect.DUPLICATE_INDEX, name, f"{n} items") for name, n in counts.items() if n > 1]
    return kept, findings


def _right_answer(item: Item) -> str:
    """Return what is right whatever the order of the options."""
    position = ord(item.gold) - ord("A") if item.choices and len(item.gold) == 1 else -1
    return item.choices[position] if item.choices and 0 <= position < len(item.choices) else item.gold


def has_control_character(text: str) -> bool:
    """Say whether a text holds a control character, such as the form feed that was the \\f of \\frac."""
    return _CONTROL.search(text) is not None


def _code_points(text: str, wanted: re.Pattern[str]) -> str | None:
    return " ".join(f"U+{ord(character):04X}" for character in sorted(set(wanted.findall(text)))) or None


def _has_stray_dollar(gold: str) -> bool:
    """Say whether dollars do not come in pairs, or a pair encloses nothing."""
    parts = _DOLLAR.split(gold)
    return len(parts) % 2 == 0 or any(not part.strip() for part in parts[1::2])
