"""The text that h2load prints, alone or with the file of every request that the run wrote."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    BINARY_UNITS,
    all_by_name,
    all_known,
    implied_elapsed_s,
    parse_amount,
    parse_count,
    parse_duration_us,
    parse_number,
    step_us,
)
from backend.formats.statuses import FINAL_CLASSES
from backend.formats.text import Line, Source, blocks, first_with, last_line
from backend.formats.together import with_samples

BEGIN = "starting benchmark..."
# Of the requests per second.
RATE_STEP = 0.01
SPAWNED, CREATED = "spawning thread #", "will be created every"
ROWS_OF_REQUESTS = ("time for request", "request")
ROWS_OF_FIRST_BYTE = ("time to 1st byte", "TTFB")
REQUESTS = ("total", "started", "done", "succeeded", "failed", "errored")
# The columns of a row of times: before version 1.69, and since.
COLUMNS = {
    5: ("min", "max", "mean", "sd", "within"),
    8: ("min", "max", "50", "95", "99", "mean", "sd", "within"),
}
# What a printed time may be off by: half a step and the cut to whole µs; and the histogram's
# three digits.
SLACK_US = 1
# Shorter, the time beyond a whole duration is that of the last responses.
LEAST_WARMUP_S = 0.5
PRECISION = 0.001


def starts_report(line: Line) -> bool:
    """Whether only h2load prints this line."""
    return _spawns(line) or _finishes(line)


def _spawns(line: Line) -> bool:
    return line.text.startswith(SPAWNED) and line.words[4:6] == ["total", "client(s)."]


def _finishes(line: Line) -> bool:
    words = line.words
    return words[:2] == ["finished", "in"] and len(words) in (5, 6) and words[4] == "req/s,"


def find_reports(source: Source) -> list[list[Line]]:
    """The lines of each run, from its first line that is there."""
    # The search for words is at the speed of C, and a log is long.
    if " client(s)" not in source.text and "finished in" not in source.text:
        return []
    starts = [at for at, is_first in enumerate(_are_first(source.lines)) if is_first]
    runs = blocks(source.lines, starts)
    return [block for block in runs if any(starts_report(line) for line in block)]


def _are_first(lines: Sequence[Line]) -> Iterator[bool]:
    """Of each line, whether a run begins there; the line of the elapsed time ends a run."""
    has_begun, is_over = False, True
    for line in lines:
        is_finish = _finishes(line)
        opens = line.text.startswith(BEGIN) or (_spawns(line) and not has_begun)
        is_first = opens or (is_finish and is_over)
        if is_first:
            has_begun, is_over = True, False
        if is_finish:
            has_begun, is_over = False, True
        yield is_first


class Report:
    """One report, line by line."""

    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block

    def trial(self) -> ParsedTrial:
        """One run; raises FormatError where it has no result."""
        lasted_s, step_s, rate, transfer = self._finished()
        counts = self._counts("requests:", REQUESTS, optional=("timeout",))
        codes = self._counts("status codes:", FINAL_CLASSES)
        latency, step = self._latency() if completed_of(counts) else (Latency(), None)
        received, bodies = self._traffic()
        spawned = self._spawned()
        main_s = None if spawned else main_duration_s(lasted_s, counts["succeeded"], rate)
        elapsed_s = lasted_s if main_s is None else main_s
        return ParsedTrial(
            loop="open" if any(CREATED in line.text for line in spawned) else "closed",
            connections=_sum(parse_count(line.words[3]) for line in spawned),
            threads=len(spawned) or None,
            requested_requests=self._asked(),
            requested_duration_s=self._seconds("of main duration"),
            elapsed_s=elapsed_s,
            exact_elapsed_s=implied_elapsed_s(
                elapsed_s,
                step_s=step_s,
                count=counts["succeeded"],
                rate_rps=rate,
                rate_step=RATE_STEP,
            ),
            warmup_s=self._seconds("of warm-up time"),
            reported_rps=rate,
            bytes_received=received,
            body_bytes=bodies if main_s is None else None,
            transfer_rate_bytes_s=transfer,
            latency=latency,
            latency_origin=latency.printed_origin,
            latency_resolution_us=step,
            incomplete=received is None or not self._reached_end(),
            extra={"extra": {**progress_of(counts), "protocol": self._protocol()}},
            **outcomes_of(counts, codes),
        )

    def _after(self, label: str) -> tuple[Line, str] | None:
        line = first_with(self.block, label)
        return (line, line.text.removeprefix(label).strip()) if line else None

    def _finished(self) -> tuple[float, float, float | None, float | None]:
        """Elapsed seconds and their step, requests and bytes per second."""
        line = next((line for line in self.block if _finishes(line)), None)
        if line is None:
            raise self._refusal("no result", self.block[-1], "finished in 8.53s, 351.52 req/s, …")
        words = line.words
        time = words[2].rstrip(",")
        elapsed_us = parse_duration_us(time)
        if elapsed_us is None:
            raise self._refusal("no elapsed time", line, "finished in 8.53s, 351.52 req/s, …")
        rate = words[5] if len(words) == 6 and words[5].endswith("/s") else ""
        transfer = parse_amount(rate.removesuffix("/s"), BINARY_UNITS)
        return elapsed_us / 1e6, (step_us(time) or 0) / 1e6, parse_number(words[3]), transfer

    def _counts(
        self, label: str, names: Sequence[str], optional: Sequence[str] = ()
    ) -> dict[str, int]:
        """The counts of a line such as "status codes: 10 2xx, 0 3xx, 0 4xx, 0 5xx"."""
        expected = f"{label} 0 {', 0 '.join(names)}"
        labelled = self._after(label)
        if labelled is None:
            raise self._refusal(f"no line “{label}”", self.block[-1], expected)
        line, rest = labelled
        counts: dict[str, int] = {}
        for pair in rest.split(", "):
            words = pair.split()
            count = parse_count(words[0]) if len(words) == 2 else None
            if count is None or words[1] not in (*names, *optional):
                raise self._refusal(f"a damaged line “{label}”", line, expected)
            counts[words[1]] = count
        if not counts.keys() >= set(names) or counts.get("failed", 0) < counts.get("errored", 0):
            raise self._refusal(f"a damaged line “{label}”", line, expected)
        return counts

    def _refusal(self, has: str, line: Line, expected: str) -> FormatError:
        at = last_line(self.block) if line is self.block[-1] else line
        return at.refusal(
            f"The h2load report has {has}: the run stopped, or the text is cut off or damaged.",
            expected=f'a line such as "{expected}"',
        )

    def _traffic(self) -> tuple[int | None, int | None]:
        """The bytes of "113.44KB (116160) total, …, 39.06KB (40000) data": all, and of bodies.

        Before version 1.3 "116160 bytes total". The parts include a warm-up, which the total does
        not: then those of bodies are unknown.
        """
        labelled = self._after("traffic:")
        sizes = labelled[1].split(", ") if labelled else []
        total, bodies = _bytes_of(sizes, "total"), _bytes_of(sizes, "data")
        return total, None if self._seconds("of warm-up time") else bodies

    def _spawned(self) -> list[Line]:
        return [line for line in self.block if _spawns(line)]

    def _asked(self) -> int | None:
        lines = [line.words for line in self._spawned()]
        if not all(words[-2:] == ["total", "requests"] for words in lines):
            return None
        return _sum(parse_count(words[-3]) for words in lines)

    def _seconds(self, title: str) -> float | None:
        """The seconds of "… with 1s of warm-up time and 2s of main duration for …"."""
        for line in self._spawned():
            before, match, _ = line.text.partition(f" {title}")
            if match:
                time_us = parse_duration_us(before.split()[-1])
                return None if time_us is None else time_us / 1e6
        return None

    def _protocol(self) -> str | None:
        labelled = self._after("Application protocol:")
        return labelled[1] or None if labelled else None

    def _cells(self, titles: Sequence[str]) -> Mapping[str, str]:
        """The cells of the row of times with one of the titles; empty if it is cut off."""
        for line in self.block:
            title, colon, rest = line.text.partition(":")
            cells = rest.split()
            if colon and title.strip() in titles and len(cells) in COLUMNS:
                is_whole = cells[-1].endswith("%")
                return dict(zip(COLUMNS[len(cells)], cells, strict=True)) if is_whole else {}
        return {}

    def _latency(self) -> tuple[Latency, float | None]:
        words = dict(self._cells(ROWS_OF_REQUESTS))
        words.pop("within", None)
        times = all_by_name({name: parse_duration_us(words[name]) for name in words})
        if not times:
            return Latency(), None
        latency = Latency(
            mean_us=times["mean"],
            stdev_us=times["sd"],
            min_us=times["min"],
            max_us=times["max"],
            percentiles={name: time for name, time in times.items() if name.isdigit()},
        )
        return latency, max(step_us(word) or 1 for word in words.values())

    def _reached_end(self) -> bool:
        return bool(self._cells(ROWS_OF_REQUESTS) and self._cells(ROWS_OF_FIRST_BYTE))


def main_duration_s(lasted_s: float, succeeded: int, rate: float | None) -> float | None:
    """The time that was measured behind a warm-up, where the lines that name one are missing.

    h2load then divides the successes by the duration that it was asked for, which is whole. None if
    the rate is of the whole time, or the time behind it is not whole.
    """
    if not succeeded or not rate:
        return None
    implied_s = succeeded / rate
    main_s = round(implied_s)
    rounding_s = implied_s * RATE_STEP / rate
    is_whole = abs(implied_s - main_s) <= rounding_s <= LEAST_WARMUP_S / 2
    return float(main_s) if is_whole and main_s <= lasted_s - LEAST_WARMUP_S else None


def completed_of(counts: Mapping[str, int]) -> int:
    """The requests that ended with a response."""
    return counts["succeeded"] + counts["failed"] - counts["errored"]


def outcomes_of(counts: Mapping[str, int], codes: Mapping[str, int]) -> dict[str, Any]:
    """The fields of a trial that the counts of requests and of their status codes give."""
    # None if a version does not tell timeouts.
    timeouts = counts.get("timeout")
    other = counts["errored"] - (timeouts or 0)
    status = counts["failed"] - counts["errored"]
    ended, coded = completed_of(counts), sum(codes.values())
    contradiction = f"{ended} requests ended with a response, the status codes are of {coded}"
    failures = ("failed", "errored", "timeout")
    return {
        "requests_completed": ended,
        "requests_ok": counts["succeeded"],
        "errors": {"timeout": timeouts, "status": status, "other": None if other < 0 else other},
        "tool_errors": {name: counts[name] for name in failures if name in counts},
        "status_counts": codes,
        # A response that was cut off has a status code and is no response: more codes are no fault.
        "disagreements": (contradiction,) if coded < ended else (),
    }


def progress_of(counts: Mapping[str, int]) -> dict[str, int]:
    """How far the requests came, of all that were asked for."""
    return {name: counts[name] for name in ("total", "started", "done")}


def _bytes_of(sizes: Iterable[str], name: str) -> int | None:
    """The bytes of "39.06KB (40000) data" or "40000 bytes data" among sizes; None without it."""
    for size in sizes:
        words = size.split(maxsplit=2)
        if len(words) == 3 and words[2].split()[0] == name:
            return parse_count(words[0] if words[1] == "bytes" else words[1].strip("()"))
    return None


def _sum(parts: Iterable[int | None]) -> int | None:
    counts = all_known(parts)
    return sum(counts) if counts else None


def with_requests(trial: ParsedTrial, rows: ParsedTrial) -> ParsedTrial:
    """The report's figures with the rows' samples; where they contradict each other is noted."""
    if rows.latency_origin != "samples":
        return replace(trial, disagreements=(*trial.disagreements, *_disagreements(trial, rows)))
    trial = replace(trial, tool_version=trial.tool_version or rows.tool_version)
    return with_samples(trial, rows, _disagreements(trial, rows))


def _disagreements(trial: ParsedTrial, rows: ParsedTrial) -> Iterator[str]:
    if trial.requests_completed != rows.requests_completed:
        yield (
            f"the report says {trial.requests_completed} responses, "
            f"the other file has {rows.requests_completed}"
        )
    step = max(trial.latency_resolution_us or 1, rows.latency_resolution_us or 1)
    for name in ("min", "mean", "max"):
        printed = getattr(trial.latency, f"{name}_us")
        measured = getattr(rows.histogram, f"{name}_us", None)
        if printed is None or measured is None:
            continue
        if abs(printed - measured) > step / 2 + SLACK_US + measured * PRECISION:
            yield (
                f"the report says that the {name} is {printed:g} µs, "
                f"in the other file it is {measured:g} µs"
            )
