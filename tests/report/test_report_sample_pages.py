"""Pages of samples: what they show of a cell, what they withhold, and which of them there are."""

from dataclasses import replace

import pytest
from judged_cell import ITEMS, RESPONSES, SECRET, write_parts
from report_world import REFERENCE
from test_report_html import LOADS, Page

from benchmark.report.results import ArmResult, CellSource, SuiteReport
from benchmark.report.sample_pages import RIGHT, WRONG, cut, write_sample_pages
from benchmark.report.samples import ResponseFolders, sample_by_benchmark
from benchmark.report.write import write_report

CELL = "ab12" * 16


def with_sources(report: SuiteReport, *sources: CellSource) -> SuiteReport:
    """Keep the base model, and give a source to the reference for each of its seeds."""
    base, arm = report.arms[:2]
    seeds = {n: replace(arm.finished[0], source=source) for n, source in enumerate(sources)}
    return replace(report, arms=(base, ArmResult(arm.arm, arm.method, 1.0, "none", seeds)))


def source_of(root, cell=CELL, **parts) -> CellSource:
    folders = write_parts(root, **parts)
    return CellSource(cell, folders["samples"], folders["verdicts"], folders["benchmarks"])


@pytest.fixture
def report(quick_report, tmp_path):
    return with_sources(quick_report, source_of(tmp_path / "parts"))


def test_a_page_shows_question_gold_answer_verdict_method_and_response(report, tmp_path):
    (path,) = write_sample_pages(tmp_path, report)
    assert path == tmp_path / "samples" / "ab12ab12ab12.html"
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    said = " ".join(page.texts)
    assert f"{REFERENCE}, seed 0" in said
    for expected in (
        "3*4?",
        "12",
        "13",
        "wrong",
        "decided by text",
        "I do not know",
        "venus show ab12ab12ab12 --wrong",
    ):
        assert expected in said
    assert "line one\nso \\boxed{13}\\x1b[31m" in said
    assert "\x1b" not in text
    assert {"mul", "add", "gpqa_diamond"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert not {tag for tag, _ in page.tags} & LOADS


def test_texts_of_a_restricted_benchmark_are_on_no_page(report, tmp_path):
    (path,) = write_sample_pages(tmp_path, report)
    text = path.read_text(encoding="utf-8")
    assert SECRET not in text
    part = text.split('<section id="gpqa_diamond">')[1]
    assert "<code>g1</code>, sample 0" in part
    assert part.count("Texts of this benchmark are not shown in plain form.") == 2
    assert "Extracted" not in part


def test_texts_of_a_response_are_escaped(quick_report, tmp_path):
    evil = (("mul", "m1", 0, "<script>alert(1)</script>", "wrong", "<b>"), *RESPONSES[2:])
    report = with_sources(quick_report, source_of(tmp_path / "parts", responses=evil))
    text = write_sample_pages(tmp_path, report)[0].read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "<code>&lt;b&gt;</code>" in text


def test_a_long_text_is_cut_in_the_middle_with_a_mark():
    text = "a" * 5000 + "answer"
    assert len(cut(text)) < 1100
    assert cut(text).endswith("answer")
    assert "[… 4,006 characters left out …]" in cut(text)
    assert cut("short\u202e") == "short\\u202e"


def test_the_samples_are_of_different_questions_and_counted_in_full(tmp_path):
    items = tuple({**ITEMS[0], "item_id": f"m{i:02d}"} for i in range(20))
    responses = tuple(
        ("mul", item["item_id"], n, str(n), "correct" if n == 1 else "wrong", str(n))
        for item in items
        for n in range(3)
    )
    folders = ResponseFolders(**write_parts(tmp_path, items=items, responses=responses))
    (found,) = sample_by_benchmark(folders, wrong=WRONG, right=RIGHT).values()
    assert [(it.item_id, it.sample) for it in found.wrong] == [(f"m{i:02d}", 0) for i in range(WRONG)]
    assert [(it.item_id, it.sample) for it in found.right] == [(f"m{i:02d}", 1) for i in range(RIGHT)]
    assert found.verdicts == {"wrong": 40, "correct": 20}


def test_the_pages_of_an_arm_lead_to_each_other_and_to_the_report(quick_report, tmp_path):
    sources = source_of(tmp_path / "one"), source_of(tmp_path / "two", "cd34" * 16)
    first, second = write_sample_pages(tmp_path, with_sources(quick_report, *sources))
    links = {attrs["href"] for tag, attrs in Page(first.read_text(encoding="utf-8")).tags if tag == "a"}
    assert {"../report.html", second.name} <= links
    assert first.name not in links


def test_a_cell_that_cannot_be_read_has_a_page_that_says_why(quick_report, tmp_path):
    source = source_of(tmp_path / "parts")
    less = write_parts(tmp_path / "less", responses=RESPONSES[1:])["samples"]
    gone = CellSource("cd34" * 16, tmp_path / "gone", source.verdicts, source.benchmarks)
    pages = write_sample_pages(tmp_path, with_sources(quick_report, replace(source, samples=less), gone))
    assert "verdict of mul/m1/0 has no response" in pages[0].read_text(encoding="utf-8")
    assert "The responses cannot be read: " in pages[1].read_text(encoding="utf-8")


def test_pages_of_cells_that_are_no_longer_in_the_report_are_removed(report, quick_report, tmp_path):
    write_report(tmp_path / "report", report)
    own = tmp_path / "report" / "samples" / "mine.html"
    own.write_text("mine", encoding="utf-8")
    write_report(tmp_path / "report", with_sources(quick_report, source_of(tmp_path / "new", "cd34" * 16)))
    assert sorted(path.name for path in own.parent.iterdir()) == ["cd34cd34cd34.html", "mine.html"]


def test_every_link_of_a_report_to_a_page_leads_to_a_part_of_it(report, tmp_path):
    write_report(tmp_path / "report", report)
    page = Page((tmp_path / "report" / "report.html").read_text(encoding="utf-8"))
    links = {attrs["href"] for tag, attrs in page.tags if tag == "a" and attrs["href"].startswith("samples/")}
    assert links
    for link in links:
        assert (tmp_path / "report" / link.split("#")[0]).is_file()


def test_writing_again_gives_the_same_bytes(report, tmp_path):
    first = [path.read_bytes() for path in write_sample_pages(tmp_path, report)]
    assert [path.read_bytes() for path in write_sample_pages(tmp_path, report)] == first
