"""The text that artillery prints: a block for each period, and a summary at the end."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from backend.formats.artillery.counters import POINTS, Figures, figures_of, trial
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.numbers import all_known, parse_count, parse_number, require_count
from backend.formats.text import Line, blocks, last_line

RUN = "Test run id:"
# The second is that of versions before 1.6.
SUMMARIES = ("Summary report @ ", "Complete report @ ")
# What a summary without its heading begins with: version 1, and the sorted names of version 2.
LAUNCHED = "Scenarios launched:"
NAMES_2 = ("errors.", "http.", "engine.http.", "vusers.")
PERIODS = ("Metrics for period to:", "Report @ ", "Phase started", "Started phase ", RUN)
TOTAL_TIME = "Total time:"
UNITS_S = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "millisecond": 0.001}
TIMES = ("http.response_time", "engine.http.response_time")
TIMES_1 = ("Response time (msec)", "Request latency")
FIGURES = ("min", "max", "mean", *POINTS)
# Version 1 has headings with indented lines below them.
HEADINGS = {"Codes": "http.codes.", "Errors": "errors."}
NAMES_1 = ("Requests completed", "Number of requests made")
RATES_1 = ("Mean response/sec", "RPS sent", "RPS")


def find_runs(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each run: from its id on, or else up to its summary."""
    starts = [at for at, line in enumerate(lines) if line.text.startswith(RUN)]
    summaries = _summaries(lines)
    if not starts or (summaries and summaries[0] < starts[0]):
        starts.insert(0, 0)
    without = [
        later
        for earlier, later in pairwise(summaries)
        if bisect_right(starts, earlier) == bisect_right(starts, later)
    ]
    return blocks(lines, sorted(starts + without))


def is_figure(line: Line) -> bool:
    """Whether a summary of either version can begin with this line."""
    return line.text.startswith(LAUNCHED) or (
        line.text.startswith(NAMES_2) and ": ...." in line.text
    )


def _summaries(lines: Sequence[Line]) -> list[int]:
    """Where each summary begins: at its heading, or at its first figure where that was left out."""
    found: list[int] = []
    # Whether figures of a summary or of a period go on, and whether those of version 1 began.
    is_within = is_begun = False
    for at, line in enumerate(lines):
        if line.text.startswith((*SUMMARIES, *PERIODS)):
            if line.text.startswith(SUMMARIES):
                found.append(at)
            is_within, is_begun = True, False
        elif is_figure(line):
            if not is_within or (is_begun and line.text.startswith(LAUNCHED)):
                found.append(at)
            is_within, is_begun = True, line.text.startswith(LAUNCHED) or is_begun
    return found


def read_run(block: Sequence[Line]) -> Entry:
    """The summary of a run; a refusal if there is none, or it is cut off."""
    starts = _summaries(block)
    if not starts:
        return _refused("has no summary: it was quiet (-q), or is cut off", last_line(block))
    has_heading = not is_figure(block[starts[-1]])
    body = block[starts[-1] + has_heading :]
    ends = [at for at, line in enumerate(body) if line.text.startswith(PERIODS)]
    body = body[: ends[0]] if ends else body
    try:
        if any(line.text.startswith(LAUNCHED) for line in body):
            return _version_1(body, block)
        return _version_2(body, block)
    except ValueError as fault:
        return _refused(f"has an invalid figure ({fault})", block[starts[-1]])


@dataclass(slots=True)
class _Summary:
    """What the lines of a summary say, by name; times by the name of the statistic."""

    counters: dict[str, float] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    rates: dict[str, float | None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def add_time(self, heading: str, name: str, value: str) -> None:
        """Keep a statistic, if it stands below the heading of response times."""
        amount = parse_number(value)
        if heading in (*TIMES, *TIMES_1) and amount is not None:
            self.times[name] = amount


def _version_2(body: Sequence[Line], block: Sequence[Line]) -> Entry:
    summary = _summary_2(body)
    # Names are sorted: with one of the users', everything of HTTP was printed.
    if not any("vusers." in name for name in summary.names):
        return _refused("is cut off in its summary", last_line(body or block))
    figures = figures_of(summary.counters, summary.rates.get("http"), summary.times)
    if figures.responses is None:
        return _refused("counts no HTTP requests", last_line(body or block))
    return trial(figures, elapsed_s=_total_time(block))


def _summary_2(body: Sequence[Line]) -> _Summary:
    summary, heading = _Summary(), ""
    for name, value in map(_pair, body):
        summary.names.add(name)
        if not value:
            heading = name
        elif name in FIGURES:
            summary.add_time(heading, name, value)
        elif name.endswith("http.request_rate"):
            summary.rates["http"], heading = parse_number(value.removesuffix("/sec")), ""
        elif (amount := parse_number(value)) is not None:
            summary.counters[name], heading = amount, ""
    return summary


def _version_1(body: Sequence[Line], block: Sequence[Line]) -> Entry:
    summary = _summary_1(body)
    if "http.responses" not in summary.counters:
        return _refused("is cut off in its summary", last_line(body or block))
    rate = next((summary.rates[name] for name in RATES_1 if name in summary.rates), None)
    figures = figures_of(summary.counters, rate, summary.times)
    # Codes and errors stand last: those that are missing were cut off.
    if sum(figures.codes.values()) != figures.responses or not (figures.codes or figures.errors):
        return _refused("is cut off in its codes", last_line(body or block))
    return _with_unknown_end(figures, body, block)


def _summary_1(body: Sequence[Line]) -> _Summary:
    summary, heading = _Summary(), ""
    for name, value in map(_pair, body):
        summary.names.add(name)
        if not value:
            heading = name
        elif name in RATES_1:
            summary.rates[name] = parse_number(value)
        elif name in NAMES_1:
            summary.counters["http.responses"] = require_count(value)
        elif name in FIGURES:
            summary.add_time(heading, name, value)
        elif heading in HEADINGS and (amount := parse_count(value)) is not None:
            summary.counters[HEADINGS[heading] + name] = amount
    return summary


def _with_unknown_end(figures: Figures, body: Sequence[Line], block: Sequence[Line]) -> ParsedTrial:
    is_cut = body[-1].text != "" and not body[-1].text.startswith("Log file")
    read = trial(figures, elapsed_s=_total_time(block), incomplete=is_cut)
    # Errors stand last: without the end some may be missing.
    return replace(read, errors={"status": read.errors["status"]}) if is_cut else read


def _pair(line: Line) -> tuple[str, str]:
    """The name and the value of "name: ........ 12", the value "" for a heading."""
    name, _, value = line.text.rpartition(": ")
    if not name:
        return line.text.rstrip(":. "), ""
    return name.strip(), value.lstrip(". ").partition(" (")[0].strip()


def _total_time(block: Sequence[Line]) -> float | None:
    """The seconds of "Total time: 1 minute, 3 seconds"; None if the text ends in it."""
    line = next((line for line in block if TOTAL_TIME in line.text), None)
    if line is None or line is block[-1]:
        return None
    words = line.text.partition(TOTAL_TIME)[2].replace(",", " ").split()
    if len(words) % 2 or not words:
        return None
    seconds = all_known(map(_seconds, words[::2], words[1::2]))
    return None if seconds is None else sum(seconds)


def _seconds(word: str, unit: str) -> float | None:
    amount, factor = parse_number(word), UNITS_S.get(unit.removesuffix("s"))
    return None if amount is None or factor is None else amount * factor


def _refused(why: str, line: Line) -> FormatError:
    return line.refusal(
        f"The artillery report {why}.",
        expected='"Summary report @ …" and all lines below it, or the JSON of -o',
    )
