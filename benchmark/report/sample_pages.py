"""A page per cell with some of its responses: what the numbers of the report rest on, to read in a browser.

Each page shows, by benchmark, the accuracy, the first wrong response to each of some questions and then the right
ones. Long texts are cut in the middle, as the answer stands at the end. Texts of restricted benchmarks are not on
any page, as `benchmark.report.samples` withholds them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import DataError
from benchmark.files import write_atomically
from benchmark.report.page import environment
from benchmark.report.results import ArmResult, CellSource, SeedResult, SuiteReport
from benchmark.report.samples import BenchmarkSample, ResponseFolders, sample_by_benchmark
from benchmark.stage import SHORT_ID

FOLDER = "samples"
"""Folder of the pages, beside the report."""
WRONG, RIGHT = 10, 5
_HEAD, _TAIL = 700, 300  # characters that are kept of a long text


@dataclass(frozen=True, slots=True)
class BenchmarkPart:
    """A benchmark on the page of a cell: its entry in the record, and the responses that are shown."""

    name: str
    entry: Mapping[str, Any]
    sample: BenchmarkSample


def page_name(source: CellSource) -> str:
    """Name the page of a cell, relative to the report."""
    return f"{FOLDER}/{source.cell[:SHORT_ID]}.html"


def write_sample_pages(folder: Path, report: SuiteReport) -> list[Path]:
    """Write the pages of all cells whose responses are in a store; pages of other cells are removed.

    A cell whose responses cannot be read has a page that says why, as its numbers stand without them.
    """
    pages = {
        page_name(source): _page(report, arm, number, source)
        for arm in report.arms
        for number, source in arm.sources.items()
        if source.benchmarks is not None
    }
    if pages:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for old in (folder / FOLDER).glob(f"{'[0-9a-f]' * SHORT_ID}.html"):
        if f"{FOLDER}/{old.name}" not in pages:
            old.unlink()
    for name, text in pages.items():
        write_atomically(folder / name, text)
    return [folder / name for name in pages]


def cut(text: str) -> str:
    """Shorten a long text in the middle with a mark, and write characters that have no glyph as escapes."""
    if len(text) > _HEAD + _TAIL:
        left_out = len(text) - _HEAD - _TAIL
        text = f"{text[:_HEAD]}\n[… {left_out:,} characters left out …]\n{text[-_TAIL:]}"
    return "".join(c if c.isprintable() or c in "\n\t" else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _page(report: SuiteReport, arm: ArmResult, number: int, source: CellSource) -> str:
    seed = arm.finished[number]
    try:
        parts, problem = _parts(seed, source), ""
    except (DataError, OSError, ValueError) as error:  # pyarrow's errors are of the last two
        parts, problem = (), f"The responses cannot be read: {error}"
    return (
        environment()
        .get_template("samples.html.j2")
        .render(
            report=report,
            arm=arm,
            seed=number,
            record=seed.record,
            short=source.cell[:SHORT_ID],
            others={other: page_name(it).removeprefix(f"{FOLDER}/") for other, it in arm.sources.items()},
            parts=parts,
            problem=problem,
            limits=(WRONG, RIGHT),
            cut=cut,
        )
    )


def _parts(seed: SeedResult, source: CellSource) -> tuple[BenchmarkPart, ...]:
    assert source.benchmarks is not None
    folders = ResponseFolders(source.benchmarks, source.samples, source.verdicts)
    found = sample_by_benchmark(folders, wrong=WRONG, right=RIGHT)
    entries = seed.record["benchmarks"]
    return tuple(BenchmarkPart(name, entries.get(name, {}), sample) for name, sample in found.items())
