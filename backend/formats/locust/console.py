"""The tables locust prints on stderr, among its log."""

from collections.abc import Mapping, Sequence

from backend.formats.locust.errors import by_class, completed
from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import parse_count, parse_number
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Line, Source, blocks, last_line

STARTED = "Starting Locust "
# The second is that of versions before 0.14.4 or so.
POINTS = ("Response time percentiles", "Percentage of the requests completed within given times")
# Version 0.13.0 prints 99.9 and 99.99 % and does not name them.
UNNAMED = ("99.9%", "99.99%")
ERRORS = "Error report"
TOTALS = ("Aggregated", "Total")
# Requests a second, and from 0.13 on failures a second.
RATES = 2
# Of shares in percent with two decimals.
SHARE_ROUNDING = 0.006
LIMIT = "Run time limit set to "
# "Ramping to 10 users at …"; before 2.0 Spawning, before 1.3 Hatching and swarming.
RAMPS = ("Ramping to ", "Spawning ", "Hatching and swarming ")


def is_header(line: Line) -> bool:
    """Whether a line heads the table of statistics."""
    return "# reqs" in line.text and "# fails" in line.text


def find_runs(source: Source) -> list[list[Line]]:
    """The lines of each run, from where locust says that it starts."""
    lines = source.lines
    starts = [_with_limit(lines, at) for at, line in enumerate(lines) if STARTED in line.text]
    headers = [at for at, line in enumerate(lines) if is_header(line)]
    if headers and (not starts or headers[0] < starts[0]):
        starts.insert(0, headers[0])
    elif starts:
        # What was asked for may stand above the first start.
        starts[0] = 0
    return blocks(lines, sorted(set(starts)))


def _with_limit(lines: Sequence[Line], start: int) -> int:
    """The start, or the line of what was asked for right above it."""
    return start - 1 if start and LIMIT in lines[start - 1].text else start


def read_run(block: Sequence[Line]) -> Entry:
    """The last table of a run, with the percentiles and failures behind it."""
    return of_lines(read_or_refuse(lambda: _Run(block).trial()), block)


class _Run:
    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block
        titles = [at for at, line in enumerate(block) if line.text.startswith(POINTS)]
        if not titles:
            raise self._refused(
                "has no final table: the text or the run was cut off", last_line(block)
            )
        # Where the percentiles begin, behind the table of statistics.
        self.at = titles[-1]
        self.is_old = block[self.at].text.startswith(POINTS[1])

    def trial(self) -> ParsedTrial:
        counted, failed, figures = self._totals()
        names = self._failures(failed)
        points = self._percentiles(counted)
        # Old versions count failures apart.
        requests = counted if not failed or self._counts_failures() else counted + failed
        mean, lowest, highest, rate = figures
        if self.is_old:
            # The largest latency, which is exact beside percentiles that are rounded.
            highest = points.pop("100", highest)
        latency = Latency(mean, None, lowest, highest, points) if requests else Latency()
        return ParsedTrial(
            tool_version=self._word_after(STARTED),
            connections=self._users(),
            requested_duration_s=parse_number(self._word_after(LIMIT) or ""),
            requests_completed=completed(requests, names),
            requests_ok=requests - failed,
            attempts=requests,
            failed=failed,
            reported_rps=rate,
            errors=by_class(names),
            tool_errors={"# fails": failed} if names is None else names,
            latency=latency,
            latency_origin=_origin(requests, points),
            latency_resolution_us=1000,
            incomplete=names is None or (requests > 0 and not points),
        )

    def _totals(self) -> tuple[int, int, tuple[float | None, ...]]:
        """Requests, failures, and mean, least and largest time in µs with the rate."""
        row, words = self._total_row()
        requests, failed = parse_count(words[0]), parse_count(words[1].partition("(")[0])
        figures = [figure for word in words[2:] if (figure := parse_number(word)) is not None]
        if requests is None or failed is None or len(figures) < len(words) - 2:
            raise self._refused("has invalid totals", row)
        if failed > requests and not self.is_old:
            raise self._refused("has invalid totals", row)
        if len(figures) <= RATES:
            return requests, failed, (None, None, None, figures[0])
        return requests, failed, (*(figure * 1000 for figure in figures[:3]), figures[4])

    def _total_row(self) -> tuple[Line, list[str]]:
        """The words behind the name: all figures, or counts and rates alone, as before 0.13."""
        for line in reversed(self.block[: self.at]):
            words = line.text.replace("|", " ").split()
            if words[:1] and words[0] in TOTALS and len(words) in (4, 5, 8, 9):
                return line, words[1:]
        raise self._refused("has no row named Aggregated", self.block[self.at])

    def _counts_failures(self) -> bool:
        """Whether "# reqs" counts failed requests, too: the share of failures tells which."""
        for line in self.block[: self.at] if self.is_old else ():
            before, words = "", line.text.replace("|", " ").split()
            for word in words if words[:1] and words[0] not in TOTALS else ():
                failed, share = parse_count(word.partition("(")[0]), word.partition("(")[2]
                requests, percent = parse_count(before), parse_number(share.removesuffix("%)"))
                if failed and requests is not None and percent is not None:
                    return abs(percent * requests - 100 * failed) <= requests * SHARE_ROUNDING
                before = word
        return not self.is_old

    def _percentiles(self, requests: int) -> dict[str, float]:
        """The row of totals by the columns of its header; empty if it is cut off."""
        header: list[str] = []
        for line in self.block[self.at + 1 :]:
            words = line.text.replace("# reqs", "#reqs").split()
            if "#reqs" in words:
                header = [word for word in words if word == "#reqs" or word.endswith("%")]
            elif (cells := _behind_name(words)) is not None:
                row = _named_cells(header, cells)
                # The count stands at one end of the row: with it, the row is whole.
                if row.pop("#reqs", None) == requests:
                    return _in_us(row)
        return {}

    def _failures(self, failed: int) -> dict[str, int] | None:
        """The failures by name; None if the report of them is not whole."""
        names: dict[str, int] = {}
        for line in self._error_lines():
            count, _, name = line.text.partition(" ")
            occurrences = parse_count(count)
            if occurrences is not None and name.strip():
                names[name.strip()] = names.get(name.strip(), 0) + occurrences
        return names if sum(names.values()) == failed else None

    def _error_lines(self) -> Sequence[Line]:
        behind = self.block[self.at :]
        starts = [at for at, line in enumerate(behind) if line.text == ERRORS]
        if not starts:
            return ()
        rows = behind[starts[0] + 1 :]
        rules = [at for at, line in enumerate(rows) if line.text.startswith("-----")]
        # Without the rule that closes the report a name in it may be cut off.
        return rows[rules[0] + 1 : rules[1]] if len(rules) > 1 else ()

    def _users(self) -> int | None:
        """The users ramped to; None if they changed."""
        users = {
            parse_count(line.text.partition(ramp)[2].partition(" ")[0])
            for line in self.block
            for ramp in RAMPS
            if ramp in line.text and " users at " in line.text
        }
        return users.pop() if len(users) == 1 else None

    def _word_after(self, mark: str) -> str | None:
        for line in self.block:
            if mark in line.text:
                words = line.text.partition(mark)[2].split()
                return words[0] if words else None
        return None

    def _refused(self, why: str, line: Line) -> FormatError:
        return line.refusal(
            f"The locust report {why}.",
            expected='a row "Aggregated …", and behind it "Response time percentiles"',
        )


def _origin(requests: int, points: dict[str, float]) -> str | None:
    if not requests:
        return None
    return "percentiles" if points else "summary"


def _behind_name(words: Sequence[str]) -> list[str] | None:
    """The cells of the row of totals; versions 1 and 2 print "None" as its type."""
    words = words[1:] if words[:1] == ["None"] else words
    return list(words[1:]) if words[:1] and words[0] in TOTALS else None


def _named_cells(header: list[str], cells: Sequence[str]) -> dict[str, float | None]:
    """The cells by their columns; empty for a row that has more or fewer than it should."""
    if header and len(cells) == len(header) + len(UNNAMED):
        header = [*header[:-1], *UNNAMED, header[-1]]
    if len(cells) != len(header):
        return {}
    return dict(zip(header, map(parse_number, cells), strict=True))


def _in_us(row: Mapping[str, float | None]) -> dict[str, float]:
    """Percentiles ("99%") in ms as percentiles ("99") in µs."""
    return {
        name.removesuffix("%"): milliseconds * 1000
        for name, milliseconds in row.items()
        if milliseconds is not None
    }
