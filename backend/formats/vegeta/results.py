"""vegeta's results: a row for each attempt, as JSON lines or CSV; gob has its own module."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from backend.formats.bounds import count_text
from backend.formats.logs import Table, line_chunks
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.numbers import LONGEST_S
from backend.formats.statuses import by_status, failed, succeeded
from backend.formats.text import HEAD_BYTES, Source, clean_lines, is_prompt
from backend.formats.timeline import Gathering
from backend.formats.transport_errors import counted_classes
from backend.formats.vegeta.offered import offered_rate, sent_rate

if TYPE_CHECKING:
    import polars as pl

RESOLUTION_US = 0.001
# The status of an attempt that no response ended.
UNANSWERED = "0"
# The columns of a frame of attempts.
START, CODE, LATENCY, BYTES_IN = "timestamp", "code", "latency", "bytes_in"
ERROR, URL = "error", "url"
COLUMNS: dict[str, type] = {
    **dict.fromkeys((START, CODE, LATENCY, BYTES_IN), int),
    **dict.fromkeys((ERROR, URL), str),
}
JSON_KEYS = tuple(f'"{name}":' for name in (CODE, START, LATENCY, BYTES_IN, "bytes_out", ERROR))
CELLS = "timestamp,code,latency,bytes_out,bytes_in,error,body,attack,seq,method,url,headers"
# Of ns since 1970, until the year 2286.
START_DIGITS = 19
# Each version added cells at the end.
CELL_COUNTS = (6, 9, 12)
MOST = {START: 1 << 62, CODE: 999, LATENCY: LONGEST_S * 10**9, BYTES_IN: 1 << 50}
# A frame has a cost of its own, and a row of JSON is long.
JSON_CHUNK_BYTES = 8 << 20


class Attempts:
    """Attempts as they are read, chunk by chunk."""

    def __init__(self) -> None:
        self.requests = Gathering()
        self.count = self.bytes_in = 0
        self.statuses = np.zeros(MOST[CODE] + 1, dtype=np.int64)
        self.classes = Counter[str]()
        self.texts = Counter[str]()
        self.urls: set[str | None] = set()
        # When the first and the last were sent, in ns.
        self.first_ns, self.last_ns = MOST[START], 0

    def add(self, frame: pl.DataFrame) -> None:
        """A frame with COLUMNS: ns since 1970, code (0 without an answer), ns, bytes, texts."""
        if not len(frame):
            return
        figures = {name: _figures(name, frame[name]) for name in MOST}
        codes = figures[CODE]
        self.count += len(frame)
        self.bytes_in += int(figures[BYTES_IN].sum())
        self.statuses += np.bincount(codes, minlength=len(self.statuses))
        self.first_ns = min(self.first_ns, int(figures[START].min()))
        self.last_ns = max(self.last_ns, int(figures[START].max()))
        self._add_texts(frame)
        self._add_urls(frame[URL])
        self.requests.add(
            figures[LATENCY] / 1000,
            start_s=figures[START] / 1e9,
            failed=(codes < 200) | (codes >= 400),
            responded=codes != 0,
        )

    def _add_urls(self, urls: pl.Series) -> None:
        """Note the target; of several, two."""
        is_other = urls.ne_missing(urls[0])
        self.urls.update((urls[0], urls[is_other.arg_max() or 0]))

    def _add_texts(self, frame: pl.DataFrame) -> None:
        """Count error texts, and those of attempts without an answer by class as well."""
        keys = [CODE, ERROR]
        wrong = frame.filter((frame[CODE] == 0) | (frame[ERROR] != ""))
        for code, text, count in wrong.group_by(keys).len().select(*keys, "len").iter_rows():
            if text:
                count_text(self.texts, text, count)
            if code == 0:
                self.classes.update(counted_classes({text or "": count}))

    def trial(self, *, incomplete: bool = False) -> ParsedTrial:
        """The trial of all attempts; raises FormatError when there is none."""
        if not self.count:
            raise FormatError("The vegeta results have no request.", expected="results")
        (url,) = self.urls if len(self.urls) == 1 else (None,)
        statuses = by_status(self.statuses)
        unanswered = statuses.pop(UNANSWERED, 0)
        span_s = (self.last_ns - self.first_ns) / 1e9
        return ParsedTrial(
            url=url or None,
            loop="open",
            sent_rps=sent_rate(self.count, span_s),
            offered_rps=offered_rate(self.count, span_s),
            requests_completed=self.count - unanswered,
            requests_ok=succeeded(statuses),
            bytes_received=self.bytes_in,
            errors={**counted_classes({}), **self.classes, "status": failed(statuses)},
            tool_errors=dict(self.texts),
            status_counts=statuses,
            incomplete=incomplete,
            **self.requests.sampled(RESOLUTION_US, samples=self.count),
        )


def _figures(name: str, column: pl.Series) -> np.ndarray[Any, np.dtype[Any]]:
    if column.null_count():
        raise _bad_figure(name, "nothing")
    figures = column.to_numpy()
    if figures.min() < 0 or figures.max() > MOST[name]:
        raise _bad_figure(name, f"{figures.min()} to {figures.max()}")
    return figures


def _bad_figure(name: str, found: str) -> FormatError:
    return FormatError(
        f"The vegeta results have an impossible {name}.",
        found=found,
        expected=f"in each row a whole number from 0 to {MOST[name]}",
    )


def is_json_lines(source: Source) -> bool:
    """Whether there is a line of vegeta encode in the head."""
    head = source.text[:HEAD_BYTES]
    # Objects on several lines are no lines of results.
    return all(key in head for key in JSON_KEYS) and any(
        line.text.startswith("{") and all(key in line.text for key in JSON_KEYS)
        for line in clean_lines(head)
    )


def is_csv(source: Source) -> bool:
    """Whether the first line is a row of vegeta encode -to csv: ns since 1970, code, ns, …"""
    start = source.first_line.partition(",")[0]
    if len(start) != START_DIGITS or not start.isdigit():
        return False
    cells = _first_cells(source)
    return len(cells) in CELL_COUNTS and all(cell.isdigit() for cell in cells[1:5])


def _first_cells(source: Source) -> list[str]:
    """The cells of the first row; texts of errors stand in quotes and may have commas."""
    try:
        return next(csv.reader([source.first_line[:HEAD_BYTES]]), [])
    except csv.Error:
        return []


def read_csv(source: Source) -> ParsedTrial:
    """The attempts of a CSV, as every version wrote them."""
    count = len(_first_cells(source))
    names = CELLS.split(",")[:count]
    table = Table(
        tool="vegeta",
        header=",".join(names),
        separator=",",
        columns={name: kind for name, kind in COLUMNS.items() if name in names},
        is_whole=lambda row: count > min(CELL_COUNTS) or row.endswith(('"', ",")),
        has_header=False,
    )
    attempts = Attempts()
    for frame in table.frames(source):
        attempts.add(_with_url(frame))
    return attempts.trial()


def _with_url(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    if URL in frame.columns:
        return frame
    return frame.with_columns(pl.lit(None, dtype=pl.String).alias(URL))


def read_json_lines(source: Source) -> ParsedTrial:
    """The attempts of JSON lines; lines before the first one (a prompt) are passed over."""
    attempts, cut = Attempts(), False
    for number, chunk in _json_chunks(source):
        try:
            frame = _frame(chunk)
        except ValueError:
            # A last line without its line feed may be cut off.
            cut = not chunk.endswith(b"\n")
            if not cut:
                raise _bad_line(number, chunk) from None
        else:
            attempts.add(frame)
    return replace(attempts.trial(), incomplete=cut)


def _json_chunks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Whole lines from the first object on, with the number of the first; of a paste, cleaned."""
    if _is_paste(source):
        texts = (line.text if line.text.startswith("{") else "" for line in source.lines)
        yield 1, "\n".join(texts).encode()
        return
    chunks = line_chunks(source, size=JSON_CHUNK_BYTES)
    for number, chunk in chunks:
        before, mark, rows = (b"\n" + chunk).partition(b"\n{")
        if mark:
            yield number + before.count(b"\n"), b"{" + rows
            break
    yield from chunks


def _is_paste(source: Source) -> bool:
    """Whether prompts or a mail's quoting stand around the objects."""
    if source.is_log:
        return False
    begins = source.data.startswith(b"{") or b"\n{" in source.data
    return not begins or is_prompt(source.text.rstrip().rpartition("\n")[2])


def _frame(chunk: bytes) -> pl.DataFrame:
    """The attempts of whole lines; raises ValueError for what is none."""
    import polars as pl

    kinds = {int: pl.Int64, str: pl.String}
    schema = {name: kinds[kind] for name, kind in COLUMNS.items()} | {START: pl.String}
    try:
        frame = pl.read_ndjson(chunk, schema=schema)
        start = pl.col(START).str.to_datetime("%+", time_unit="ns").dt.epoch("ns")
        return frame.with_columns(start)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as wrong:
        raise ValueError(str(wrong)) from None


def _bad_line(number: int, chunk: bytes) -> FormatError:
    lines = enumerate(chunk.split(b"\n"), number)
    bad = next(((at, line) for at, line in lines if line.strip() and not _is_row(line)), None)
    at, line = bad or (number, chunk)
    return FormatError(
        "The vegeta results have a damaged line.",
        line=at,
        found=line[:200].decode(errors="replace"),
        expected="a JSON object of vegeta encode: code, timestamp, latency, bytes_in",
    )


def _is_row(line: bytes) -> bool:
    try:
        _frame(line)
        row = orjson.loads(line)
    except ValueError:
        return False
    return isinstance(row, dict) and all(row.get(name) is not None for name in (START, *MOST))
