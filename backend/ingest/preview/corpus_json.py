"""What the formats read, as JSON in the shape of the corpus contract."""

from typing import Any

from backend.formats import FormatError
from backend.formats.model import Entry
from backend.formats.read_trial import latency_of
from backend.stats import Histogram


def as_corpus_json(entry: Entry) -> dict[str, Any]:
    """A trial, or why there is none."""
    if isinstance(entry, FormatError):
        return {"error": str(entry)}
    shown = entry.as_dict()
    if entry.histogram is not None and entry.histogram.count:
        shown["computed_us"] = _figures(entry.histogram)
    return shown


def _figures(histogram: Histogram) -> dict[str, Any]:
    latency = latency_of(histogram)
    return {
        "count": histogram.count,
        "mean": latency.mean_us,
        "min": latency.min_us,
        "max": latency.max_us,
        "percentiles": latency.percentiles,
    }
