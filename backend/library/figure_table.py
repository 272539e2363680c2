"""The figures of a study then and today as a table, on pages and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from backend.library.study import Study
from backend.library.today import Row, rows_of

NO_FIGURE = "no figure"


class FigureTable(NamedTuple):
    """`heads`: of its columns. `rows`: server, workload and figures; empty where there is none."""

    heads: list[str]
    rows: list[list[str]]


def figure_table(rows: Sequence[Row]) -> FigureTable:
    """The figures of these rows, without the columns that have none."""
    columns = {
        "As published": [row.then for row in rows],
        "Old version today": [row.old for row in rows],
        "Current version today": [row.current for row in rows],
    }
    shown = {head: figures for head, figures in columns.items() if any(figures)}
    texts = [[figure.text if figure else "" for figure in column] for column in shown.values()]
    names = ([row.server for row in rows], [row.workload for row in rows])
    cells = zip(*names, *texts, strict=True)
    return FigureTable(["Server", "Workload", *shown], [list(row) for row in cells])


def today_table(study: Study) -> Iterator[str]:
    """The lines of the same table in Markdown; none where the study was not measured again."""
    table = figure_table(rows_of(study))
    if not table.rows:
        return
    yield f"| {' | '.join(table.heads)} |"
    yield "|" + "---|" * len(table.heads)
    for row in table.rows:
        yield f"| {' | '.join(cell or NO_FIGURE for cell in row)} |"
    yield ""
