r"""A table as LaTeX: a `table` float in the style of booktabs, with one caption that holds title and footnotes.

The preamble needs `\usepackage{booktabs}` and nothing else. Texts are those of the other forms; signs that the
default fonts lack become commands, so that pdfLaTeX sets the file as well as LuaLaTeX does.
"""

from benchmark.report.render import NUMBERS, cell_parts, row_label
from benchmark.report.table_model import Column, Row, Table, TableCell

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
}


def to_latex(table: Table) -> str:
    r"""Write the table as a float with the label `tab:KEY`, one row per line."""
    columns = "".join("r" if column.quantity in NUMBERS else "l" for column in table.columns)
    caption = " ".join(latex_escaped(text) for text in (_sentence(table.title), *table.notes))
    head = [table.row_title, *(column.title for column in table.columns)]
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        r"\small",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{table.key}}}",
        rf"\begin{{tabular}}{{l{columns}}}",
        r"\toprule",
        _line([latex_escaped(text) for text in head]),
        r"\midrule",
        *(_line([latex_escaped(row_label(row)), *_texts(row, table.columns)]) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join([*lines, ""])


def latex_escaped(text: str) -> str:
    """Escape text for LaTeX, on one line; characters without an entry are left to the engine."""
    return "".join(_COMMANDS.get(character, character) for character in " ".join(text.split()))


def _texts(row: Row, columns: tuple[Column, ...]) -> list[str]:
    return [_cell(row.cells[column.key], column) for column in columns]


def _cell(cell: TableCell, column: Column) -> str:
    """Write the parts of a cell; the value is bold where it is strong, a mark follows what it marks without a blank."""
    text = ""
    for role, part in cell_parts(cell, column):
        escaped = latex_escaped(part)
        if role == "value" and cell.strong:
            escaped = rf"\textbf{{{escaped}}}"
        text += escaped if role == "mark" or not text else f" {escaped}"
    return text


def _sentence(title: str) -> str:
    return title if title.endswith((".", "?", "!")) else f"{title}."


def _line(cells: list[str]) -> str:
    """Join cells into a row; a first cell that opens with a bracket would be read as an argument of the row before."""
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]
    return " & ".join([first, *cells[1:]]) + r" \\"
