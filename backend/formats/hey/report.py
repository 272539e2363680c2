"""hey's text, from boom's of 2014 to that of 0.1.5."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import implied_elapsed_s, parse_count, parse_number, scaled
from backend.formats.statuses import failed, succeeded
from backend.formats.text import Line, Source, blocks, is_prompt, last_line
from backend.formats.transport_errors import counted_classes, is_whole_error

RESOLUTION_US = 100
# hey keeps status and latency of this many responses and no more.
KEPT = 1_000_000
STATUSES, ERRORS = "Status code distribution:", "Error distribution:"
HISTOGRAM, LATENCIES = "Response time histogram:", "Latency distribution:"
SECTIONS = (STATUSES, ERRORS, HISTOGRAM, LATENCIES, "Details (average, fastest, slowest):")
TOTAL_DATA = ("Total data:", "Total Data Received:")
# Half of the last digit of the total time and of the rate.
ROUNDING = 0.00005


def find_reports(source: Source) -> list[list[Line]]:
    """The lines of each report, from "Summary:" and the total time below it, as only hey has it."""
    # A page may have a blank line below each title.
    shown = [(position, line) for position, line in enumerate(source.lines) if line.text]
    starts = [
        position
        for (position, line), (_, following) in pairwise(shown)
        if line.text.endswith("Summary:")
        and following.words[:1] == ["Total:"]
        and following.words[2:3] in (["secs"], ["secs."])
    ]
    return blocks(source.lines, starts)


class Report:
    """One report, line by line."""

    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block
        self.texts = [line.text for line in block]
        self.elapsed_s = self._seconds("Total:")
        self.rps = self._rate()
        self.bars = list(self._bars())
        self.statuses = dict(self._statuses())
        self.answered = sum(self.statuses.values())
        # Before 0.1.0 failures stood behind all else, and Requests/sec left them out.
        self.is_old = self._position(STATUSES) < self._position(LATENCIES)
        self.failures = self._failures()

    def trial(self) -> ParsedTrial:
        """The trial of a report's lines; raises FormatError where they are cut off."""
        if self.elapsed_s is None or not self._has_statuses():
            raise self._cut_off()
        is_capped = self._is_capped()
        return ParsedTrial(
            elapsed_s=self.elapsed_s,
            exact_elapsed_s=implied_elapsed_s(
                self.elapsed_s,
                step_s=2 * ROUNDING,
                count=self._counted_by_rate(),
                rate_rps=self.rps,
                rate_step=2 * ROUNDING,
            ),
            requests_completed=None if is_capped else self.answered,
            requests_ok=None if is_capped else succeeded(self.statuses),
            **self._outcome(is_capped=is_capped),
            reported_rps=self.rps,
            bytes_received=self._bytes(),
            errors=self._classes(None if is_capped else failed(self.statuses)),
            tool_errors=self.failures or {},
            status_counts=None if is_capped else self.statuses,
            latency=self._latency(),
            latency_origin=self._latency_origin(),
            latency_resolution_us=RESOLUTION_US,
            incomplete=not self._has_latencies() or (self._has_gap() and not is_capped),
            disagreements=self._disagreements(is_capped),
            extra=self._histogram(),
        )

    def _cut_off(self) -> FormatError:
        return last_line(self.block).refusal(
            "The hey report is cut off before the end of its status codes.",
            expected=f'"{STATUSES}" and lines such as "[200] 1000 responses"',
        )

    def _position(self, title: str) -> int:
        """Where a section begins; behind the end when it is not there."""
        return self.texts.index(title) if title in self.texts else len(self.texts)

    def _section(self, title: str) -> Iterator[str]:
        rest = self.texts[self._position(title) + 1 :]
        return takewhile(lambda text: text not in SECTIONS, rest)

    def _has_statuses(self) -> bool:
        """Whether all lines of status codes are there: they add up to the bars' counts."""
        if self._position(STATUSES) == len(self.texts):
            return False
        if self.is_old:
            return self._position(HISTOGRAM) < len(self.texts)
        return self.answered == sum(count for _, count in self.bars)

    def _has_latencies(self) -> bool:
        """Whether the percentiles are all there; a small sample has none for 99 %."""
        reached = self._position(LATENCIES) < len(self.texts)
        return reached and (self.answered < 100 or "99" in self._points())

    def _seconds(self, label: str) -> float | None:
        """The first figure of that name: details have the same names further on."""
        for text in self.texts:
            words = text.removeprefix(label).split()
            if text.startswith(label) and words[1:] in (["secs"], ["secs."]):
                return parse_number(words[0])
        return None

    def _rate(self) -> float | None:
        words = next((text.split() for text in self.texts if text.startswith("Requests/sec:")), [])
        # All four decimals, or it is cut off.
        has_all_digits = len(words) == 2 and len(words[1].partition(".")[2]) == 4
        return parse_number(words[1]) if has_all_digits else None

    def _bytes(self) -> int | None:
        for text in self.texts:
            if text.startswith(TOTAL_DATA) and text.endswith(("bytes", "bytes.")):
                return parse_count(text.split()[-2])
        return None

    def _bars(self) -> Iterator[tuple[float, int]]:
        """The upper edge of each bar in µs, and how many responses it stands for."""
        for text in self._section(HISTOGRAM):
            words = text.partition("|")[0].split()
            mark = parse_number(words[0]) if len(words) == 2 and "|" in text else None
            count = parse_count(words[1].strip("[]")) if mark is not None else None
            if mark is not None and count is not None:
                yield round(mark * 1e6, 6), count

    def _histogram(self) -> dict[str, list[list[float]]]:
        is_whole = sum(count for _, count in self.bars) == self.answered
        return {"histogram": [list(bar) for bar in self.bars]} if is_whole else {}

    def _statuses(self) -> Iterator[tuple[str, int]]:
        for text in self._section(STATUSES):
            words = text.split()
            if len(words) == 3 and words[0].startswith("[") and words[2] == "responses":
                code, count = words[0].strip("[]"), parse_count(words[1])
                if code and count is not None:
                    yield code, count

    def _latency_origin(self) -> str | None:
        if self._points():
            return "percentiles"
        return "summary" if self.bars else None

    def _points(self) -> dict[str, float]:
        points: dict[str, float] = {}
        for text in self._section(LATENCIES):
            words = text.split()
            if len(words) == 4 and words[0].endswith("%") and words[3] in ("secs", "secs."):
                seconds = parse_number(words[2])
                if seconds is not None:
                    points[words[0].rstrip("%")] = round(seconds * 1e6, 6)
        # "0% in 0.0000 secs" stands where the sample was too small.
        points.pop("0", None)
        return points

    def _latency(self) -> Latency:
        if not self.bars:
            return Latency()
        seconds = map(self._seconds, ("Average:", "Fastest:", "Slowest:"))
        mean, lowest, highest = (scaled(each, 1e6) for each in seconds)
        # hey divides the sum over all by the number of those it kept.
        is_wrong = self.answered > KEPT or self._is_capped()
        return Latency(
            mean_us=None if is_wrong else mean,
            min_us=lowest,
            max_us=highest,
            percentiles=self._points(),
        )

    def _outcome(self, *, is_capped: bool) -> dict[str, Any]:
        """Attempts and failed attempts among those that hey kept, where it did not keep all."""
        if not is_capped:
            return {}
        lost = sum(self._printed_failures().values())
        return {"attempts": self.answered + lost, "failed": failed(self.statuses) + lost}

    def _classes(self, bad: int | None) -> dict[str, int | None]:
        if self.failures is None:
            return {} if self.is_old else {"status": bad}
        return {**counted_classes(self.failures), "status": bad}

    def _failures(self) -> dict[str, int] | None:
        """The failed attempts by text; None if the text may have lost some."""
        failures = self._printed_failures()
        attempts, rounding = self._attempts()
        counted = self.answered + sum(failures.values())
        is_proven = rounding < 0.5 and abs(attempts - counted) <= rounding
        return failures if self._is_ended() or (is_proven and self._last_is_whole()) else None

    def _last_is_whole(self) -> bool:
        """Whether the last line, where the text ends in a failure, has all of its words."""
        last = self.texts[-1]
        return not last.startswith("[") or last.endswith(" responses") or is_whole_error(last)

    def _printed_failures(self) -> dict[str, int]:
        failures: dict[str, int] = {}
        for text in self._section(ERRORS):
            count, message = _failure_in(text)
            if count is not None and message:
                failures[message] = count
        return failures

    def _is_ended(self) -> bool:
        """Whether the text goes on behind the errors, or behind the place where they would be."""
        if self._position(ERRORS) < len(self.texts):
            return self.texts[-2:] == ["", ""] or not self._section_ends_text(ERRORS)
        return not self.is_old and self.texts[-3:] == ["", "", ""]

    def _section_ends_text(self, title: str) -> bool:
        """Whether nothing but the section's own lines stands behind its title."""
        own = (text for text in self._section(title) if text)
        return all(_failure_in(text)[0] is not None and not is_prompt(text) for text in own)

    def _attempts(self) -> tuple[float, float]:
        """Attempts by rate and time, and how far off they may be; infinite where unknown."""
        if self.is_old or not self.elapsed_s or self.rps is None or not self._counts_attempts():
            return 0.0, float("inf")
        return self.rps * self.elapsed_s, (self.rps + self.elapsed_s) * ROUNDING

    def _counted_by_rate(self) -> int:
        """The requests that Requests/sec counts."""
        failed = sum(self._printed_failures().values())
        return self.answered + (failed if not self.is_old and self._counts_attempts() else 0)

    def _counts_attempts(self) -> bool:
        """Whether Requests/sec counts failures: then a blank line follows it, and data or none.

        Where the paste has lost all blank lines, it is taken to.
        """
        if "\n\n" not in "\n".join(self.texts).strip():
            return True
        behind = next(
            (at for at, text in enumerate(self.texts) if text.startswith("Requests/sec:")), 0
        )
        following = self.texts[behind + 1 : behind + 3]
        return following[:1] == [""] and (
            following[1:] == [""] or following[-1].startswith(TOTAL_DATA)
        )

    def _is_capped(self) -> bool:
        """Whether hey kept fewer responses than there were."""
        return self.answered == KEPT and self._has_gap()

    def _has_gap(self) -> bool:
        """Whether rate and time speak of more attempts than responses and failures."""
        attempts, rounding = self._attempts()
        printed = sum(self._printed_failures().values())
        return attempts - self.answered - printed > max(rounding, 0.5)

    def _disagreements(self, is_capped: bool) -> tuple[str, ...]:
        attempts, rounding = self._attempts()
        if is_capped:
            return (
                f"rate and time speak of {attempts:.0f} attempts; hey keeps status and latency "
                f"of the first {KEPT} responses only",
            )
        counted = self.answered + sum(self._printed_failures().values())
        if counted - attempts > max(rounding, 0.5) and rounding != float("inf"):
            return (f"{counted} attempts are listed, rate and time speak of {attempts:.0f}",)
        return ()


def _failure_in(text: str) -> tuple[int | None, str]:
    """The count and the message of a row of errors, "[20]" and what failed; None for no row."""
    count_word, _, message = text.partition("]")
    count = parse_count(count_word[1:]) if count_word.startswith("[") else None
    return count, message.strip()
