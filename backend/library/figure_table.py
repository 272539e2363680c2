"""The figures of a study then and today as a table, on pages and in Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from backend.library.study import Study
from backend.library.today import Row, rows_of

NO_FIGURE = "no figure"
_COLUMNS: Mapping[str, Callable[[Row], str]] = {
    "As published": lambda row: row.then.text if row.then else "",
    "Old version today": lambda row: row.old.text if row.old else "",
    "Current version today": lambda row: row.current.text if row.current else "",
}


class FigureTable(NamedTuple):
    """`heads`: of its columns. `rows`: server, workload and figures; empty if there is none."""

    heads: list[str]
    rows: list[list[str]]


def figure_table(rows: Sequence[Row]) -> FigureTable:
    """The figures of these rows, without the columns that have none."""
    columns = {
        head: [text_of(row) for row in rows]
        for head, text_of in _COLUMNS.items()
        if any(text_of(row) for row in rows)
    }
    names = ([row.server for row in rows], [row.workload for row in rows])
    cells = zip(*names, *columns.values(), strict=True)
    return FigureTable(["Server", "Workload", *columns], [list(row) for row in cells])


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
