"""ab's report read together with its -g and -e files: the richest gives the figures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from backend.formats.ab.files import read_csv, read_tsv
from backend.formats.model import ParsedTrial
from backend.formats.text import Source
from backend.formats.together import with_samples
from backend.stats import Histogram

# Report and rows are rounded to whole ms, each by itself.
ROUNDING_US = 1000
# Of the histogram's three digits.
PRECISION = 0.001


def with_files(
    trial: ParsedTrial, tables: Sequence[Source], curves: Sequence[Source]
) -> ParsedTrial:
    """The report's figures with the rows' samples; where they contradict each other is noted."""
    if curves:
        contradictions = _curve_disagreements(trial, read_csv(curves[0]))
        trial = replace(trial, disagreements=(*trial.disagreements, *contradictions))
    if not tables:
        return trial
    rows = read_tsv(tables[0])
    return with_samples(trial, rows, _row_disagreements(trial, rows))


def _row_disagreements(trial: ParsedTrial, rows: ParsedTrial) -> Iterator[str]:
    """Figures of the report that its -g file does not have: the rows are of another run."""
    if rows.samples != trial.requests_completed:
        yield (
            f"the report says {trial.requests_completed} complete requests, "
            f"the -g file has {rows.samples} rows"
        )
        return
    for name in ("min", "mean", "max"):
        printed = getattr(trial.latency, f"{name}_us")
        measured = getattr(rows.histogram, f"{name}_us")
        if printed is not None and _differs(printed, measured):
            yield (
                f"the {name} is {printed / 1000:g} ms in the report and "
                f"{measured / 1000:.4g} ms in the -g file"
            )
    for key, printed in trial.latency.percentiles.items():
        measured = _sorted_value(rows.histogram, float(key))
        if _differs(printed, measured):
            yield (
                f"p{key} is {printed / 1000:g} ms in the report and "
                f"{measured / 1000:.4g} ms in the -g file"
            )


def _differs(printed: float, measured: float) -> bool:
    return abs(printed - measured) > ROUNDING_US + measured * PRECISION


def _sorted_value(histogram: Histogram | None, percent: float) -> float:
    """The value that ab calls this percentile: number floor(n·p/100) from 0, in µs."""
    if histogram is None:
        return 0.0
    count = histogram.count
    rank = min(int(count * percent / 100), count - 1) + 1
    return histogram.percentile((rank - 0.5) / count * 100) or 0.0


def _curve_disagreements(trial: ParsedTrial, curve: ParsedTrial) -> list[str]:
    """Percentiles of report and CSV that differ by more than the report's rounding."""
    return [
        f"p{key} is {value / 1000:g} ms in the report and "
        f"{curve.latency.percentiles[key] / 1000:g} ms in the -e file"
        for key, value in trial.latency.percentiles.items()
        if key in curve.latency.percentiles
        and abs(curve.latency.percentiles[key] - value) > 1000 + value / 100
    ]
