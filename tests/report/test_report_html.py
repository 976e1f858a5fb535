"""The page stands alone, says everything in text, and is well-formed."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from benchmark.report.html import table_html, to_html
from benchmark.report.results import CellSource, CellState, MissingSeed
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell
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
    assert page.count("details") == figures == page.count("div", **{"class": "panel"})
    assert page.count("svg") == page.count("svg", **{"aria-hidden": "true"})
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


def rules(text: str) -> list[tuple[str, str]]:
    """Return selector and declarations of the rules outside of media queries."""
    style = re.sub(r"/\*.*?\*/", "", text.split("<style>")[1].split("</style>", maxsplit=1)[0], flags=re.DOTALL)
    plain = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", style)
    return [(selector.strip(), body) for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", plain)]


def test_only_failed_cells_are_red(text):
    found = rules(text)
    assert [selector for selector, body in found if "var(--failed)" in body] == [".failed .state"]
    assert [selector for selector, body in found if "failed" in selector] == [".failed .state"]
    page = Page(text)
    assert page.count("td", **{"class": "failed number"}) > 0
    assert page.count("td", **{"class": "pending number"}) > 0


def test_each_selector_has_one_rule(text):
    selectors = [selector for selector, _ in rules(text)]
    assert len(selectors) == len(set(selectors))


def test_marks_stand_beside_the_value_and_intervals_below_it():
    column = Column("d", "Δ", Quantity.DIFFERENCE)
    cell = TableCell(-0.1, low=-0.2, high=-0.05, p_adjusted=0.01, provisional=True, seeds=1, planned=3)
    text = table_html(Table("t", "t", "Arm", (column,), (Row("a", {"d": cell}),)))
    roles = re.findall(r'<span class="(\w+)">([^<]*)', text.split("<tbody>")[1])
    assert roles == [("value", "−10.0"), ("mark", "*†"), ("seeds", "(1/3)"), ("interval", "[−20.0, −5.0]")]
    assert '</span><span class="mark">' in text  # no blank between them


def test_paper_has_fewer_columns_and_says_which_are_left_out(text):
    main = text.split('<caption id="main-table">')[1]
    assert '<th scope="col" class="number screen" title="nominal share' in main
    assert re.search(r'<p class="note paper">Not on paper: Label ratio, Gap ID, Gap OOD, Panel[^<]*\.</p>', main)
    style = text.split("<style>")[1].split("</style>")[0]
    assert re.search(r"@page \{[^}]*landscape", style)
    assert ".screen, th .seeds { display: none; }" in style.split("@media print")[1]


def test_tables_that_the_page_does_not_place_are_shown_all_the_same(quick_report, page):
    shown = {key for key, table in report_tables(quick_report).items() if table.rows and table.columns}
    assert {f"{key}-table" for key in shown} <= set(page.ids)


def test_values_lead_to_the_samples_behind_them(quick_report, tmp_path):
    parts = (tmp_path / "generate", tmp_path / "grade", tmp_path / "benchmarks")
    arm = quick_report.arms[1]
    arm = replace(arm, seeds={0: replace(arm.finished[0], source=CellSource("ab12" * 16, *parts))})
    page = Page(to_html(replace(quick_report, arms=(quick_report.arms[0], arm)), tmp_path / "report"))
    links = {attrs["href"] for tag, attrs in page.tags if tag == "a"}
    place = "samples/ab12ab12ab12.html"
    assert {place, f"{place}#id", f"{place}#ood", f"{place}#add", f"{place}#words"} <= links
    assert "venus show ab12ab12ab12 --wrong" in page.texts


def test_one_table_is_a_fragment_of_its_own(quick_report):
    text = table_html(report_tables(quick_report)["costs"])
    page = Page(text)
    assert page.count("table") == page.count("caption", id="costs-table") == 1
    assert page.count("th", scope="row") == len(quick_report.arms)
    assert "<html" not in text
