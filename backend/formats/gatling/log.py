"""simulation.log as text: a record for every request, and for what users did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from backend.formats.gatling.errors import by_class, error_class, is_check
from backend.formats.gatling.records import (
    ENDS_WITH_KIND,
    EXPECTED,
    KINDS,
    LAYOUTS,
    REQUESTS,
    STATUSES,
    Layout,
    fits,
    is_run,
    kind_of,
    layout_of,
    tabbed,
    version_of,
)
from backend.formats.logs import ahead, line_chunks
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.numbers import LONGEST_MS
from backend.formats.text import HEAD_BYTES, Source, is_prompt
from backend.formats.timeline import Gathering

if TYPE_CHECKING:
    import polars as pl

RUN_CELL = b"RUN\t"
RESOLUTION_US = 1000
HEAD_LINES = 400
# Texts of errors may hold anything: so many are told apart, the classes count all.
MOST_TEXTS = 1000
# Gatling writes a log for each run; more than a few were put together.
MOST_RUNS = 100


def is_log(source: Source) -> bool:
    """Whether this is a simulation.log as text."""
    lines = source.text[:HEAD_BYTES].split("\n", HEAD_LINES)[:HEAD_LINES]
    records = (tabbed(line).split("\t") for line in lines)
    return any(layout_of(cells) is not None or is_run(cells) for cells in records)


def read_log(source: Source) -> list[Entry]:
    """Every run in the log, which begins with its record RUN; raises FormatError."""
    reader = _Reader()
    for number, chunk in ahead(line_chunks(source)):
        reader.add(number, chunk)
    runs = [run for run in reader.runs if run.gathering.histogram.count]
    if not runs:
        raise FormatError("The Gatling log has no request.", found="", expected=EXPECTED)
    return [run.trial() for run in runs]


class _Reader:
    def __init__(self) -> None:
        self.runs: list[_Run] = [_Run()]
        self.layout: Layout | None = None
        self.has_tabs: bool | None = None
        # The kind of the record before a line; "" before the first.
        self.before = ""

    def add(self, number: int, chunk: bytes) -> None:
        """Count the records of a chunk whose first line has this number."""
        data = self._tabbed(chunk)
        if not data.endswith(b"\n"):
            if not self._is_whole(data):
                self.runs[-1].is_cut = True
                return
            data += b"\n"
        table = _Table(data, self._layout_of(data))
        if table.has_run:
            for start, piece in _pieces(number, data):
                self._begin(piece)
                self._count(start, piece, _Table(piece, self._layout_of(piece)))
        else:
            self._count(number, data, table)

    def _tabbed(self, chunk: bytes) -> bytes:
        if self.has_tabs is None:
            self.has_tabs = chunk.startswith(tuple(f"{kind}\t".encode() for kind in KINDS))
        if self.has_tabs:
            has_returns = chunk[: chunk.find(b"\n")].endswith(b"\r")
            return chunk.replace(b"\r\n", b"\n") if has_returns else chunk
        lines = chunk.decode(errors="replace").split("\n")
        return "\n".join(tabbed(line) for line in lines).encode()

    def _layout_of(self, data: bytes) -> Layout | None:
        if self.layout is None:
            lines = data.decode(errors="replace").split("\n")
            layouts = (layout_of(line.split("\t")) for line in lines)
            self.layout = next((layout for layout in layouts if layout), None)
        return self.layout

    def _begin(self, piece: bytes) -> None:
        """Begin a run where the first line is the record of one."""
        cells = piece.split(b"\n", 1)[0].decode(errors="replace").split("\t")
        if not is_run(cells):
            return
        if self.runs[-1].is_begun:
            if len(self.runs) == MOST_RUNS:
                raise FormatError(
                    f"The Gatling log has more than {MOST_RUNS} runs.",
                    found=f"record RUN number {MOST_RUNS + 1}",
                    expected=f"at most {MOST_RUNS} runs: send the logs apart",
                )
            self.runs.append(_Run())
            self.layout = None
        self.runs[-1].is_begun = True
        self.runs[-1].version = version_of(cells)

    def _is_whole(self, data: bytes) -> bool:
        """Whether a last line without its line feed has nothing that may be cut off."""
        cells = data.decode(errors="replace").split("\t")
        if not data.strip() or is_prompt(cells[0]):
            return True
        if self.layout is None or layout_of(cells) != self.layout:
            return kind_of(cells) == "USER" and len(cells[-1]) == 13 and cells[-1].isdigit()
        message = cells[self.layout.status + 1 :]
        return cells[self.layout.status] == "OK" or (
            len(message) == 1 and message[0] in self.runs[-1].texts
        )

    def _count(self, number: int, piece: bytes, table: _Table) -> None:
        if table.is_sound:
            self.before = REQUESTS[0]
        else:
            self._refuse(number, piece)
        self.runs[-1].count(table.rows)
        if table.has_errors:
            self.runs[-1].count_errors(piece)

    def _refuse(self, number: int, piece: bytes) -> None:
        """Refuse what is no record, behind the first one."""
        for position, line in enumerate(piece.decode(errors="replace").split("\n")):
            cells = line.split("\t")
            kind = kind_of(cells)
            is_bad = self.layout is not None and not fits(cells, self.layout)
            # The text of an ERROR is written as it is, with its line feeds.
            may_be = not line.strip() or is_prompt(line) or self.before in ("", "ERROR")
            if (kind in REQUESTS and is_bad) or (not kind and not may_be):
                raise _broken(number + position, line)
            self.before = kind or self.before


def _pieces(number: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of a chunk, a piece for each run, with the number of the first."""
    begin, at = 0, data.find(RUN_CELL, 1)
    while at >= 0:
        first = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        line = data[first:end].decode(errors="replace")
        if first > begin and is_run(line.split("\t")):
            yield number, data[begin:first]
            number += data.count(b"\n", begin, first)
            begin = first
        # One look at a line, however often it has the cell.
        at = data.find(RUN_CELL, end) if end >= 0 else -1
    yield number, data[begin:]


class _Table:
    """The records of a piece of the log, by their cells."""

    def __init__(self, piece: bytes, layout: Layout | None) -> None:
        # A piece without a request is of any layout.
        self.layout = layout or LAYOUTS[0]
        frame = self._frame(piece)
        kinds = frame["kind"]
        self.has_run = bool((kinds == "RUN").any())
        self.has_errors = bool((kinds == "ERROR").any())
        requests = frame.filter(kinds.is_in(REQUESTS))
        self.rows = self._sound(requests)
        self.is_sound = kinds.is_in(KINDS).sum() == len(frame) and len(self.rows) == len(requests)

    def _frame(self, piece: bytes) -> pl.DataFrame:
        """The kind of each record, and a request's start and end in ms, status and message."""
        import polars as pl

        layout = self.layout
        names = {"kind": layout.kind, "start": layout.start, "end": layout.end}
        behind = ("status", "message", "extra", "more")
        names |= {name: layout.status + at for at, name in enumerate(behind)}
        times = (layout.start, layout.end)
        cells = pl.scan_csv(
            piece,
            separator="\t",
            has_header=False,
            quote_char=None,
            encoding="utf8-lossy",
            schema={
                str(at): pl.Int64 if at in times else pl.String for at in range(layout.status + 4)
            },
            # Other records have other cells there, and fewer or more.
            ignore_errors=True,
            truncate_ragged_lines=True,
            extra_columns="ignore",
            missing_columns="insert",
        )
        return cells.select(pl.col(str(at)).alias(name) for name, at in names.items()).collect()

    def _sound(self, requests: pl.DataFrame) -> pl.DataFrame:
        duration = requests["end"] - requests["start"]
        sound = duration.is_between(0, LONGEST_MS) & requests["status"].is_in(STATUSES)
        sound &= requests["start"] >= 0
        if self.layout.has_extra:
            # Of two rows that ran into one, the message ends with the kind of the second.
            sound &= ~requests["message"].str.contains(ENDS_WITH_KIND).fill_null(value=False)
        else:
            # An empty cell is null, too: of two rows that ran into one, the next is not empty.
            sound &= requests["extra"].is_null() & requests["more"].is_null()
        return requests.filter(sound.fill_null(value=False))


class _Run:
    def __init__(self) -> None:
        self.gathering = Gathering()
        self.version: str | None = None
        self.is_begun = self.is_cut = False
        self.samples = self.ok = self.unknown = 0
        self.texts: Counter[str] = Counter()
        self.crashes: Counter[str] = Counter()
        self.classes: Counter[str] = Counter()

    def count(self, rows: pl.DataFrame) -> None:
        """Count requests: start and end in ms, status OK or KO, message."""
        import polars as pl

        if not len(rows):
            return
        self.is_begun = True
        ok = rows["status"] == "OK"
        messages = rows["message"].fill_null("").str.strip_chars(" ")
        failed = messages.filter(~ok).value_counts().rows()
        answered = [text for text, _ in failed if is_check(text)]
        responded = ok | messages.is_in(pl.Series(answered, dtype=pl.String).implode())
        self._count_texts(dict(failed))
        self.samples += len(rows)
        self.ok += int(ok.sum())
        start = rows["start"].to_numpy()
        milliseconds = rows["end"].to_numpy() - start
        self.gathering.add(
            milliseconds * 1000,
            start_s=start / 1000,
            failed=~ok.to_numpy(),
            responded=responded.to_numpy(),
            # Gatling's own figures are of all requests.
            timed=np.ones(len(rows), dtype=bool),
        )

    def count_errors(self, piece: bytes) -> None:
        """Count what the test could not send, which is no request."""
        for line in piece.split(b"\n"):
            if line.startswith(b"ERROR\t"):
                self.crashes[line.decode(errors="replace").split("\t")[1]] += 1

    def _count_texts(self, failed: dict[str, int]) -> None:
        for text, count in failed.items():
            kind = error_class(text)
            self.classes[kind] += count
            self.unknown += count if kind == "other" and not is_check(text) else 0
            if text in self.texts or len(self.texts) < MOST_TEXTS:
                self.texts[text] += count

    def trial(self) -> ParsedTrial:
        times = self.gathering
        return ParsedTrial(
            tool_version=self.version,
            loop=None,
            elapsed_s=times.elapsed_s(3),
            requests_completed=None if self.unknown else times.completed,
            requests_ok=self.ok,
            attempts=self.samples + self.crashes.total(),
            failed=self.samples - self.ok + self.crashes.total(),
            errors=self._errors(),
            tool_errors=dict(sorted((self.texts + self.crashes).items())),
            latency=times.latency,
            incomplete=self.is_cut,
            **times.sampled(RESOLUTION_US, samples=self.samples),
        )

    def _errors(self) -> dict[str, int | None]:
        counts = self.classes + Counter(other=self.crashes.total())
        # No text of Gatling means a failed write alone, so 0 seen does not mean 0 failed writes.
        return {**by_class({}), **counts}


def _broken(line: int, found: str) -> FormatError:
    return FormatError(
        "The Gatling log has a damaged line.", line=line, found=found, expected=EXPECTED
    )
