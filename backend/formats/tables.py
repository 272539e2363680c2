"""The tables in a text: runs of lines with as many separators each, numbers in most cells.

Nothing here knows a load tool. Each line is looked at a few times, so the cost is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, zip_longest
from operator import and_

from backend.formats.text import Line, Source

# Rows that show what a table is.
LOOKED_AT = 50
SEPARATORS = ("\t", ";", ",", "|")
# Of so many a row, rows may differ: a path holds semicolons. A report has a tab behind a label.
LEAST_ALIKE = {"\t": 2, ";": 6}
FEWEST = 2
# Behind so many names of columns, rows may hold words alone.
COLUMNS_OF_WORDS = 4
# The first CSV of hey has one column.
COLUMN_ALONE = "response-time"
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r'"?[-+]?\d[\d.:eETZ+ -]{0,40}%?"?')
_AMOUNT = re.compile(r"[~<>*\u2248 ]{0,4}[-+]?\d[\d.,]{0,30} ?[\w/%\u00b5]{0,12}[* ]{0,4}")
# No heading of Markdown, and no figure.
_REMARK = re.compile(r"#[^\s=#!][^=]*$")
_NAME = re.compile(r'"?[A-Za-z#%_][\w #%&/.()-]{0,60}"?')


@dataclass(frozen=True, slots=True)
class Table:
    """The first and the last line of a table, by their numbers."""

    first: int
    last: int
    # Laid out for people.
    is_drawn: bool = False


def find_tables(source: Source, lines: Sequence[Line]) -> list[Table]:
    """The tables among the lines of a text that are in no other block."""
    tables: list[Table] = []
    for mark in SEPARATORS:
        if source.text.count(mark) < FEWEST:
            continue
        rest = _outside_tables(lines, tables)
        marked = [mark in line.text for line in rest]
        if not any(map(and_, marked, marked[1:])) and not any(map(and_, marked, marked[2:])):
            # As mostly, no two lines near each other have any.
            continue
        for run in _runs_alike(rest, mark):
            tables += (_with_remarks(table, source) for table in _tables_in(run, mark))
    if COLUMN_ALONE in source.text:
        tables += _columns_alone(_outside_tables(lines, tables))
    return tables


def is_long_table(text: str) -> bool:
    """Whether a text is one table of many rows below a head: at the speed of C."""
    head, _, _ = text.partition("\n")
    count = text.count("\n") + 1
    marks = ("\t", ";", ",") if count > LOOKED_AT and '"' not in text else ()
    return any(_is_even(text, head, count, mark) for mark in marks) and text.count(head) == 1


def _is_even(text: str, head: str, count: int, mark: str) -> bool:
    """Whether a text has so many rows, each with as many separators as the first."""
    width = head.count(mark)
    if not width or text.count(mark) != width * count:
        return False
    rows = [_Row(0, 0, row.strip(), width) for row in text.split("\n", LOOKED_AT)[:LOOKED_AT]]
    return all(row.text.count(mark) == width for row in rows) and _is_table(rows, mark)


def outside(lines: Sequence[Line], spans: Sequence[tuple[int, int]]) -> list[Line]:
    """The lines that are in none of the spans, which hold their first and last numbers."""
    covered = {at for first, last in spans for at in range(first, last + 1)}
    return [line for line in lines if line.number not in covered] if covered else list(lines)


def _outside_tables(lines: Sequence[Line], tables: Sequence[Table]) -> list[Line]:
    return outside(lines, [(table.first, table.last) for table in tables])


def _columns_alone(lines: Sequence[Line]) -> Iterator[Table]:
    """Numbers below each other under the name of their only column."""
    begin = end = 0
    for line in [*lines, Line(0, "")]:
        if begin and line.number == end + 1 and _NUMBER.fullmatch(line.text):
            end = line.number
            continue
        if end > begin:
            yield Table(begin, end)
        begin = end = line.number if line.text == COLUMN_ALONE else 0


def _runs_alike(lines: Sequence[Line], mark: str) -> Iterator[list[_Row]]:
    """Rows below each other with as many separators. A quoted cell may hold ends of lines."""
    is_quoted = mark == "," and any(line.text.count('"') % 2 for line in lines)
    rows = list(_rows(lines if is_quoted else list(_beside_like_lines(lines, mark)), mark))
    run: list[_Row] = []
    for row, following in zip_longest(rows, rows[1:]):
        if run and _is_remark(run[-1], row, following):
            run.append(replace(row, alike=run[-1].alike))
        elif run and _is_of_table(run[-1], row):
            run.append(row)
        else:
            yield run
            run = [row] if row.alike else []
    yield run


def _is_below(above: _Row, row: _Row) -> bool:
    return row.first == above.last + 1


def _is_of_table(above: _Row, row: _Row) -> bool:
    return _is_below(above, row) and row.alike == above.alike


def _is_remark(above: _Row, row: _Row, below: _Row | None) -> bool:
    """Whether a line is none between rows of one table, such as a remark in siege's log."""
    if below is None or not row.text or row.alike == above.alike:
        return False
    return _is_below(above, row) and _is_below(row, below) and _goes_on(above, below)


def _goes_on(row: _Row, following: _Row) -> bool:
    """Whether a row far below another is of the same table: two have so many columns by chance."""
    return row.alike == following.alike >= COLUMNS_OF_WORDS


def _beside_like_lines(lines: Sequence[Line], mark: str) -> Iterator[Line]:
    """The lines with a separator that are near others with one, and those between."""
    marked = [False, False, *(mark in line.text for line in lines), False, False]
    for at, line in enumerate(lines, 2):
        above, below = marked[at - 1], marked[at + 1]
        if (marked[at] and (above or below or marked[at - 2] or marked[at + 2])) or (
            above and below
        ):
            yield line


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table, which a quoted cell may continue on the next lines."""

    first: int
    last: int
    text: str
    # Equal for rows of one table; 0 for what is no row.
    alike: int


def _rows(lines: Sequence[Line], mark: str) -> Iterator[_Row]:
    open_row: list[Line] = []
    for line in lines:
        has_quote = mark == "," and line.text.count('"') % 2 == 1
        if not open_row and not has_quote:
            yield _row([line], mark)
            continue
        open_row.append(line)
        is_closed = has_quote and len(open_row) > 1
        if is_closed or len(open_row) > LOOKED_AT:
            yield _row(open_row, mark)
            open_row = []
    yield from (_row([line], mark) for line in open_row)


def _row(lines: Sequence[Line], mark: str) -> _Row:
    text = "\n".join(line.text for line in lines)
    return _Row(lines[0].number, lines[-1].number, text, _alike(text, mark))


def _alike(text: str, mark: str) -> int:
    count = (_QUOTED.sub("", text) if '"' in text else text).count(mark)
    # "Transactions:\t\t 500 hits" is a line of a report.
    if mark == "\t" and (count < FEWEST or text.partition(mark)[0].endswith(":")):
        return 0
    return min(count, LEAST_ALIKE.get(mark, count))


def _tables_in(rows: Sequence[_Row], mark: str) -> Iterator[Table]:
    """One block of consecutive rows, or one for each head that stands there again."""
    rows = rows[_begin_of(rows, mark) :]
    if len(rows) < FEWEST:
        return
    for start, end in pairwise([0, *_heads_again(rows, mark), len(rows)]):
        table = _of_two_columns(rows[start:end], mark)
        if _is_table(table, mark):
            yield Table(table[0].first, table[-1].last, mark == "|" and _is_drawn(table))


def _begin_of(rows: Sequence[_Row], mark: str) -> int:
    """The head, below lines of a report right above that have as many separators by chance."""
    if len(rows) <= FEWEST:
        return 0
    if rows[0].alike > 1:
        return int(_is_head(rows[1].text, mark) and not _is_head(rows[0].text, mark))
    numbers = (_are_numbers(_cells(row.text, mark)) for row in rows[1:])
    return next((at for at, is_number in enumerate(numbers) if is_number), 0)


def _with_remarks(table: Table, source: Source) -> Table:
    """The table from the remarks right above it: "#[BaseTime: 1000]", and no prompt, no figure."""
    first = table.first
    for line in reversed(source.lines_between(first - LOOKED_AT, first - 1)):
        # Of many blank lines, most are left out: numbers are missing.
        if line.number != first - 1 or not _REMARK.match(line.text):
            break
        first = line.number
    return replace(table, first=first)


def _heads_again(rows: Sequence[_Row], mark: str) -> list[int]:
    """Where a head stands once more, or that of another table of the tool."""
    head = rows[0].text
    if not _is_head(head, mark):
        return []
    first = _cells(head, mark)[0]
    return [
        at
        for at, row in enumerate(rows)
        if at and first in row.text and are_heads_alike(head, row.text, mark)
    ]


def are_heads_alike(head: str, other: str, mark: str) -> bool:
    """Whether two rows are heads, the second with half of the names of the first, or more."""
    names, others = ({*_cells(row, mark)} for row in (head, other))
    is_alike = len(names) > 1 and 2 * len(names & others) >= len(names)
    return is_alike and _is_head(head, mark) and _is_head(other, mark)


def _of_two_columns(rows: Sequence[_Row], mark: str) -> Sequence[_Row]:
    """The rows; of two columns, to the last of numbers: a line of prose has one comma too."""
    if rows[0].alike != 1:
        return rows
    ends = (at for at, row in enumerate(rows) if at and not _are_numbers(_cells(row.text, mark)))
    return rows[: next(ends, len(rows))]


def _are_numbers(cells: Sequence[str]) -> bool:
    return all(map(_NUMBER.fullmatch, cells))


def _is_drawn(rows: Sequence[_Row]) -> bool:
    """Whether a table is laid out for people, with spaces beside its separators."""
    return any(" |" in row.text or "| " in row.text for row in rows[:FEWEST])


def _cells(text: str, mark: str) -> list[str]:
    plain = _QUOTED.sub('""', text) if '"' in text and mark == "," else text
    return [cell.strip() for cell in plain.strip("|").split(mark)]


def _is_table(rows: Sequence[_Row], mark: str) -> bool:
    if len(rows) < FEWEST:
        return False
    return _are_table(rows, mark, *(_cells(row.text, mark) for row in rows[: LOOKED_AT + 1]))


def _are_table(rows: Sequence[_Row], mark: str, head: Sequence[str], *body: Sequence[str]) -> bool:
    if mark == "|" and _is_drawn(rows):
        return len(head) > 1 and any(map(_AMOUNT.fullmatch, chain.from_iterable(body)))
    if len(head) == FEWEST:
        return len(rows) > FEWEST and all(map(_are_numbers, body))
    if len(head) >= COLUMNS_OF_WORDS:
        return _is_head(rows[0].text, mark) or _are_rows(body, mark)
    return _are_rows(body, mark) and not _is_by_chance(rows, mark, head)


def _is_by_chance(rows: Sequence[_Row], mark: str, head: Sequence[str]) -> bool:
    """Whether these may be two lines of reports with as many separators."""
    return len(rows) == FEWEST and not _is_head(rows[0].text, mark) and not _are_rows([head], mark)


def _are_rows(body: Sequence[Sequence[str]], mark: str) -> bool:
    """Whether most rows have numbers: in half of their cells, between tabs in one."""
    least = 1 if mark == "\t" else len(body[0]) / 2
    return 2 * sum(_numbers_in(cells) >= least for cells in body) > len(body)


def _is_head(text: str, mark: str) -> bool:
    """Whether all cells of a row are names, each another one."""
    cells = _cells(text, mark)
    return len({*cells}) == len(cells) and all(map(_NAME.fullmatch, cells))


def _numbers_in(cells: Sequence[str]) -> int:
    """How many cells are numbers; with some, empty cells count too."""
    numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
    return numbers + cells.count("") if numbers else 0
