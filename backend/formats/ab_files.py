"""ab's two extra files: -g (TSV, a row per request) and -e (CSV, 0 to 100 %)."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import Source, number

NAME = "ab"
# A request of a month is a damaged row; in µs more would not fit 64 bits.
LONGEST_MS = 31 * 24 * 3600 * 1000
TSV_COLUMNS = [b"starttime", b"seconds", b"ctime", b"dtime", b"ttime", b"wait"]
CSV_HEADER = b"Percentage served,Time in ms"
BOM = b"\xef\xbb\xbf"


def _first_line(source: Source) -> bytes:
    return source.artefact.data[:200].removeprefix(BOM).split(b"\n")[0].strip()


def is_request_tsv(source: Source) -> bool:
    """Whether this is an ab -g file."""
    return _first_line(source).split() == TSV_COLUMNS


def is_percentile_csv(source: Source) -> bool:
    """Whether this is an ab -e file."""
    return _first_line(source) == CSV_HEADER


def read_tsv(source: Source) -> ParsedTrial:
    """Every request's total time. Rows are sorted by it, so they are no time series."""
    samples_us = _total_times_ms(source) * 1000
    return ParsedTrial(
        tool=NAME,
        requests_completed=len(samples_us),
        latency=Latency(
            mean_us=float(samples_us.mean()),
            min_us=float(samples_us.min()),
            max_us=float(samples_us.max()),
        ),
        latency_origin="samples",
        latency_resolution_us=1000,
        samples=len(samples_us),
        samples_us=samples_us,
    )


def _total_times_ms(source: Source) -> NDArray[np.int64]:
    # polars takes most of a second to import, and most uploads are small texts.
    import polars as pl

    data = source.artefact.data.removeprefix(BOM)
    try:
        column = pl.read_csv(
            io.BytesIO(data),
            separator="\t",
            columns=["ttime"],
            schema_overrides={"ttime": pl.Int64},
            quote_char=None,
        )["ttime"]
    except (pl.exceptions.PolarsError, ValueError) as wrong:
        raise _bad_row(source, str(wrong).split("\n")[0]) from None
    if not len(column) or column.null_count():
        raise _bad_row(source, "a row without its total time")
    times_ms: NDArray[np.int64] = column.to_numpy().astype(np.int64)
    if times_ms.min() < 0 or times_ms.max() > LONGEST_MS:
        raise _bad_row(source, "a total time below 0 or above a month")
    return times_ms


def _bad_row(source: Source, found: str) -> FormatError:
    for line in source.lines[1:]:
        cells = line.text.split("\t")
        if line.text and (len(cells) != len(TSV_COLUMNS) or not _is_time_ms(cells[4])):
            return FormatError(
                "The ab -g file has a row that is none.",
                tool=NAME,
                line=line.number,
                found=line.text,
                expected="six cells between tabs, the fifth a whole number of ms",
            )
    return FormatError(
        "The ab -g file has no rows that can be read.",
        tool=NAME,
        found=found,
        expected="rows of six cells between tabs",
    )


def _is_time_ms(cell: str) -> bool:
    value = number(cell)
    return value is not None and value <= LONGEST_MS


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
