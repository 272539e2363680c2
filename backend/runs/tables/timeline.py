"""The time series of a trial: its slices as they are stored, and as they are answered."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from backend.formats.model import TimeSlice
from backend.stats import Histogram


def pack_slices(slices: Sequence[TimeSlice]) -> bytes:
    """zlib over the JSON list of slices; a histogram is compressed HdrHistogram in base64."""
    rows = msgspec.to_builtins(slices)
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode())


def unpack_slices(packed: bytes | memoryview) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(zlib.decompress(packed))
    return rows


def describe_slice(row: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of one slice and its latency in µs, from the histogram where there is one."""
    encoded = row.get("histogram")
    histogram = Histogram.decode(base64.b64decode(encoded)) if encoded else None
    printed = row.get("percentiles") or {}
    return {
        "start_s": row["start_s"],
        "length_s": row["length_s"],
        "completed": row["completed"],
        "failed": row["failed"],
        # The tool's own rate, where it gives no count.
        "reported_rps": row.get("reported_rps"),
        "p50_us": histogram.percentile(50) if histogram else printed.get("50"),
        "p99_us": histogram.percentile(99) if histogram else printed.get("99"),
        "max_us": histogram.max_us if histogram else printed.get("100"),
    }
