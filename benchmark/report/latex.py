r"""Tables as LaTeX in the style of booktabs, set for the text width of `article` on A4 at 10 points.

Texts are those of the other forms; signs that the default fonts lack become commands, so that pdfLaTeX sets the file
as well as LuaLaTeX does. Errors and intervals stand below their value in small type. The main table is printed as
papers print it, with its other columns in a table of their own; so are the columns of any table that is too wide. A
table that is longer than a page is a `longtable`, any other a float. What decides on widths is in `latex_layout`.
"""

from collections.abc import Iterable

from benchmark.report.latex_layout import Layout, Part, first_line, heading_lines, layout, lines_below, parts
from benchmark.report.render import NUMBERS, row_label
from benchmark.report.table_model import Column, Row, Table, TableCell

PREAMBLE = r"""% Needs in the preamble: \usepackage{booktabs,longtable}
\providecommand{\stacked}[1]{\begin{tabular}[t]{@{}r@{}}#1\end{tabular}}
"""
_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "−": "$-$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "Δ": r"$\Delta$",
    "†": r"\textsuperscript{\dag}",
    "‡": r"\textsuperscript{\ddag}",
    "–": "--",
    "…": r"\dots{}",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "·": r"$\cdot$",
    "\N{NO-BREAK SPACE}": "~",
}


def latex_page(tables: Iterable[Table]) -> str:
    """Write tables one below the other, after a comment that names the packages and the one command they need."""
    return "\n".join([PREAMBLE, *map(to_latex, tables)])


def to_latex(table: Table) -> str:
    r"""Write the table, in parts where it is too wide, with the labels `tab:KEY`, `tab:KEY-2`, one row per line."""
    return "\n".join(_part(table, part, layout(table, part)) for part in parts(table))


def _part(table: Table, part: Part, shape: Layout) -> str:
    columns = part.columns
    title = _sentence(table.title) if part.number == 1 else f"{table.title}: further columns."
    label = f"tab:{table.key}" if part.number == 1 else f"tab:{table.key}-{part.number}"
    caption = rf"\caption{{{latex_escaped(title)}}}\label{{{label}}}"
    head = _line([_heading(table.row_title, False), *(_heading(c.title, c.quantity in NUMBERS) for c in columns)])
    body = [
        _line([_wrapped(latex_escaped(row_label(row)), shape.label), *_texts(row, columns, shape)])
        for row in table.rows
    ]
    spec = "@{}" + _spec(shape.label, "l") + "".join(_spec(shape.texts.get(c.key), _side(c)) for c in columns) + "@{}"
    notes = [rf"\par\smallskip\noindent {latex_escaped(note)}" for note in part.notes]
    below = [r"{\scriptsize\raggedright", *notes, r"\par}"] if notes else []
    if not shape.long:
        rows = [r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
        inner = [
            r"\centering",
            caption + r"\par\smallskip",
            rf"\begin{{tabular}}{{{spec}}}",
            *rows,
            r"\end{tabular}",
            *below,
        ]
        lines = [r"\begin{table}[tp]", shape.size, rf"\setlength{{\tabcolsep}}{{{shape.separation}pt}}", *inner]
        return "\n".join([*lines, r"\end{table}", ""])
    again = rf"\multicolumn{{{len(columns) + 1}}}{{@{{}}l}}{{\emph{{(continued)}}}} \\"
    lines = [
        rf"{{{shape.size}\setlength{{\tabcolsep}}{{{shape.separation}pt}}\setlength{{\LTcapwidth}}{{\linewidth}}",
        rf"\begin{{longtable}}{{{spec}}}",
        caption + r" \\",
        *(r"\toprule", head, r"\midrule", r"\endfirsthead"),
        *(again, r"\toprule", head, r"\midrule", r"\endhead"),
        *(r"\bottomrule", r"\endfoot"),
        *body,
        *(r"\end{longtable}", *below, "}", ""),
    ]
    return "\n".join(lines)


def latex_escaped(text: str) -> str:
    """Escape text for LaTeX, on one line; characters without an entry are left to the engine."""
    return "".join(_COMMANDS.get(character, character) for character in " ".join(text.split()))


def _side(column: Column) -> str:
    return "r" if column.quantity in NUMBERS else "l"


def _spec(width: int | None, otherwise: str) -> str:
    return otherwise if width is None else f"p{{{width}pt}}"


def _heading(title: str, right: bool) -> str:
    """Write a title with one word per line, so that it does not widen its column."""
    words = [latex_escaped(word) for word in heading_lines(title)]
    stack = r"\\".join(words)
    return words[0] if len(words) == 1 else rf"\shortstack[{'r' if right else 'l'}]{{{stack}}}"


def _wrapped(text: str, width: int | None) -> str:
    """Set a text in lines of its column, ragged, the second and later ones indented."""
    return text if width is None else rf"\raggedright\hangindent=1em {text}"


def _texts(row: Row, columns: tuple[Column, ...], shape: Layout) -> list[str]:
    return [_wrapped(_cell(row.cells[column.key], column), shape.texts.get(column.key)) for column in columns]


def _cell(cell: TableCell, column: Column) -> str:
    """Write the lines of a cell: the value, bold where it is strong, with its marks; then error and intervals."""
    first = ""
    for role, part in first_line(cell, column):
        escaped = latex_escaped(part)
        if role == "value" and cell.strong:
            escaped = rf"\textbf{{{escaped}}}"
        first += escaped if role == "mark" or not first else f" {escaped}"
    below = [rf"{{\scriptsize {latex_escaped(part)}}}" for part in lines_below(cell, column)]
    stack = r"\\[-1pt] ".join([first, *below])
    return rf"\stacked{{{stack}}}" if below else first


def _sentence(title: str) -> str:
    return title if title.endswith((".", "?", "!")) else f"{title}."


def _line(cells: list[str]) -> str:
    """Join cells into a row; a first cell that opens with a bracket would be read as an argument of the row before."""
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]
    end = r"\tabularnewline" if any(r"\raggedright" in cell for cell in cells) else r"\\"  # \\ would end a line of text
    return f"{' & '.join([first, *cells[1:]])} {end}"
