"""tsung.dump with protocol or protocol_local: a line for every request."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from backend.formats.logs import line_chunks
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import LONGEST_MS
from backend.formats.statuses import failed, succeeded
from backend.formats.text import Source
from backend.formats.timeline import Gathering

if TYPE_CHECKING:
    import polars as pl

HEADER = "#date;pid;id;"
RESOLUTION_US = 1
HEAD_LINES = 50
# What has as many is a row, and damaged if it is read as none.
LEAST_CELLS = 6
NO_STATUS = "error_no_http_status"
# Matched in linear time. A path may hold semicolons: the columns after it count from the end.
ROW = (
    r"^(?<date>[0-9]{9,11}(?:\.[0-9]+)?);<[^;>]*>;[^;]*;[a-z]+;[^;]*;.*"
    r";(?<status>[0-9]{3}|error_no_http_status);(?<size>[0-9]{1,15});(?<ms>[0-9]+(?:\.[0-9]+)?)"
    r";[^;]*;[^;]*;(?<error>[^;]*);[^;]*\r?$"
)
EXPECTED = "date;pid;user;method;host;path;status;size;duration;transaction;match;error;tag"


def is_dump(source: Source) -> bool:
    """Whether this is a tsung.dump of requests."""
    lines = source.text.split("\n", HEAD_LINES)[:HEAD_LINES]
    return any(line.startswith(HEADER) or _is_row(line.rstrip("\r")) for line in lines)


def _is_row(line: str) -> bool:
    cells = line.split(";")
    return (
        len(cells) >= 13
        and cells[0].replace(".", "", 1).isdigit()
        and cells[1].startswith("<")
        and cells[3].isalpha()
        and (cells[-7].isdigit() or cells[-7] == NO_STATUS)
    )


def read_dump(source: Source) -> ParsedTrial:
    """Every request; raises FormatError for a damaged row."""
    requests = _Requests()
    for number, chunk in line_chunks(source):
        if chunk.endswith(b"\n"):
            requests.add(number, chunk)
        elif _is_row(chunk.decode(errors="replace").rstrip("\r")):
            # The last cells are mostly empty, so this row may still lack the end of one.
            requests.add(number, chunk)
    return requests.trial()


class _Requests:
    def __init__(self) -> None:
        self.gathering = Gathering()
        self.statuses: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.rows = self.bytes = self.total_us = 0
        self.lowest_us: int | None = None
        self.highest_us = 0
        self.begun = False

    def add(self, number: int, chunk: bytes) -> None:
        """Count the rows of a chunk whose first line has this number."""
        import polars as pl

        lines = pl.Series("line", chunk.decode(errors="replace").rstrip("\n").split("\n"))
        cells = lines.str.extract_groups(ROW).struct.unnest()
        self._refuse_others(number, lines, cells["date"])
        rows = cells.filter(cells["date"].is_not_null())
        if len(rows):
            self.begun = True
            self._count(rows)

    def _refuse_others(self, number: int, lines: pl.Series, dates: pl.Series) -> None:
        """Refuse what is no row; comments and blank lines may be there, and text before."""
        rows = dates.is_not_null().arg_true()
        begins = -1 if self.begun else (rows[0] if len(rows) else len(lines))
        for position in dates.is_null().arg_true():
            line = lines[position]
            is_damaged = position > begins or line.count(";") >= LEAST_CELLS
            if is_damaged and line.strip() and not line.startswith("#"):
                raise FormatError(
                    "The tsung dump has a damaged line.",
                    line=number + position,
                    found=line,
                    expected=EXPECTED,
                )

    def _count(self, rows: pl.DataFrame) -> None:
        import polars as pl

        milliseconds = rows["ms"].cast(pl.Float64).to_numpy()
        if milliseconds.max() > LONGEST_MS:
            raise FormatError(
                "The tsung dump has an impossible duration.",
                found=f"{milliseconds.max()} ms",
                expected="at most a month",
            )
        microseconds = (milliseconds * 1000).round().astype("int64")
        self.rows += len(rows)
        self.bytes += int(rows["size"].cast(pl.Int64).sum())
        self.total_us += int(microseconds.sum())
        lowest = int(microseconds.min())
        self.lowest_us = lowest if self.lowest_us is None else min(lowest, self.lowest_us)
        self.highest_us = max(self.highest_us, int(microseconds.max()))
        self.statuses.update(dict(rows["status"].value_counts().rows()))
        self.errors.update(dict(rows["error"].value_counts().rows()))
        status = rows["status"].cast(pl.Int64, strict=False)
        answered = rows["status"] != NO_STATUS
        ok = status.is_between(200, 399).fill_null(value=False)
        # A row is written when its response is there.
        ends_s = rows["date"].cast(pl.Float64).to_numpy()
        self.gathering.add(
            microseconds,
            start_s=ends_s - microseconds / 1e6,
            failed=~ok.to_numpy(),
            responded=answered.to_numpy(),
        )

    def trial(self) -> ParsedTrial:
        if not self.rows or self.lowest_us is None:
            raise FormatError("The tsung dump has no request.", found="", expected=EXPECTED)
        unanswered = self.statuses.pop(NO_STATUS, 0)
        named = {name: count for name, count in self.errors.items() if name}
        without = {NO_STATUS: unanswered} if unanswered else {}
        return ParsedTrial(
            loop="open",
            requests_completed=self.statuses.total(),
            requests_ok=succeeded(self.statuses),
            bytes_received=self.bytes,
            errors={"read": unanswered, "status": failed(self.statuses)},
            tool_errors={**named, **without},
            status_counts=dict(sorted(self.statuses.items())),
            latency=Latency(
                mean_us=round(self.total_us / self.rows, 3),
                min_us=self.lowest_us,
                max_us=self.highest_us,
            ),
            **self.gathering.sampled(RESOLUTION_US, samples=self.rows),
        )
