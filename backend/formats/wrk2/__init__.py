"""wrk2 (text, with and without --latency and -U).

Loop: open, at a constant rate that the report does not name. Without --latency and the lines of
the calibration a report looks like wrk's: the option -R of a command above it tells. Latency unit:
printed per figure (us, ms, s), the spectrum in ms with three decimals. Success: status below 400;
late requests (timeout) can count twice or finish later, so with any the successes are unknown.
Percentiles: HdrHistogram's, counted from when a request should have been sent (corrected); the
spectrum holds fewer requests than the report, since those of the calibration are dropped. With -U a
second distribution counts from when it was sent: it is kept beside, never as the latency.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import parse_duration_us, parse_number
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.spectrum import Spectrum, is_header, read_spectrum
from backend.formats.text import Line, Source
from backend.formats.together import WHOLE_SHARE, read_each
from backend.formats.wrk.report import Report, asks_rate, commands_in, is_wrk2, report_blocks

KEEPS_CONNECTIONS = True
PRINTS_TWO_DECIMALS = True
PERCENTILE_OPTION = "--latency"
MARKS = ("Thread calibration:", "HdrHistogram", "nan", " -R", "--rate")
ENDS = ("Transfer/sec:",)
RECORDED = "HdrHistogram - Recorded Latency"
UNCORRECTED = "HdrHistogram - Uncorrected Latency"
# Before November 2014 the spectrum was in µs.
UNITS_US = (1000.0, 1.0)


def claims(source: Source) -> str | None:
    """Why this is wrk2's output, or None."""
    blocks = report_blocks(source.lines)
    if blocks and is_wrk2(source.text):
        return "a report as wrk prints it, with wrk2's calibration or HdrHistogram lines"
    if blocks and asks_rate(commands_in(source.lines), blocks[0]):
        return "a report as wrk prints it, below a command with wrk2's rate"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources, in order."""
    return read_each(_runs, sources)


def _runs(source: Source) -> list[Entry]:
    commands = commands_in(source.lines)
    return [
        of_lines(read_or_refuse(_trial, block, asks_rate(commands, block)), block)
        for block in report_blocks(source.lines)
    ]


def _trial(block: Sequence[Line], is_below_command: bool) -> ParsedTrial:
    if not is_below_command and not is_wrk2("\n".join(line.text for line in block)):
        raise block[0].refusal(
            "One of these reports may be from wrk: nothing in it is from wrk2 alone.",
            expected="calibration or HdrHistogram lines, or its command with -R above it",
        )
    trial = Report(_without_distributions(block), is_late_waiting=True).trial()
    recorded, uncorrected = _section(block, RECORDED), _section(block, UNCORRECTED)
    percentiles = {**trial.latency.percentiles, **_percentiles(recorded)}
    spectrum = _spectrum(recorded)
    unit = _unit_us(spectrum, trial, block[0]) if spectrum else 0.0
    # Without a mean nothing was recorded, and what is printed are zeros.
    has_latency = trial.requests_completed and trial.latency.mean_us is not None
    return replace(
        trial,
        loop="open",
        latency=replace(trial.latency, percentiles=percentiles) if has_latency else Latency(),
        latency_origin=_origin(trial, spectrum, percentiles) if has_latency else None,
        latency_resolution_us=1 if spectrum else trial.latency_resolution_us,
        histogram=spectrum.histogram(unit_us=unit, percentiles=percentiles) if spectrum else None,
        partial_samples=_part(trial.requests_completed, spectrum),
        extra={**trial.extra, **_calibration(block), **_extra(spectrum, uncorrected, unit)},
    )


def _unit_us(spectrum: Spectrum, trial: ParsedTrial, head: Line) -> float:
    """The spectrum's unit: that in which its mean is the one of the Latency row."""
    mean, row, step = spectrum.mean, trial.latency.mean_us, trial.latency_resolution_us
    for unit in UNITS_US:
        if mean is None or row is None or abs(mean * unit - row) <= (step or 0.0) + 1:
            return unit
    raise FormatError(
        "The percentile distribution is of another run than the report.",
        line=head.number,
        found=f"a mean of {mean:g}",
        expected=f"one of {row:g} µs, in ms or µs",
    )


def _part(requests: int | None, spectrum: Spectrum | None) -> str:
    """What is said where the latencies are not of all requests: no figure of wrk2 is."""
    if spectrum is None or not requests or spectrum.total >= WHOLE_SHARE * requests:
        return ""
    return (
        f"wrk2 recorded the latency of {spectrum.total:,} of {requests:,} requests: it leaves out "
        "those of its calibration."
    )


def _calibration(block: Sequence[Line]) -> dict[str, Any]:
    count = sum(line.text.startswith("Thread calibration:") for line in block)
    return {"calibration_lines": count} if count else {}


def _origin(
    trial: ParsedTrial, spectrum: Spectrum | None, percentiles: dict[str, float]
) -> str | None:
    if spectrum:
        return "histogram"
    return "percentiles" if percentiles else trial.latency_origin


def _extra(
    spectrum: Spectrum | None, uncorrected: Sequence[Line], unit_us: float
) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if spectrum:
        extra["spectrum"] = spectrum.as_dict(unit=unit_us, suffix="_us")
    second = _spectrum(uncorrected)
    if second:
        extra["uncorrected"] = {
            "percentiles": _percentiles(uncorrected),
            "spectrum": second.as_dict(unit=unit_us, suffix="_us"),
        }
    return extra


def _without_distributions(block: Sequence[Line]) -> list[Line]:
    """The lines that wrk prints too: what is between a distribution's head and its rule is not."""
    lines, inside = [], False
    for line in block:
        inside = inside or "HdrHistogram - " in line.text
        if not inside:
            lines.append(line)
        if line.text.startswith("-----"):
            inside = False
    return lines


def _section(block: Sequence[Line], title: str) -> list[Line]:
    """The lines of one distribution; none when it was not printed."""
    start = next((at for at, line in enumerate(block) if title in line.text), None)
    if start is None:
        return []
    rest = block[start:]
    end = next((at for at, line in enumerate(rest) if line.text.startswith("-----")), len(rest))
    return list(rest[:end])


def _spectrum(section: Sequence[Line]) -> Spectrum | None:
    start = next((at for at, line in enumerate(section) if is_header(line)), None)
    spectrum = None if start is None else read_spectrum(section[start:])
    return spectrum if spectrum and spectrum.total else None


def _percentiles(section: Sequence[Line]) -> dict[str, float]:
    printed: dict[str, float] = {}
    for line in section[1:]:
        words = line.words
        if is_header(line) or line.text.startswith("Detailed"):
            break
        if len(words) == 2 and words[0].endswith("%"):
            percent, value = parse_number(words[0][:-1]), parse_duration_us(words[1])
            if percent is not None and percent <= 100 and value is not None:
                printed.setdefault(f"{percent:g}", value)
    return printed
