"""k6's logs of every measurement: --out json (a JSON object a line) and --out csv."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import orjson

from backend.formats.k6.requests import DURATION, Requests
from backend.formats.logs import Table, line_chunks
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.text import Source

if TYPE_CHECKING:
    import polars as pl

# Where a log may begin, behind prompts and what else a terminal shows.
HEAD_LINES = 200
CSV_START = "metric_name,timestamp,metric_value"
TAGS = ("status", "error", "error_code", "expected_response", "url")
# Metrics of which only the values are of interest, and what is counted of them.
COUNTED = ("http_reqs", "data_received", "iterations", "dropped_iterations", "checks")
NO_LINE = "\x01"


def is_ndjson(source: Source) -> bool:
    """Whether this is a --out json file."""
    marks = ('"type":"Point"', '"type":"Metric"', '"type": "Point"', '"type": "Metric"')
    if not any(mark in source.text for mark in marks):
        return False
    return any(_is_point(line) for line in source.text.split("\n", HEAD_LINES)[:HEAD_LINES])


def _is_point(line: str) -> bool:
    if not line.startswith('{"') or '"metric"' not in line:
        return False
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return value.get("type") in ("Point", "Metric") and isinstance(value.get("data"), dict)


def is_csv(source: Source) -> bool:
    """Whether this is a --out csv file."""
    return CSV_START in source.text and bool(_header(source))


def _header(source: Source) -> str:
    heads = (line.strip() for line in source.text.split("\n", HEAD_LINES)[:HEAD_LINES])
    return next((line for line in heads if line.startswith(CSV_START)), "")


def read_ndjson(source: Source) -> ParsedTrial:
    """The requests of a --out json file: its http_req_duration points, and what belongs to them."""
    requests = Requests()
    spaced = '"metric": "' in source.text
    was_cut = False
    for number, chunk in line_chunks(source):
        if not chunk.endswith(b"\n") and not _is_json(chunk):
            was_cut = True
            continue
        points = _Points(number, chunk, '"metric": "%s"' if spaced else '"metric":"%s"')
        for name in COUNTED:
            requests.count(name, points.values(name))
        requests.add(points.durations())
    return requests.trial(was_cut=was_cut)


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


class _Points:
    """The lines of a chunk; only those of a metric that is asked for are decoded."""

    def __init__(self, number: int, chunk: bytes, mark: str) -> None:
        # polars takes most of a second to import, and most uploads are small texts.
        import polars as pl

        self.pl, self.number, self.chunk, self.mark = pl, number, chunk, mark
        lines = pl.scan_csv(
            chunk,
            separator=NO_LINE,
            has_header=False,
            schema={"line": pl.String},
            quote_char=None,
            encoding="utf8-lossy",
        )
        try:
            self.lines = lines.collect()["line"]
        except pl.exceptions.PolarsError:
            raise FormatError(
                "The k6 log has lines that cannot be read.",
                line=number,
                expected="a JSON object in each line",
            ) from None

    def durations(self) -> pl.DataFrame:
        """The requests: end_s, milliseconds and the tags, a row each."""
        frame = self._decoded(DURATION, TAGS)
        times = frame["time"].str.to_datetime("%+", time_unit="ns", time_zone="UTC", strict=False)
        return frame.with_columns(end_s=times.dt.epoch("ns") / 1e9, milliseconds=frame["value"])

    def values(self, name: str) -> pl.Series:
        """The values of a metric's points."""
        return self._decoded(name, ())["value"]

    def _decoded(self, name: str, tags: tuple[str, ...]) -> pl.DataFrame:
        pl = self.pl
        data = {"time": pl.String, "value": pl.Float64}
        if tags:
            data["tags"] = pl.Struct(dict.fromkeys(tags, pl.String))
        schema = pl.Struct({"metric": pl.String, "type": pl.String, "data": pl.Struct(data)})
        chosen = self.lines.filter(self.lines.str.contains(self.mark % name, literal=True))
        try:
            decoded = chosen.str.json_decode(schema).struct.unnest()
        except pl.exceptions.PolarsError:
            raise self._bad_line(name) from None
        points = decoded.filter(pl.col("metric") == name, pl.col("type") == "Point")
        columns = points["data"].struct.unnest()
        return columns.unnest("tags") if tags else columns

    def _bad_line(self, name: str) -> FormatError:
        expected = f'a JSON object with a number as "value": a point of {name}'
        for position, line in enumerate(self.chunk.split(b"\n")):
            if (self.mark % name).encode() in line and not _is_good_point(line):
                return FormatError(
                    "The k6 log has a damaged line.",
                    line=self.number + position,
                    found=line.decode(errors="replace"),
                    expected=expected,
                )
        return FormatError(
            "The k6 log has lines that cannot be read.", line=self.number, expected=expected
        )


def _is_good_point(line: bytes) -> bool:
    try:
        value = orjson.loads(line)
        if value["type"] == "Point":
            float(value["data"]["value"])
    except (ValueError, TypeError, KeyError):
        return False
    return True


def read_csv(source: Source) -> ParsedTrial:
    """The requests of a --out csv file: its http_req_duration rows, and what belongs to them."""
    header = _header(source)
    names = header.split(",")
    kinds = {"metric_name": str, "timestamp": str, "metric_value": float}
    tags = {name: str for name in TAGS if name in names}
    _refuse_twins(header, names)
    table = Table(tool="k6", header=header, separator=",", columns={**kinds, **tags})
    requests = Requests()
    for frame in table.frames(source):
        by_metric = frame.partition_by("metric_name", as_dict=True)
        for name in COUNTED:
            if (name,) in by_metric:
                requests.count(name, by_metric[name,]["metric_value"])
        if (DURATION,) in by_metric:
            requests.add(_as_requests(by_metric[DURATION,]))
    return requests.trial(was_cut=False)


def _refuse_twins(header: str, names: list[str]) -> None:
    twins = [name for name, times in Counter(names).items() if times > 1]
    if twins:
        raise FormatError(
            "The header of the k6 log names a column twice.",
            found=header,
            expected="each column once",
        )


def _as_requests(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    missing = [pl.lit(None, pl.String).alias(name) for name in TAGS if name not in rows.columns]
    return rows.with_columns(
        *missing, end_s=_seconds(rows["timestamp"]), milliseconds=rows["metric_value"]
    )


def _seconds(stamps: pl.Series) -> pl.Series:
    """Seconds since 1970 of a time in s, ms, µs or ns since then, or in RFC 3339."""
    import polars as pl

    if not stamps[0] or not stamps[0].isdigit():
        times = stamps.str.to_datetime("%+", time_unit="ns", time_zone="UTC", strict=False)
        return times.dt.epoch("ns") / 1e9
    # Seconds have ten digits until the year 2286; three more are ms, six µs, nine ns. What is
    # longer is no time, and becomes null.
    per_second = 10 ** min(max(0, len(stamps[0]) - 10), 9)
    seconds: pl.Series = stamps.cast(pl.Int64, strict=False) / per_second
    return seconds
