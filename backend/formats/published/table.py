"""The lines of a published table: its head, its columns and its rows."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from backend.formats.model import Entry, FormatError
from backend.formats.published.row import (
    COLUMNS,
    LONGEST_TOOL,
    SETTING,
    Publication,
    trial_of,
)
from backend.formats.refusals import read_figures
from backend.formats.text import Line, is_prompt

FIRST_LINE = "# loadsheet published table"
# A trial for each row: more than any publication prints, and read within a second.
MOST_LINES = 10_000
HEAD_KEYS = ("source", "published", "tool")
REQUIRED_KEYS = ("source", "published")
PERCENTILE = re.compile(r"p\d{1,2}(\.\d{1,4})?_ms")
DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of a row by column, and the number of its line."""

    line: int
    fields: Mapping[str, str]


def read_table(block: Sequence[Line]) -> list[Entry]:
    """A trial or a refusal for each row below the first line; one refusal of a wrong head."""
    try:
        return _read(list(_table_lines(block[1:])))
    except FormatError as refused:
        return [refused]


def _table_lines(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines up to a prompt or a fence, without the blank ones."""
    for line in lines:
        if is_prompt(line.text) and "," not in line.text and not line.text.startswith("#"):
            return
        if line.text:
            yield line


def _read(lines: Sequence[Line]) -> list[Entry]:
    """Raises FormatError for a wrong head or header."""
    publication = _publication([line for line in lines if line.text.startswith("#")])
    table = [line for line in lines if not line.text.startswith("#")]
    if not table:
        raise FormatError(
            "The published table has no rows.",
            expected="a line with the names of the columns, and a line for each trial",
        )
    columns = _columns(table[0])
    return [_trial(row, publication) for row in _rows(columns, table[1:])]


def _publication(lines: Sequence[Line]) -> Publication:
    texts: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.text.lstrip("# ").partition(":")
        if colon and key.strip() in HEAD_KEYS:
            texts[key.strip()] = value.strip()
    missing = [key for key in REQUIRED_KEYS if not texts.get(key)]
    if missing:
        raise FormatError(
            "The published table does not say where its figures come from.",
            found=f"no line “# {missing[0]}: …”",
            expected="the lines “# source: Title, author” and “# published: 2009-12-22”",
        )
    if not DATE.fullmatch(texts["published"]):
        raise FormatError(
            "The date of the publication cannot be read.",
            found=texts["published"],
            expected="a year, a month or a date: 2009, 2009-12 or 2009-12-22",
        )
    if len(texts.get("tool", "")) > LONGEST_TOOL:
        raise FormatError(
            "The name of the load tool is too long.",
            found=texts["tool"],
            expected=f"at most {LONGEST_TOOL} characters",
        )
    return Publication(texts["source"], texts["published"], texts.get("tool") or None)


def _columns(line: Line) -> list[str]:
    columns = [name.strip() for name in _fields(line)]
    unknown = [name for name in columns if not _is_column(name)]
    if unknown or "server" not in columns or len(set(columns)) < len(columns):
        raise FormatError(
            "The header of the published table is not as expected.",
            line=line.number,
            found=f"the column {unknown[0]}" if unknown else line.text,
            expected=f"server and each of these columns once at most: {', '.join(COLUMNS)}, "
            f"percentiles such as p95_ms, settings such as {SETTING}backlog",
        )
    return columns


def _is_column(name: str) -> bool:
    is_setting = name.startswith(SETTING) and len(name) > len(SETTING)
    return name in COLUMNS or is_setting or PERCENTILE.fullmatch(name) is not None


def _fields(line: Line) -> list[str]:
    try:
        return next(csv.reader([line.text]))
    except csv.Error as fault:
        raise FormatError(
            "A field of the published table is too long.",
            line=line.number,
            found=line.text[:100],
            expected=f"at most {csv.field_size_limit():,} characters",
        ) from fault


def _rows(columns: Sequence[str], lines: Sequence[Line]) -> Iterator[Row | FormatError]:
    for line in lines:
        try:
            yield _row(columns, line)
        except FormatError as refused:
            yield refused.with_traceback(None)


def _row(columns: Sequence[str], line: Line) -> Row:
    fields = _fields(line)
    if len(fields) != len(columns):
        raise FormatError(
            "A row of the published table has another number of fields than the header.",
            line=line.number,
            found=f"{len(fields)} fields",
            expected=f"{len(columns)} fields, empty if a figure is unknown",
        )
    pairs = zip(columns, fields, strict=True)
    return Row(line.number, {name: field.strip() for name, field in pairs if field.strip()})


def _trial(row: Row | FormatError, publication: Publication) -> Entry:
    if isinstance(row, FormatError):
        return row
    return read_figures(
        trial_of,
        row.fields,
        publication,
        title="published table",
        line=row.line,
        expected="a server and at least one figure; numbers with a point and without a unit",
    )
