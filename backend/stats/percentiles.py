"""The latency percentiles computed from every histogram, stored, and offered as metrics."""

from backend.stats.histogram import Histogram

# Written as in the keys of figures.
STORED_PERCENTILES = ("50", "75", "90", "95", "99", "99.9")


def stored_percentiles(histogram: Histogram) -> dict[str, float | None]:
    """{"50": …, "99.9": …} in µs; None if the histogram is empty."""
    values = histogram.percentiles([float(key) for key in STORED_PERCENTILES])
    return dict(zip(STORED_PERCENTILES, values, strict=True))
