"""Look at the responses of one cell: which cell is meant, and how its responses are printed.

A cell is named by the beginning of its id, as `venus plan` prints it. Ids come from suites, so the suites of the
project are searched; the key of a record in the store is taken as well, for cells that belong to no suite.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmark import artifacts
from benchmark.errors import UserError
from benchmark.evaluation.grader import Verdict
from benchmark.report.samples import JudgedResponse, ResponseFolders, read_responses
from benchmark.runs.session import open_session
from benchmark.runs.store import Store, read_manifest
from benchmark.stage import SHORT_ID, StageKind
from benchmark.suite.file import suite_names

SHORTEST = 4  # characters that may name a cell
_INPUTS = {StageKind.BENCHMARKS: "benchmarks", StageKind.GENERATE: "samples", StageKind.GRADE: "verdicts"}


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell with a record in the store."""

    id: str  # of the cell; the key of the record where no suite has the cell
    label: str
    record: str  # key
    suites: tuple[str, ...] = ()  # that have the cell, the smallest first
    settings: tuple[str, ...] = ()  # options and overrides with which they have it


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """What of a cell is asked for; `limit` 0 means all, and several benchmarks share it."""

    wrong: bool = False
    benchmark: str | None = None
    limit: int = 20
    text: bool = False  # of restricted benchmarks as well


def find_cell(
    store: Store, prefix: str, suite: str | None = None, profile: str | None = None, overrides: Sequence[str] = ()
) -> ShownCell:
    """Find the one cell whose id begins with `prefix`; without `suite`, all suites of the project are searched.

    Raises UserError where the beginning is too short, names no cell or several, or names one without a result. A suite
    that cannot be planned with these settings is passed over, unless it is the only one.
    """
    wanted = prefix.strip().lower()
    if len(wanted) < SHORTEST:
        raise UserError(f"cell {prefix!r}: found {len(wanted)} characters, allowed {SHORTEST} or more of its id")
    found: dict[str, ShownCell] = {}
    problems: list[UserError] = []
    names = [suite] if suite else list(suite_names())
    settings = (*(("--profile", profile) if profile else ()), *overrides)
    plans: dict[str, list[ShownCell]] = {}
    for name in names:
        try:
            plans[name] = _cells_of(name, profile, overrides, store)
        except UserError as problem:
            problems.append(problem)
    for name in sorted(plans, key=lambda name: len(plans[name])):
        for cell in plans[name]:
            if cell.id.startswith(wanted):
                before = found.get(cell.record)
                suites = (*(before.suites if before else ()), name)
                found[cell.record] = replace(cell, suites=suites, settings=settings)
    if len(problems) == len(names):
        raise problems[0]
    for key in _recorded(store):
        if key.startswith(wanted):
            found.setdefault(key, ShownCell(key, f"record {key[:SHORT_ID]}", key))
    return _only(list(found.values()), prefix, suite, store)


def show_data(store: Store, cell: ShownCell, request: ShowRequest) -> dict[str, Any]:
    """Describe a cell and the responses that were asked for.

    Raises UserError where the responses are no longer in the store.
    """
    if request.limit < 0:
        raise UserError(f"--limit: found {request.limit}, allowed 0 (all) or more")
    folders = _folders(store, cell)
    total, matching = _counts(folders, request)
    shares: list[tuple[str | None, int | None]] = [(request.benchmark, request.limit or None)]
    if request.benchmark is None and request.limit:
        shares = list(spread(request.limit, matching).items())
    found = [
        read_responses(folders, benchmark=name, wrong=request.wrong, limit=share, restricted=request.text).responses
        for name, share in shares
    ]
    responses = [response for part in found for response in part]
    shown = Counter(response.benchmark for response in responses)
    return {
        "cell": cell.id,
        "label": cell.label,
        "suites": list(cell.suites),
        "record": cell.record,
        "samples": str(folders.samples),
        "verdicts": str(folders.verdicts),
        "wrong_only": request.wrong,
        "total": total,
        "matching": sum(matching.values()),
        "benchmarks": {name: {"shown": shown[name], "matching": number} for name, number in matching.items()},
        "responses": [asdict(response) for response in responses],
    }


def spread(limit: int, available: Mapping[str, int]) -> dict[str, int]:
    """Share a limit between benchmarks as evenly as what each of them has allows; those that get none are left out."""
    shares = dict.fromkeys(available, 0)
    names = list(available)
    # The smallest first, and of equal ones the last: what is left over goes to the first ones.
    for place, name in enumerate(sorted(names, key=lambda name: (available[name], -names.index(name)))):
        shares[name] = min(available[name], limit // (len(names) - place))
        limit -= shares[name]
    return {name: share for name, share in shares.items() if share}


def show_text(data: dict[str, Any]) -> str:
    """Write responses for people: each question once, its responses below."""
    suites = f"  (in {', '.join(data['suites'])})" if data["suites"] else ""
    lines = [f"{data['cell'][:SHORT_ID]}  {data['label']}{suites}"]
    previous: tuple[str, str] | None = None
    for entry in data["responses"]:
        response = JudgedResponse(**entry)
        if (response.benchmark, response.item_id) != previous:
            previous = response.benchmark, response.item_id
            lines += ["", *_question(response)]
        lines += _response(response)
    what = "responses that are not correct" if data["wrong_only"] else "responses"
    counts = f"shown: {len(data['responses']):,} of {data['matching']:,} {what}, of {data['total']:,} in all"
    more = "; --limit 0 shows all" if len(data["responses"]) < data["matching"] else ""
    if any(entry["withheld"] for entry in data["responses"]):
        more += "; --show-text prints the texts of restricted benchmarks, which must not be published"
    lines += ["", counts + more]
    if len(data["benchmarks"]) > 1:
        parts = (f"{name} {entry['shown']:,} of {entry['matching']:,}" for name, entry in data["benchmarks"].items())
        lines.append(f"by benchmark: {', '.join(parts)}; --benchmark NAME shows one of them")
    return "\n".join([*lines, f"samples: {data['samples']}", f"verdicts: {data['verdicts']}"])


def _counts(folders: ResponseFolders, request: ShowRequest) -> tuple[int, dict[str, int]]:
    """Count all responses, and by benchmark, in the order of the evaluation, those that are asked for."""
    import pyarrow.parquet as pq

    names = pq.read_table(folders.benchmarks / artifacts.BENCHMARKS, columns=["benchmark"])["benchmark"].to_pylist()
    verdicts = pq.read_table(folders.verdicts / artifacts.VERDICTS, columns=["benchmark", "verdict"])
    found = Counter(
        row["benchmark"]
        for row in verdicts.to_pylist()
        if not (request.wrong and row["verdict"] == Verdict.CORRECT.value)
    )
    asked = [name for name in dict.fromkeys(names) if request.benchmark in (None, name)]
    return verdicts.num_rows, {name: found[name] for name in asked}


def _cells_of(suite: str, profile: str | None, overrides: Sequence[str], store: Store) -> list[ShownCell]:
    session = open_session(suite, profile, overrides, str(store.root))
    return [
        ShownCell(cell.id, f"{cell.label}, seed {cell.spec.seed}", cell.stages[StageKind.RECORD])
        for cell in session.plan.cells
    ]


def _recorded(store: Store) -> list[str]:
    folder = store.root / StageKind.RECORD.value
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _only(found: list[ShownCell], prefix: str, suite: str | None, store: Store) -> ShownCell:
    """Return the one cell that was found and has a result."""
    done = [cell for cell in found if store.has(StageKind.RECORD, cell.record)]
    if len(done) == 1:
        return done[0]
    if done:
        named = ", ".join(f"{cell.id[:SHORT_ID]} ({cell.label})" for cell in done[:4])
        raise UserError(f"cell {prefix!r}: found {len(done)} that begin so, {named}; fix: give more characters")
    if found:
        cell = found[0]
        there = store.path(StageKind.RECORD, cell.record).exists()
        state = "a damaged result" if there else "no result"
        raise UserError(f"cell {prefix!r} ({cell.label}) has {state} in {store.root}; fix: {_run(cell)}")
    place = f"suite {suite}" if suite else f"suites {', '.join(suite_names())}"
    raise UserError(
        f"no cell begins with {prefix!r} in {place} or in {store.root}; "
        "fix: `venus plan SUITE` lists ids; name --suite, --profile and overrides of the run"
    )


def _run(cell: ShownCell) -> str:
    """Write the command that makes the result of a cell, by the smallest suite that has it."""
    return " ".join(["venus run", *cell.suites[:1], *cell.settings]) if cell.suites else "run its suite again"


def _folders(store: Store, cell: ShownCell) -> ResponseFolders:
    """Open the artifacts that the record of a cell was made from, as its manifest names them."""
    inputs = read_manifest(store.path(StageKind.RECORD, cell.record))["inputs"]
    absent = [name for kind, name in _INPUTS.items() if not store.has(kind, inputs[name])]
    if absent:
        later = {StageKind.RECORD: cell.record, StageKind.GRADE: inputs[_INPUTS[StageKind.GRADE]]}
        folders = " and ".join(str(store.path(kind, key)) for kind, key in later.items() if store.has(kind, key))
        raise UserError(
            f"cell {cell.id[:SHORT_ID]}: its {', '.join(absent)} are no longer in {store.root}; "
            f"fix: remove {folders}, which were made from them, and {_run(cell)}"
        )
    return ResponseFolders(*(store.open(kind, inputs[name]) for kind, name in _INPUTS.items()))


def _question(response: JudgedResponse) -> list[str]:
    head = f"{response.benchmark} {response.item_id}"
    if response.withheld:
        return [f"{head}  (restricted: text withheld)"]
    options = [f"    {chr(ord('A') + i)}) {_printable(text)}" for i, text in enumerate(response.choices or ())]
    return [head, *_block("question", response.question or ""), *options, *_block("gold", response.gold or "")]


def _response(response: JudgedResponse) -> list[str]:
    head = f"  sample {response.sample}: {response.verdict}"
    if response.withheld:
        return [head]
    stated = "no answer stated" if response.extracted is None else f"stated {_printable(response.extracted)}"
    length = f"{response.response_tokens} tokens, {response.finish_reason}"
    second = "" if response.second in (None, response.verdict) else f"; second grader: {response.second}"
    judged = f"graded by {response.method}{second}"
    return [f"{head}, {stated} ({judged}; {length})", *_block("", response.response or "")]


def _block(title: str, text: str) -> list[str]:
    """Indent a text below its title; a short one stands beside it."""
    lines = _printable(text).split("\n")
    if title and len(lines) == 1:
        return [f"  {title}: {lines[0]}"]
    return [*([f"  {title}:"] if title else []), *(f"    | {line}".rstrip() for line in lines)]


def _printable(text: str) -> str:
    """Replace what a terminal would obey instead of print."""
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)
