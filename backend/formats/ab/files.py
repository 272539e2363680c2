"""ab's two extra files: -g (TSV, a row per request) and -e (CSV, 0 to 100 %)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from backend.formats.logs import Table, line_chunks
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import LONGEST_MS, parse_number
from backend.formats.text import HEAD_BYTES, Source
from backend.formats.timeline import Gathering

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("starttime", "seconds", "ctime", "dtime", "ttime", "wait")
FIRST_LINES = 20
# Of "Sat Nov 21 02:53:22 2026".
DATE_WORDS = 5
CSV_HEADER = "Percentage served,Time in ms"


def is_request_tsv(source: Source) -> bool:
    """Whether this is an ab -g file."""
    return _header(source) is not None


def _header(source: Source) -> str | None:
    """The line that names the columns: at least ab's, in any order."""
    if COLUMNS[0] not in source.text[:HEAD_BYTES]:
        return None
    lines = source.text[:HEAD_BYTES].split("\n", FIRST_LINES)[:FIRST_LINES]
    return next((line.strip() for line in lines if {*line.split()} >= {*COLUMNS}), None)


def is_percentile_csv(source: Source) -> bool:
    """Whether this is an ab -e file."""
    return source.first_line == CSV_HEADER


def read_tsv(source: Source) -> ParsedTrial:
    """Every request's total time. Rows are sorted by it, so they are no time series."""
    header = _header(source) or ""
    requests = Gathering()
    for frame in _frames(source, header):
        times_ms = frame["ttime"].to_numpy()
        if frame["ttime"].null_count() or times_ms.min() < 0 or times_ms.max() > LONGEST_MS:
            raise _bad_time(times_ms.max())
        requests.add(times_ms * 1000)
    if not requests.completed:
        raise FormatError("The ab -g file has no rows.", expected="rows of six cells")
    return ParsedTrial(
        requests_completed=requests.completed,
        **requests.sampled(1000),
    )


def _frames(source: Source, header: str) -> Iterator[pl.DataFrame]:
    """The column of total times, a chunk at a time."""
    names = header.split("\t") if "\t" in header else header.split()
    table = Table(tool="ab", header="\t".join(names), separator="\t", columns={"ttime": int})
    # In a last row without its line feed the last cell may lack digits.
    if "\t" in header and names[-1] != "ttime":
        yield from table.frames(source)
        return
    begun = False
    for first, chunk in line_chunks(source):
        if not chunk.endswith(b"\n"):
            break
        lines = chunk.splitlines()
        start = 0 if begun else _behind(lines, header)
        begun = True
        rows = [line if b"\t" in line else _with_tabs(line, names) for line in lines[start:]]
        if rows:
            yield table.read_rows(first + start, b"\n".join(rows))


def _behind(lines: Sequence[bytes], header: str) -> int:
    """The position behind the header, which is among the first lines."""
    texts = (line.decode(errors="replace").strip() for line in lines)
    return next((at for at, text in enumerate(texts, 1) if text == header), 0)


def _with_tabs(row: bytes, names: Sequence[str]) -> bytes:
    """A row whose tabs became spaces; the date has spaces of its own."""
    words, at = row.split(), names.index(COLUMNS[0])
    end = at + DATE_WORDS
    return b"\t".join([*words[:at], b" ".join(words[at:end]), *words[end:]])


def _bad_time(found: object) -> FormatError:
    return FormatError(
        "The ab -g file has an impossible total time.",
        found=str(found),
        expected="whole ms in each row, at most a month",
    )


def read_csv(source: Source) -> ParsedTrial:
    """The percentiles 0 to 100, in µs."""
    points: dict[str, float] = {}
    for line in source.lines[1:]:
        if not line.text:
            continue
        cells = [parse_number(cell) for cell in line.text.split(",")]
        if len(cells) != 2 or cells[0] is None or cells[1] is None or cells[0] > 100:
            raise line.refusal(
                "The ab -e file has a damaged row.",
                expected="a percentage and a time in ms, such as 50,28.585",
            )
        points[f"{cells[0]:g}"] = round(cells[1] * 1000, 6)
    if not points:
        raise FormatError("The ab -e file has no rows.", expected="rows such as 50,28.585")
    return ParsedTrial(
        latency=Latency(min_us=points.get("0"), max_us=points.get("100"), percentiles=points),
        latency_origin="percentiles",
        latency_resolution_us=1,
        incomplete="100" not in points,
    )
