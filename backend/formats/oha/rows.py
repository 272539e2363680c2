"""oha's CSV: a row per response, in order of their starts."""

from typing import Any

import numpy as np

from backend.formats.logs import Table
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import LONGEST_S
from backend.formats.oha.errors import errors_of
from backend.formats.statuses import by_status, succeeded
from backend.formats.text import HEAD_BYTES, Source
from backend.formats.timeline import Gathering

RESPONSES = Table(
    tool="oha",
    header="request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status",
    separator=",",
    columns={"request-start": float, "request-duration": float, "bytes": int, "status": int},
)
STATUSES = range(100, 1000)
RESOLUTION_US = 0.001
FIRST_LINES = 20


def is_csv(source: Source) -> bool:
    """Whether this is oha's CSV."""
    lines = source.text[:HEAD_BYTES].split("\n", FIRST_LINES)
    return any(line.strip() == RESPONSES.header for line in lines)


def read_csv(source: Source) -> ParsedTrial:
    """Every response; requests that failed have no row, so that errors are unknown."""
    return _Rows().read(source)


class _Rows:
    """The sums over all rows."""

    def __init__(self) -> None:
        self.requests = Gathering()
        self.codes = np.zeros(STATUSES.stop, dtype=np.int64)
        self.received = 0
        self.total_ns = 0
        self.lowest_ns, self.highest_ns = LONGEST_S * 10**9, 0
        self.start_s, self.end_s = float(LONGEST_S), 0.0
        self.cut = False

    def read(self, source: Source) -> ParsedTrial:
        for frame in RESPONSES.frames(source):
            # A status that lacks digits can only be the last one, where the text is cut off.
            if self.cut:
                raise _bad("a status of less than three digits")
            status = frame["status"][0]
            self.cut = len(frame) == 1 and (status is None or status in range(STATUSES.start))
            if not self.cut:
                self._add(frame)
        if not self.requests.completed:
            raise FormatError("The oha CSV has no rows.", expected="rows of seven cells")
        return self._trial()

    def _add(self, frame: Any) -> None:
        starts, times, sizes, codes = _columns(frame)
        nanoseconds = np.rint(times * 1e9).astype(np.int64)
        self.total_ns += int(nanoseconds.sum())
        self.lowest_ns = min(self.lowest_ns, int(nanoseconds.min()))
        self.highest_ns = max(self.highest_ns, int(nanoseconds.max()))
        self.start_s = min(self.start_s, float(starts.min()))
        self.end_s = max(self.end_s, float((starts + times).max()))
        self.received += int(sizes.sum())
        self.codes += np.bincount(codes, minlength=len(self.codes))
        self.requests.add(times * 1e6, start_s=starts, failed=codes >= 400)

    def _trial(self) -> ParsedTrial:
        codes = by_status(self.codes)
        count = self.requests.completed
        return ParsedTrial(
            # From the first start to the last end.
            elapsed_s=round(self.end_s - self.start_s, 9),
            requests_completed=count,
            requests_ok=succeeded(codes),
            bytes_received=self.received,
            errors=errors_of(None, codes),
            lists_answers_only=True,
            status_counts=codes,
            latency=Latency(
                mean_us=round(self.total_ns / count / 1000, 3),
                min_us=self.lowest_ns / 1000,
                max_us=self.highest_ns / 1000,
            ),
            incomplete=self.cut,
            **self.requests.sampled(RESOLUTION_US),
        )


def _columns(frame: Any) -> list[Any]:
    """Starts and times in s, sizes and statuses; raises FormatError for what no test gives."""
    if any(column.null_count() for column in frame):
        raise _bad("an empty cell")
    starts, times, sizes, codes = (frame[name].to_numpy() for name in RESPONSES.columns)
    for title, seconds in (("start", starts), ("duration", times)):
        # NaN is not within any range.
        if not (seconds.min() >= 0 and seconds.max() < LONGEST_S):
            raise _bad(f"a {title} of {seconds.min()} to {seconds.max()} s")
    if sizes.min() < 0 or codes.min() < STATUSES.start or codes.max() >= STATUSES.stop:
        raise _bad(f"status {codes.min()} to {codes.max()}, bytes {sizes.min()} and up")
    return [starts, times, sizes, codes]


def _bad(found: str) -> FormatError:
    return FormatError(
        "The oha CSV has a damaged row.",
        found=found,
        expected="start and duration in s, at most a month, whole bytes, a status of three digits",
    )
