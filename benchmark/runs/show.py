"""Look at the responses of one cell: which cell is meant, and how its responses are printed.

A cell is named by the beginning of its id, as `venus plan` prints it. Ids come from suites, so the suites of the
project are searched; the key of a record in the store is taken as well, for cells that belong to no suite.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmark.errors import UserError
from benchmark.report.samples import JudgedResponse, ResponseFolders, read_responses
from benchmark.runs.session import open_session
from benchmark.runs.store import Store, read_manifest
from benchmark.stage import StageKind
from benchmark.suite.file import suite_names

SHORT = 12  # characters of an id that people are shown
SHORTEST = 4  # characters that may name a cell
_INPUTS = {StageKind.BENCHMARKS: "benchmarks", StageKind.GENERATE: "samples", StageKind.GRADE: "verdicts"}


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell with a record in the store."""

    id: str  # of the cell; the key of the record where no suite has the cell
    label: str
    record: str  # key
    suites: tuple[str, ...] = ()  # that have the cell


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """What of a cell is asked for; `limit` 0 means all."""

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
    for name in names:
        try:
            cells = _cells_of(name, profile, overrides)
        except UserError as problem:
            problems.append(problem)
            continue
        for cell in cells:
            if cell.id.startswith(wanted):
                before = found.get(cell.record)
                found[cell.record] = replace(cell, suites=(*(before.suites if before else ()), name))
    if len(problems) == len(names):
        raise problems[0]
    for key in _recorded(store):
        if key.startswith(wanted):
            found.setdefault(key, ShownCell(key, f"record {key[:SHORT]}", key))
    return _only(list(found.values()), prefix, suite, store)


def show_data(store: Store, cell: ShownCell, request: ShowRequest) -> dict[str, Any]:
    """Describe a cell and the responses that were asked for.

    Raises UserError where the responses are no longer in the store.
    """
    if request.limit < 0:
        raise UserError(f"--limit: found {request.limit}, allowed 0 (all) or more")
    folders = _folders(store, cell)
    found = read_responses(
        folders,
        benchmark=request.benchmark,
        wrong=request.wrong,
        limit=request.limit or None,
        restricted=request.text,
    )
    return {
        "cell": cell.id,
        "label": cell.label,
        "suites": list(cell.suites),
        "record": cell.record,
        "samples": str(folders.samples),
        "verdicts": str(folders.verdicts),
        "wrong_only": request.wrong,
        "total": found.total,
        "matching": found.matching,
        "responses": [asdict(response) for response in found.responses],
    }


def show_text(data: dict[str, Any]) -> str:
    """Write responses for people: each question once, its responses below."""
    suites = f"  (in {', '.join(data['suites'])})" if data["suites"] else ""
    lines = [f"{data['cell'][:SHORT]}  {data['label']}{suites}"]
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
    return "\n".join([*lines, "", counts + more, f"samples: {data['samples']}", f"verdicts: {data['verdicts']}"])


def _cells_of(suite: str, profile: str | None, overrides: Sequence[str]) -> list[ShownCell]:
    session = open_session(suite, profile, overrides, None)
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
        named = ", ".join(f"{cell.id[:SHORT]} ({cell.label})" for cell in done[:4])
        raise UserError(f"cell {prefix!r}: found {len(done)} that begin so, {named}; fix: give more characters")
    if found:
        cell = found[0]
        run = f"venus run {cell.suites[0]}" if cell.suites else "run it again"
        raise UserError(f"cell {prefix!r} ({cell.label}) has no result in {store.root}; fix: {run}")
    place = f"suite {suite}" if suite else f"suites {', '.join(suite_names())}"
    raise UserError(
        f"no cell begins with {prefix!r} in {place} or in {store.root}; "
        "fix: `venus plan SUITE` lists ids; name --suite, --profile and overrides of the run"
    )


def _folders(store: Store, cell: ShownCell) -> ResponseFolders:
    """Open the artifacts that the record of a cell was made from, as its manifest names them."""
    inputs = read_manifest(store.path(StageKind.RECORD, cell.record))["inputs"]
    absent = [name for kind, name in _INPUTS.items() if not store.has(kind, inputs[name])]
    if absent:
        raise UserError(f"cell {cell.id[:SHORT]}: its {', '.join(absent)} are no longer in {store.root}")
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
    return [f"{head}, {stated} ({response.method}{second}; {length})", *_block("", response.response or "")]


def _block(title: str, text: str) -> list[str]:
    """Indent a text below its title; a short one stands beside it."""
    lines = _printable(text).split("\n")
    if title and len(lines) == 1:
        return [f"  {title}: {lines[0]}"]
    return [*([f"  {title}:"] if title else []), *(f"    | {line}".rstrip() for line in lines)]


def _printable(text: str) -> str:
    """Replace what a terminal would obey instead of print."""
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)
