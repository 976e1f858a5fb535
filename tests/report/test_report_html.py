"""The page stands alone, says everything in text, and is well-formed."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from benchmark.report.html import table_html, to_html
from benchmark.report.results import CellSource, CellState, MissingSeed
from benchmark.report.tables import report_tables

VOID = {"meta", "link", "br", "hr", "img", "input"}
LOADS = {"script", "img", "iframe", "object", "embed", "base"}


class Page(HTMLParser):
    """Collects what the tests look at, and stops at a tag that is not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def count(self, tag, **attributes):
        return sum(t == tag and attributes.items() <= a.items() for t, a in self.tags)


@pytest.fixture(scope="module")
def text(quick_report):
    return to_html(quick_report)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_the_page_asks_for_nothing_outside_itself(page, text):
    assert not {tag for tag, _ in page.tags} & LOADS
    names = re.findall(r'[\w:]+(?==["\']https?:)', text)
    assert set(names) <= {"xmlns", "xmlns:xlink"}
    assert "@import" not in text
    assert set(re.findall(r"url\((.)", text)) <= {"#"}
    assert {attrs["href"] for tag, attrs in page.tags if tag == "link"} == {"data:,"}


def test_every_arm_is_a_row_of_a_real_table(page, quick_report):
    assert page.count("table") == page.count("caption")
    assert page.count("th", scope="row") >= 5 * len(quick_report.arms)
    assert page.count("th", scope="col") > 0
    assert (
        page.count("tr", **{"class": "reference"}) == 7
    )  # main, benchmarks, diagnostics, responses, costs, two figures
    said = "".join(page.texts)
    assert all(said.count(arm.arm) >= 5 for arm in quick_report.arms)


def test_ids_are_unique_and_references_lead_somewhere(page):
    assert len(page.ids) == len(set(page.ids))
    wanted = {
        attrs[name] for _, attrs in page.tags for name in ("aria-labelledby", "aria-describedby") if name in attrs
    }
    assert wanted <= set(page.ids)


def test_each_figure_says_in_words_and_numbers_what_it_draws(page):
    figures = page.count("figure")
    assert figures == 6  # labels against ID and OOD; panel, reward, pseudo-label accuracy, true pass rate
    assert page.count("svg", **{"aria-hidden": "true"}) == figures == page.count("details")
    said = " ".join(page.texts)
    assert re.search(r"grpo, 100% labels: \d\d\.\d% at step 1, \d\d\.\d% at step 60\.", said)


def test_the_page_says_what_limits_the_claims(page):
    said = " ".join(page.texts)
    assert "Planned seeds per trained arm: 1." in said
    assert "are provisional (†)" in said
    assert re.search(r"\d of 8 differences .* exclude[s]? 0; \d hold at 5% after Holm's correction", said)
    assert "Smallest true difference that would be found with 80% probability" in said
    assert "quick@1" in said
    assert "2026-01-02T03:04:05Z" in said


def test_reasons_are_text_and_escaped(text):
    assert "out of memory in step 12 &lt;3&gt;" in text
    assert "<3>" not in text


def test_equal_results_give_equal_bytes(quick_report, text):
    assert to_html(quick_report) == text


def test_a_suite_without_any_result_still_has_a_page(quick_report):
    arms = tuple(replace(arm, seeds={0: MissingSeed(CellState.PENDING, "not started")}) for arm in quick_report.arms)
    page = Page(to_html(replace(quick_report, arms=arms, data_date=None)))
    assert page.count("figure") == 0
    assert "".join(page.texts).count("no result yet") == 2


def test_a_page_in_a_folder_leads_from_each_arm_to_its_responses(quick_report, tmp_path):
    store = tmp_path / "store of mine"
    for name in ("generate/k1", "grade/k2"):
        (store / name).mkdir(parents=True)
    arm = quick_report.arms[1]
    source = CellSource("ab12" * 16, store / "generate/k1", store / "grade/k2")
    arm = replace(arm, seeds={0: replace(arm.finished[0], source=source)})
    folder = tmp_path / "reports" / "quick"
    page = Page(to_html(replace(quick_report, arms=(quick_report.arms[0], arm)), folder))
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert links == ["#cell-ab12ab12ab12", "../../store%20of%20mine/generate/k1/", "../../store%20of%20mine/grade/k2/"]
    assert (folder / unquote(links[1])).resolve() == store / "generate/k1"
    assert "cell-ab12ab12ab12" in page.ids


def test_one_table_is_a_fragment_of_its_own(quick_report):
    text = table_html(report_tables(quick_report)["costs"])
    page = Page(text)
    assert page.count("table") == page.count("caption", id="costs-table") == 1
    assert page.count("th", scope="row") == len(quick_report.arms)
    assert "<html" not in text
