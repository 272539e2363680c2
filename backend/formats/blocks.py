"""The blocks in a text that are no report for people: JSON documents, tables and XML.

Nothing here knows a load tool. Each line is looked at a few times, so the cost is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from backend.formats.tables import find_tables, is_long_table, outside
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

# What a program writes of itself while it runs is no result.
_LOG_KEYS = ("msg", "message", "level", "severity")
_LOG_RECORD = re.compile(rf'"(?:{"|".join(_LOG_KEYS)})":\s?"')
_KEY = re.compile(r'"([^"]*)":')
# How an object or a list begins in JSON, and not in code or in a note.
_BEGIN = re.compile(r'[\[{]\s*(?:[\[{]\s*){0,9}"')


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
    return block if is_long_table(text) else None


def _spans(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    return [(block.first, block.last) for block in blocks]


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
    lines = outside(source.lines, _spans(others))
    logs = [Block(JSON, run[0].number, run[-1].number) for run in _rows_of_json(lines)]
    documents = (
        documents_among(outside(lines, _spans(logs))) if logs or others else source.documents
    )
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
            # A script's one line of JSON above a log is no row of it.
            yield rows[0 if _share_a_key(*rows[:2]) else 1 :]


def _share_a_key(one: Line, other: Line) -> bool:
    return bool({*_KEY.findall(one.text)} & {*_KEY.findall(other.text)})


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


def _table_blocks(source: Source, others: Sequence[Block]) -> Iterator[Block]:
    for table in find_tables(source, outside(source.lines, _spans(others))):
        yield Block(DRAWN if table.is_drawn else TABLE, table.first, table.last)
