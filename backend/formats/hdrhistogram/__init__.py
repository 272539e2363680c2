"""HdrHistogram's own files (.hgrm percentile distributions, interval logs of HistogramLogWriter).

Loop: unknown. Latency unit: the files have no place for it (nanoseconds and microseconds are both
usual, and the ratio of a log's maxima tells neither), so it is believed only where a comment ("#
unit: us") or the head of the values ("Value [us]") states it. Without it the figures are kept in
the file's own unit beside the trial and never become latencies. Success: unknown. Every value in
a log counts as a completed request; a distribution's total does not, for tools leave requests out
of it (wrk2 those of its calibration). Percentiles: HdrHistogram's, the highest value equivalent to
the one at the rank. An interval log gives counts over time, and with a unit latencies too.
"""

from collections.abc import Sequence

from backend.formats.hdrhistogram.log import HEAD, LEGEND, is_log_line, read_log
from backend.formats.hdrhistogram.unit import stated_unit_us
from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import scaled
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.spectrum import Spectrum, is_header, read_spectrum
from backend.formats.text import Line, Source, blocks

MARKS = ("1/(1-Percentile)", HEAD, LEGEND, ",HIST")
FIGURE_MARKS = (",HIST", "1/(1-Percentile)")
ENDS = ("#[Buckets",)


def claims(source: Source) -> str | None:
    """Why this is HdrHistogram's own file, or None."""
    if "HdrHistogram - " in source.text:
        return None  # wrk2's, which prints such a distribution in its report
    for line in source.lines:
        if is_log_line(line):
            return f"line {line.number} is of a histogram log"
        if _is_head(line):
            return f"line {line.number} is the head of a percentile distribution"
    return None


def _is_head(line: Line) -> bool:
    return is_header(line) and line.words[0] != "Value(ms)"  # vegeta's, without figures below


def read(sources: Sequence[Source]) -> list[Entry]:
    """A trial for each distribution and for each log."""
    return [entry for source in sources for entry in _entries(source)]


def _entries(source: Source) -> list[Entry]:
    if not any(is_log_line(line) for line in source.lines):
        starts = [at for at, line in enumerate(source.lines) if is_header(line)]
        heads = source.lines[: starts[0]] if starts else []
        return [
            of_lines(read_or_refuse(_distribution, [*heads, *block], block), block)
            for block in blocks(source.lines, starts)
        ]
    return [read_or_refuse(read_log, source)]


def _distribution(stating: Sequence[Line], block: Sequence[Line]) -> ParsedTrial:
    spectrum, unit_us = read_spectrum(block), stated_unit_us(stating)
    has_unit = unit_us is not None and spectrum.total > 0
    return ParsedTrial(
        loop=None,
        latency=_latency(spectrum, unit_us) if has_unit and unit_us else Latency(),
        latency_origin="histogram" if has_unit else None,
        latency_resolution_us=max(1.0, unit_us / 1000) if has_unit and unit_us else None,
        histogram=spectrum.histogram(unit_us=unit_us) if has_unit and unit_us else None,
        extra={"spectrum": spectrum.as_dict(unit=1, suffix="")},
    )


def _latency(spectrum: Spectrum, unit_us: float) -> Latency:
    figures = (spectrum.mean, spectrum.stdev, spectrum.largest)
    mean, stdev, largest = (scaled(figure, unit_us) for figure in figures)
    return Latency(mean_us=mean, stdev_us=stdev, max_us=largest)
