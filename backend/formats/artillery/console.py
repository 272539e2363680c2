"""The text that artillery prints: a block for each period, and a summary at the end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from backend.formats.artillery.counters import POINTS, Figures, figures_of, trial
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.numbers import parse_count, parse_number
from backend.formats.text import Line, blocks

NAME = "artillery"
RUN = "Test run id:"
SUMMARY = "Summary report @ "
PERIODS = ("Metrics for period to:", "Report @ ", "Phase started", "Started phase ", RUN)
TOTAL_TIME = "Total time:"
UNITS_S = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "millisecond": 0.001}
TIMES = ("http.response_time", "engine.http.response_time", "Response time (msec)")
FIGURES = ("min", "max", "mean", *POINTS)
# Version 1 has headings with indented lines below them.
HEADINGS = {"Codes": "http.codes.", "Errors": "errors."}
NAMES_1 = {"Requests completed": "http.responses"}
RATES_1 = ("Mean response/sec", "RPS sent")


def find_runs(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each run: from its id on, or else up to its summary."""
    starts = [at for at, line in enumerate(lines) if line.text.startswith(RUN)]
    summaries = [at for at, line in enumerate(lines) if line.text.startswith(SUMMARY)]
    if not starts or (summaries and summaries[0] < starts[0]):
        starts.insert(0, 0)
    without = [
        later
        for earlier, later in pairwise(summaries)
        if bisect_right(starts, earlier) == bisect_right(starts, later)
    ]
    return blocks(lines, sorted(starts + without))


def read_run(block: Sequence[Line]) -> Entry:
    """The summary of a run; a refusal where there is none, or it is cut off."""
    starts = [at for at, line in enumerate(block) if line.text.startswith(SUMMARY)]
    if not starts:
        return _refused("has no summary: it was quiet (-q), or is cut off", _last(block))
    body = block[starts[-1] + 1 :]
    ends = [at for at, line in enumerate(body) if line.text.startswith(PERIODS)]
    body = body[: ends[0]] if ends else body
    try:
        if any(line.text.startswith("Scenarios launched") for line in body):
            return _version_1(body, block)
        return _version_2(body, block)
    except ValueError as fault:
        return _refused(f"has a figure that is none ({fault})", block[starts[-1]])


def _version_2(body: Sequence[Line], block: Sequence[Line]) -> Entry:
    counters: dict[str, float] = {}
    times: dict[str, float] = {}
    rate, heading, is_whole = None, "", False
    for line in body:
        name, value = _pair(line)
        if not value:
            heading = name
        elif name in FIGURES:
            _keep_time(times, heading, name, value)
        elif name.endswith("http.request_rate"):
            rate, heading = parse_number(value.removesuffix("/sec")), ""
        elif (amount := parse_number(value)) is not None:
            counters[name], heading = amount, ""
        # Names are sorted: with one of the users', everything of HTTP was printed.
        is_whole = is_whole or "vusers." in name
    if not is_whole:
        return _refused("is cut off in its summary", _last(body or block))
    figures = figures_of(counters, rate, times)
    if figures.responses is None:
        return _refused("counts no HTTP requests", _last(body or block))
    return trial(figures, elapsed_s=_total_time(block))


def _keep_time(times: dict[str, float], heading: str, name: str, value: str) -> None:
    amount = parse_number(value)
    if heading in TIMES and amount is not None:
        times[name] = amount


def _version_1(body: Sequence[Line], block: Sequence[Line]) -> Entry:
    counters: dict[str, float] = {}
    times: dict[str, float] = {}
    rates: dict[str, float | None] = {}
    heading, seen = "", set()
    for line in body:
        name, value = _pair(line)
        seen.add(name)
        if not value:
            heading = name
        elif name in RATES_1:
            rates[name] = parse_number(value)
        elif name in NAMES_1:
            counters[NAMES_1[name]] = parse_count(value) or 0
        elif name in FIGURES:
            _keep_time(times, heading, name, value)
        elif heading in HEADINGS and (amount := parse_count(value)) is not None:
            counters[HEADINGS[heading] + name] = amount
    if "http.responses" not in counters or "Scenario counts" not in seen:
        return _refused("is cut off in its summary", _last(body or block))
    figures = figures_of(counters, rates.get(RATES_1[0], rates.get(RATES_1[1])), times)
    codes = sum(figures.codes.values())
    # Codes and errors stand last: those that are missing were cut off.
    if codes != figures.responses:
        return _refused("is cut off in its codes", _last(body or block))
    return _with_unknown_end(figures, body, block)


def _with_unknown_end(figures: Figures, body: Sequence[Line], block: Sequence[Line]) -> ParsedTrial:
    return trial(
        figures,
        elapsed_s=_total_time(block),
        incomplete=body[-1].text != "" and not body[-1].text.startswith("Log file"),
    )


def _pair(line: Line) -> tuple[str, str]:
    """The name and the value of "name: ........ 12", the value "" for a heading."""
    name, _, value = line.text.rpartition(": ")
    if not name:
        return line.text.rstrip(":. "), ""
    return name.strip(), value.lstrip(". ").partition(" (")[0].strip()


def _total_time(block: Sequence[Line]) -> float | None:
    """The seconds of "Total time: 1 minute, 3 seconds"."""
    for line in block:
        if TOTAL_TIME in line.text:
            words = line.text.partition(TOTAL_TIME)[2].replace(",", " ").split()
            if len(words) % 2 or not words or line is block[-1]:
                return None
            amounts = [parse_number(word) for word in words[::2]]
            units = [UNITS_S.get(word.removesuffix("s")) for word in words[1::2]]
            pairs = zip(amounts, units, strict=True)
            parts = [a * u for a, u in pairs if a is not None and u is not None]
            return sum(parts) if len(parts) == len(units) else None
    return None


def _last(block: Sequence[Line]) -> Line:
    return next((line for line in reversed(block) if line.text), block[-1])


def _refused(why: str, line: Line) -> FormatError:
    return FormatError(
        f"The artillery report {why}.",
        tool=NAME,
        line=line.number,
        found=line.text,
        expected='"Summary report @ …" and all lines below it, or the JSON of -o',
    )
