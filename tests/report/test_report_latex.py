"""LaTeX that fits the page: the text of one small table by hand, and what pdfLaTeX says of large ones."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from test_report_render_golden import TABLE

from benchmark.report.latex import latex_escaped, latex_page, to_latex
from benchmark.report.latex_layout import PRINTED, heading_lines, layout, parts
from benchmark.report.results import CellState
from benchmark.report.table_model import Column, Note, Quantity, Row, Table, TableCell, missing
from benchmark.report.tables import report_tables

LATEX = r"""\begin{table}[tp]
\small
\setlength{\tabcolsep}{3pt}
\centering
\caption{100\% of labels \& none.}\label{tab:main}\par\smallskip
\begin{tabular}{@{}lrrrl@{}}
\toprule
Arm & Labels & ID & $\Delta$ ID & State \\
\midrule
grpo, 100\% labels (reference) & 1,536 & \stacked{62.5\\[-1pt] {\scriptsize $\pm$ 1.2}} & -- & done \\
my\_method (k=3) & 154 & \stacked{50.0 (2/3)\\[-1pt] {\scriptsize $\pm$ 2.0}} & \stacked{\textbf{$-$12.5}*\textsuperscript{\dag}\\[-1pt] {\scriptsize [$-$15.0, $-$10.0]}\\[-1pt] {\scriptsize q [$-$14.0, $-$11.0]}} & partial 2/3 \\
\bottomrule
\end{tabular}
{\scriptsize\raggedright
\par\smallskip\noindent * p \textless{} 5\% after Holm.
\par\smallskip\noindent \textsuperscript{\dag} fewer than 5 seeds.
\par}
\end{table}
"""  # noqa: E501
LONG_LABEL = "nl_olr_v2 (delta=0.02, start_epoch=3), 100% labels, 50% active redraw noise, pool 1536"


def compiled(tmp_path, *tables: Table) -> str:
    """Return what pdfLaTeX says of a page with these tables."""
    head = r"\documentclass[a4paper]{article}\usepackage{booktabs,longtable}\begin{document}"
    (tmp_path / "page.tex").write_text(head + "\n" + latex_page(tables) + r"\end{document}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    for _ in range(2):  # the columns of a longtable settle in the second run
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stdout[-1000:]
    return result.stdout


def too_wide(said: str) -> list[float]:
    return [width for text in re.findall(r"Overfull \\hbox \(([\d.]+)pt", said) if (width := float(text)) > 10]


def wide_table(rows: int, columns: int) -> Table:
    keys = [f"delta_{i}" for i in range(columns)]
    cell = TableCell(-0.385, low=-0.434, high=-0.335, question_low=-0.41, question_high=-0.36, provisional=True)
    absent = missing(CellState.PENDING, "not started")
    own = {"reason": TableCell("worker died: " + "out of memory, killed by signal 9; " * 3)}
    made = tuple(Row(f"{LONG_LABEL} {i}", own | dict.fromkeys(keys, absent if i % 2 else cell)) for i in range(rows))
    found = (*(Column(key, f"Δ column {key[6:]}", Quantity.DIFFERENCE) for key in keys),)
    return Table("Wide", "wide", "Arm", (*found, Column("reason", "Reason", Quantity.TEXT)), made, ("q: questions.",))


def test_latex_is_as_written_by_hand():
    columns = tuple(column for column in TABLE.columns if column.key != "gap")
    assert to_latex(replace(TABLE, columns=columns)) == LATEX


def test_a_page_names_the_packages_that_it_needs_in_its_first_line():
    assert latex_page([TABLE]).splitlines()[0] == r"% Needs in the preamble: \usepackage{booktabs,longtable}"


def test_the_main_table_is_divided_into_what_papers_print_and_the_rest(three_seed_report):
    main = report_tables(three_seed_report)["main"]
    first, *others = parts(main)
    assert tuple(column.key for column in first.columns) == PRINTED
    assert [c.key for part in others for c in part.columns] == [c.key for c in main.columns if c.key not in PRINTED]
    text = to_latex(main)
    assert [r"\label{tab:main}" in text, r"\label{tab:main-2}" in text] == [True, True]


def test_every_value_of_a_table_that_is_divided_is_in_one_of_its_parts():
    table = wide_table(rows=4, columns=9)
    shown = [column.key for part in parts(table) for column in part.columns]
    assert len(parts(table)) > 1
    assert shown == [column.key for column in table.columns]


def test_a_note_stands_below_the_columns_that_it_is_about():
    notes = ("of all", Note("of the gap", ("delta_8",)))
    first, *others = parts(replace(wide_table(rows=4, columns=9), notes=notes))
    assert first.notes == ("of all",)
    assert [part.notes for part in others if any(c.key == "delta_8" for c in part.columns)] == [("of the gap",)]


def test_a_table_that_is_longer_than_a_page_goes_over_pages_and_repeats_its_head():
    table = wide_table(rows=60, columns=2)
    assert layout(table, parts(table)[0]).long
    text = to_latex(table)
    assert r"\begin{longtable}" in text
    assert text.count(r"\shortstack[r]{$\Delta$ column\\0}") == 2 == text.count(r"\toprule")
    assert r"\begin{longtable}" not in to_latex(wide_table(rows=4, columns=2))


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Graders differ", ("Graders", "differ")), ("Δ ID", ("Δ ID",)), ("Peak memory", ("Peak", "memory"))],
)
def test_a_title_of_several_words_does_not_widen_its_column(title, expected):
    assert heading_lines(title) == expected


def test_every_character_that_latex_reads_as_a_command_is_escaped():
    assert latex_escaped("a\\b{c}_d^e~f#g$h&i%j") == (
        r"a\textbackslash{}b\{c\}\_d\textasciicircum{}e\textasciitilde{}f\#g\$h\&i\%j"
    )
    assert latex_escaped("two\nlines") == "two lines"


def test_a_row_that_opens_with_a_bracket_is_not_read_as_an_argument():
    column = Column("x", "X", Quantity.TEXT)
    table = Table("t", "t", "Arm", (column,), (Row("a", {"x": TableCell("1")}), Row("[b]", {"x": TableCell("2")})))
    assert r"{}[b] & 2 \\" in to_latex(table)


needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


@needs_latex
def test_nothing_of_a_report_is_wider_or_higher_than_a_page(three_seed_report, tmp_path):
    tables = [table for table in report_tables(three_seed_report).values() if table.rows and table.columns]
    said = compiled(tmp_path, *tables)
    assert too_wide(said) == []
    assert "Float too large" not in said


@needs_latex
@pytest.mark.parametrize(("rows", "columns"), [(5, 0), (5, 3), (22, 5), (60, 9)])
def test_long_labels_many_rows_and_many_columns_fit_the_page(tmp_path, rows, columns):
    said = compiled(tmp_path, wide_table(rows, columns), TABLE)
    assert too_wide(said) == []
    assert "Float too large" not in said
