"""The blocks in a text that are no report for people: JSON documents, tables and XML.

Nothing here knows a load tool. Each line is looked at a few times, so the cost is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise, zip_longest
from operator import and_
from typing import Any

from backend.formats.text import Document, Line, Source, documents_among

JSON, TABLE, XML = "JSON", "table", "XML"
XML_ROOTS = ("testResults", "FinalStatus")
# Between "|": in notes and in some reports. No tool writes a file of it.
DRAWN = "drawn table"
# Longer texts are logs of one tool: they are not looked through.
LONGEST = 4 << 20
# Of a longer one, it is first seen whether it is one log.
LONG = 64 << 10
# A text with more is left whole: each block is held against every tool.
MOST_BLOCKS = 50
# So many JSON objects in a row, each on a line of its own, are the rows of one log.
FEWEST_ROWS = 20
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

# What a program writes of itself while it runs is no result.
_LOG_KEYS = ("msg", "message", "level", "severity")
_LOG_RECORD = re.compile(rf'"(?:{"|".join(_LOG_KEYS)})":\s?"')
# How an object or a list begins in JSON, and not in code or in a note.
_BEGIN = re.compile(r'[\[{]\s*(?:[\[{]\s*){0,9}"')
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r'"?[-+]?\d[\d.:eETZ+ -]{0,40}%?"?')
_AMOUNT = re.compile(r"[~<>*\u2248 ]{0,4}[-+]?\d[\d.,]{0,30} ?[\w/%\u00b5]{0,12}[* ]{0,4}")
_NAME = re.compile(r'"?[A-Za-z#%_][\w #%&/.()-]{0,60}"?')


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one kind, by their numbers."""

    kind: str
    first: int
    last: int
    # Why a JSON document cannot be read, and at which line; empty for one that can.
    fault: str = ""
    fault_line: int = 0
    # Whether something stands before a JSON document on its line: a prompt, or a log's words.
    is_behind: bool = False


def find_blocks(source: Source) -> list[Block]:
    """The blocks of a text in order; none of a text with too many, or of a long one."""
    if len(source.text) > LONGEST:
        return []
    if len(source.text) > LONG and (whole := _whole(source)) is not None:
        return [whole]
    blocks: list[Block] = []
    for find in (_xml_blocks, _json_blocks, _table_blocks):
        blocks += find(source, blocks)
        if len(blocks) > MOST_BLOCKS:
            return []
    return sorted(blocks, key=lambda block: block.first)


def _whole(source: Source) -> Block | None:
    """All lines, where they are the rows of one log: at the speed of C, for they may be many."""
    text, head = source.text.strip("\r\n"), source.first_line
    count = text.count("\n") + 1
    first = source.artefact.first_line
    above = source.text.count("\n", 0, len(source.text) - len(source.text.lstrip()))
    block = Block(TABLE, first + above, first + source.text.rstrip().count("\n"))
    if head.startswith('{"'):
        are_rows = count > FEWEST_ROWS and text.count('\n{"') == count - 1
        return replace(block, kind=JSON) if are_rows and _is_json_row(Line(1, head)) else None
    marks = ("\t", ";", ",") if count > LOOKED_AT and '"' not in text else ()
    is_even = any(_is_even(text, head, count, mark) for mark in marks)
    return block if is_even and text.count(head) == 1 else None


def _is_even(text: str, head: str, count: int, mark: str) -> bool:
    """Whether a text is a table of so many rows, each with as many separators as the first."""
    width = head.count(mark)
    if not width or text.count(mark) != width * count:
        return False
    rows = [_Row(0, 0, row.strip(), width) for row in text.split("\n", LOOKED_AT)[:LOOKED_AT]]
    return all(row.text.count(mark) == width for row in rows) and _is_table(rows, mark)


def _outside(lines: Sequence[Line], blocks: Sequence[Block]) -> list[Line]:
    covered = {at for block in blocks for at in range(block.first, block.last + 1)}
    return [line for line in lines if line.number not in covered] if covered else list(lines)


def _xml_blocks(source: Source, _: Sequence[Block]) -> Iterator[Block]:
    """Documents with a root that a tool writes, from the first tag to the last."""
    for root in XML_ROOTS:
        if f"<{root}" in source.text:
            yield from _xml_of(source, root)


def _xml_of(source: Source, root: str) -> Iterator[Block]:
    above, begin, before = source.artefact.first_line, 0, ""
    for at, row in enumerate(source.raw_lines, above):
        if not begin and f"<{root}" in row:
            begin = at - before.lstrip().startswith("<?xml")
        if begin and (f"</{root}>" in row or at == source.last_number):
            yield Block(XML, begin, at)
            begin = 0
        before = row


def _json_blocks(source: Source, others: Sequence[Block]) -> list[Block]:
    """A block for each document, or for many rows of documents."""
    if "{" not in source.text:
        return []
    lines = _outside(source.lines, others)
    logs = [Block(JSON, run[0].number, run[-1].number) for run in _rows_of_json(lines)]
    documents = documents_among(_outside(lines, logs)) if logs or others else source.documents
    shown = {line.number: line.text for line in lines}
    blocks = logs + [
        _block_of(document, shown) for document in documents if _is_own(document, shown)
    ]
    return _without_overlaps(sorted(blocks, key=lambda block: block.first))


def _rows_of_json(lines: Sequence[Line]) -> Iterator[list[Line]]:
    if sum(line.text.startswith('{"') for line in lines) < FEWEST_ROWS:
        return
    for is_row, run in groupby(lines, key=_is_json_row):
        rows = list(run)
        if is_row and len(rows) >= FEWEST_ROWS:
            yield rows


def _is_json_row(line: Line) -> bool:
    is_object = line.text.startswith('{"') and line.text.endswith("}")
    return is_object and not _LOG_RECORD.search(line.text)


def _block_of(document: Document, shown: dict[int, str]) -> Block:
    # "[12:34:56] result: {"rps": 1}" begins as a list does.
    begins = "{" if isinstance(document.value, dict) else ("{", "[")
    is_behind = not shown.get(document.line, "").startswith(begins)
    fault = (document.fault, document.fault_line)
    return Block(JSON, document.line, document.last_line, *fault, is_behind)


def _is_own(document: Document, shown: dict[int, str]) -> bool:
    """Whether a document has its lines for itself and may be a result."""
    first, last = shown.get(document.line, ""), shown.get(document.last_line, "")
    if document.value is None:
        whole = "\n".join((first, shown.get(document.line + 1, "")))
        return _BEGIN.match(whole) is not None
    # Whatever stands before an object on its line, such as a prompt, a log line's end is its own.
    return last.endswith(("}", "]")) and _may_be_result(document.value)


def is_log_record(value: Any) -> bool:
    """Whether a JSON value is what a program writes of itself, with a message or a level."""
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _LOG_KEYS)


def _may_be_result(value: Any) -> bool:
    if isinstance(value, dict):
        return not is_log_record(value)
    return any(isinstance(item, dict | list) for item in value)


def _without_overlaps(blocks: Sequence[Block]) -> list[Block]:
    """Documents that share a line are one block."""
    apart: list[Block] = []
    for block in blocks:
        if apart and block.first <= apart[-1].last:
            before = apart.pop()
            apart.append(replace(before, last=max(before.last, block.last)))
        else:
            apart.append(block)
    return apart


def _table_blocks(source: Source, others: Sequence[Block]) -> list[Block]:
    """Runs of lines with as many separators each, numbers in most cells."""
    blocks: list[Block] = []
    for mark in SEPARATORS:
        if source.text.count(mark) < FEWEST:
            continue
        lines = _outside(source.lines, [*others, *blocks])
        marked = [mark in line.text for line in lines]
        if not any(map(and_, marked, marked[1:])) and not any(map(and_, marked, marked[2:])):
            # As mostly, no two lines near each other have any.
            continue
        for run in _runs_alike(lines, mark):
            blocks += _tables_in(run, mark)
    if COLUMN_ALONE in source.text:
        blocks += _columns_alone(_outside(source.lines, [*others, *blocks]))
    return blocks


def _columns_alone(lines: Sequence[Line]) -> Iterator[Block]:
    """Numbers below each other under the name of their only column."""
    begin = end = 0
    for line in [*lines, Line(0, "")]:
        if begin and line.number == end + 1 and _NUMBER.fullmatch(line.text):
            end = line.number
            continue
        if end > begin:
            yield Block(TABLE, begin, end)
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


def _tables_in(rows: Sequence[_Row], mark: str) -> Iterator[Block]:
    """One block of consecutive rows, or one for each head that stands there again."""
    if len(rows) > FEWEST and _is_head(rows[1].text, mark) and not _is_head(rows[0].text, mark):
        # A line of a report right above has as many separators by chance.
        rows = rows[1:]
    if len(rows) < FEWEST:
        return
    for start, end in pairwise([0, *_heads_again(rows, mark), len(rows)]):
        table = _of_two_columns(rows[start:end], mark)
        if _is_table(table, mark):
            kind = DRAWN if mark == "|" and _is_drawn(table) else TABLE
            yield Block(kind, table[0].first, table[-1].last)


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
    head, *body = (_cells(row.text, mark) for row in rows[: LOOKED_AT + 1])
    if mark == "|" and _is_drawn(rows):
        cells = chain.from_iterable(body)
        return len(head) > 1 and any(map(_AMOUNT.fullmatch, cells))
    if len(head) == FEWEST:
        return len(rows) > FEWEST and all(map(_are_numbers, body))
    has_names = len(head) >= COLUMNS_OF_WORDS and _is_head(rows[0].text, mark)
    return has_names or _are_rows(body, mark)


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
