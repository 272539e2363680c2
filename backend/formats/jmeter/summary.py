"""The lines of JMeter's summariser, on stdout and in jmeter.log."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import all_known, implied_elapsed_s, parse_count, parse_number, scaled
from backend.formats.text import Line, blocks, last_line

MARK = "/s Avg:"
STARTS = ("Starting standalone test @", "Starting the test @", "Starting distributed test")
CREATING = "Creating summariser <"
ENDS = ("Tidying up", "... end of run", "Notifying test listeners of end of test")
RESOLUTION_US = 1000


@dataclass(frozen=True, slots=True)
class Summary:
    """One line with totals."""

    count: int
    elapsed_s: float
    rate: float | None
    # Whole ms: average, least, greatest.
    times: tuple[int | None, ...]
    errors: int


def is_summary(line: Line) -> bool:
    """Whether a line is one of the summariser's."""
    return MARK in line.text and _words(line) is not None


def find_runs(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each run, from where it says that it starts."""
    starts, has_summary = [0], False
    for position, line in enumerate(lines):
        has_summary = has_summary or is_summary(line)
        if has_summary and (CREATING in line.text or any(word in line.text for word in STARTS)):
            starts.append(position)
            has_summary = False
    return [block for block in blocks(lines, starts) if any(line.text for line in block)]


def read_run(block: Sequence[Line]) -> Entry:
    """The last totals of a run."""
    totals = _totals_by_name(block)
    is_ended = any(line.text.startswith(ENDS) or ENDS[2] in line.text for line in block)
    # Totals are printed while a test runs, too: without the end they are not the last.
    if not totals or (not is_ended and _has_start(block)):
        return _refused("is cut off before the end of the test", last_line(block))
    if len(totals) > 1:
        return _refused("comes from several summarisers", last_line(block))
    ((line, summary),) = totals.values()
    if summary is None:
        return _refused("is damaged, or cut off in its totals", line)
    return _trial(summary, incomplete=not is_ended)


def _totals_by_name(block: Sequence[Line]) -> dict[str, tuple[Line, Summary | None]]:
    """The last totals of each summariser, and their line."""
    return {
        words[0]: (line, _totals(words))
        for line in block
        if MARK in line.text and (words := _words(line)) and words[0].endswith("=")
    }


def _has_start(block: Sequence[Line]) -> bool:
    return any(word in line.text for line in block for word in (*STARTS, CREATING))


def _trial(summary: Summary, *, incomplete: bool) -> ParsedTrial:
    times = summary.times if summary.count else (None, None, None)
    mean, low, high = (scaled(milliseconds, 1000) for milliseconds in times)
    return ParsedTrial(
        loop=None,
        # 00:00:00 is any time below half a second.
        elapsed_s=summary.elapsed_s or None,
        exact_elapsed_s=implied_elapsed_s(
            summary.elapsed_s, step_s=1, count=summary.count, rate_rps=summary.rate, rate_step=0.1
        ),
        requests_completed=summary.count if summary.errors == 0 else None,
        requests_ok=summary.count - summary.errors,
        attempts=summary.count,
        failed=summary.errors,
        reported_rps=summary.rate,
        tool_errors={"Err": summary.errors},
        latency=Latency(mean_us=mean, min_us=low, max_us=high),
        latency_origin=None if mean is None else "summary",
        latency_resolution_us=RESOLUTION_US,
        incomplete=incomplete,
    )


def _words(line: Line) -> list[str] | None:
    """The words from "name =" on (the name may have blanks, a log's prefix may stand before)."""
    for sign in (" = ", " + "):
        name, separator, rest = line.text.partition(sign)
        words = rest.split()
        if separator and len(words) >= 12 and words[1] == "in" and "Avg:" in words:
            return [name.rpartition(": ")[2] + sign.rstrip(), *words]
    return None


def _totals(words: Sequence[str]) -> Summary | None:
    """The figures of "name =" 300 in 00:00:03 = 103.4/s Avg: 3 Min: 0 Max: 391 Err: 0 (0.00%)."""
    count, elapsed = parse_count(words[1]), _seconds(words[3])
    times = [parse_count(_word_after(label, words)) for label in ("Avg:", "Min:", "Max:")]
    errors = parse_count(_word_after("Err:", words))
    if count is None or elapsed is None or errors is None or errors > count:
        return None
    # The line ends in (0.00%): without it the count of errors may have lost digits.
    if (count and None in times) or not _word_after("Err:", words, 2).endswith(")"):
        return None
    # Written in the machine's language, but never with separators of thousands.
    rate = parse_number(words[5].removesuffix("/s").replace(",", ".")) if words[4] == "=" else None
    return Summary(count, elapsed, rate, tuple(times), errors)


def _word_after(label: str, words: Sequence[str], distance: int = 1) -> str:
    """The word behind a label, or further behind; "" if there is none."""
    at = words.index(label) + distance if label in words else len(words)
    return words[at] if at < len(words) else ""


def _seconds(word: str) -> float | None:
    """The seconds of "00:01:02", or of "62.4s" as before JMeter 2.14."""
    if ":" not in word:
        return (
            parse_number(word.removesuffix("s").replace(",", ".")) if word.endswith("s") else None
        )
    figures = all_known(map(parse_count, word.split(":")))
    if figures is None or len(figures) != 3:
        return None
    return float(figures[0] * 3600 + figures[1] * 60 + figures[2])


def _refused(why: str, line: Line) -> FormatError:
    return line.refusal(
        f"The JMeter summary {why}.",
        expected='a last line "summary = …" and behind it "... end of run"',
    )
