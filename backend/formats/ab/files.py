"""ab's two extra files: -g (TSV, a row per request) and -e (CSV, 0 to 100 %)."""

from __future__ import annotations

from backend.formats.logs import Table
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import Source, number
from backend.formats.timeline import Gathering

NAME = "ab"
# A request of a month is a damaged row; in µs more would not fit 64 bits.
LONGEST_MS = 31 * 24 * 3600 * 1000
REQUESTS = Table(
    tool=NAME,
    header="starttime\tseconds\tctime\tdtime\tttime\twait",
    separator="\t",
    columns={"ttime": int},
)
CSV_HEADER = "Percentage served,Time in ms"


def is_request_tsv(source: Source) -> bool:
    """Whether this is an ab -g file."""
    return source.first_line == REQUESTS.header


def is_percentile_csv(source: Source) -> bool:
    """Whether this is an ab -e file."""
    return source.first_line == CSV_HEADER


def read_tsv(source: Source) -> ParsedTrial:
    """Every request's total time. Rows are sorted by it, so they are no time series."""
    requests = Gathering()
    for frame in REQUESTS.frames(source):
        times_ms = frame["ttime"].to_numpy()
        if frame["ttime"].null_count() or times_ms.min() < 0 or times_ms.max() > LONGEST_MS:
            raise _bad_time(times_ms.max())
        requests.add(times_ms * 1000)
    if not requests.completed:
        raise FormatError("The ab -g file has no rows.", tool=NAME, expected="rows of six cells")
    return ParsedTrial(
        tool=NAME,
        requests_completed=requests.completed,
        latency_origin="samples",
        latency_resolution_us=1000,
        samples=requests.completed,
        histogram=requests.histogram,
    )


def _bad_time(found: object) -> FormatError:
    return FormatError(
        "The ab -g file has a total time that no clock gives.",
        tool=NAME,
        found=str(found),
        expected="whole ms in each row, at most a month",
    )


def read_csv(source: Source) -> ParsedTrial:
    """The percentiles 0 to 100, in µs."""
    points: dict[str, float] = {}
    for line in source.lines[1:]:
        if not line.text:
            continue
        cells = [number(cell) for cell in line.text.split(",")]
        if len(cells) != 2 or cells[0] is None or cells[1] is None or cells[0] > 100:
            raise FormatError(
                "The ab -e file has a row that is none.",
                tool=NAME,
                line=line.number,
                found=line.text,
                expected="a percentage and a time in ms, as 50,28.585",
            )
        points[f"{cells[0]:g}"] = round(cells[1] * 1000, 6)
    if not points:
        raise FormatError("The ab -e file has no rows.", tool=NAME, expected="rows as 50,28.585")
    return ParsedTrial(
        tool=NAME,
        latency=Latency(min_us=points.get("0"), max_us=points.get("100"), percentiles=points),
        latency_origin="percentiles",
        latency_resolution_us=1,
        incomplete="100" not in points,
    )
