"""What Gatling prints: the Global Information of its reports, and the blocks while it runs."""

from collections import Counter
from collections.abc import Mapping, Sequence

from backend.formats.gatling.errors import by_class, unanswered
from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import LONGEST_MS, parse_count, parse_number
from backend.formats.refusals import read_or_refuse
from backend.formats.text import Line, last_line

GLOBAL, LIVE, ERRORS = "---- Global Information", "---- Requests --", "---- Errors"
SECTION, BLOCK = "----", "====="
COMPLETED = (" completed in ", "Simulation finished")
REPORT = ("Parsing log file(s)", "Generating reports")
RESOLUTION_US = 1000
# Characters of an error's first line: of 80 columns, and of 120 since 3.13.4.
ERROR_WIDTHS = (62, 99)
EXPECTED = 'Gatling\'s "Global Information", from "request count" to its end "====="'
COUNT, MEAN = "request count", "mean response time"
LOW, HIGH = "min response time", "max response time"
DEVIATIONS = ("std deviation", "response time std deviation")
RATES = ("mean requests/sec", "mean throughput")
Row = tuple[str, str, str]


def is_console(line: Line) -> bool:
    """Whether a line is the title of a block."""
    return line.text.startswith((GLOBAL, LIVE))


def find_runs(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each run: to the end of its Global Information, or to where the next starts."""
    runs: list[list[Line]] = [[]]
    is_within = False
    for row in lines:
        # "> " stands before each row, and before nothing else.
        line = Line(row.number, row.text.removeprefix("> "))
        is_global = line.text.startswith(GLOBAL)
        if _is_start(line) or (is_global and is_within):
            runs.append([])
            is_within = False
        runs[-1].append(line)
        is_within = is_within or is_global
        if is_within and line.text.startswith(BLOCK):
            runs.append([])
            is_within = False
    return [run for run in runs if any(map(is_console, run))]


def _is_start(line: Line) -> bool:
    return line.text.startswith("Simulation ") and line.text.endswith(" started...")


def read_run(block: Sequence[Line]) -> Entry:
    titles = [at for at, line in enumerate(block) if is_console(line)]
    last = block[titles[-1] :]
    return read_or_refuse(_read_global if last[0].text.startswith(GLOBAL) else _read_live, last)


def _read_global(lines: Sequence[Line]) -> ParsedTrial:
    rows = _rows(lines)
    total, ok, ko = _counts(rows.get(COUNT), lines)
    is_whole = any(line.text.startswith(BLOCK) for line in lines)
    errors = _errors(lines) if is_whole else None
    has_times = total > 0
    return ParsedTrial(
        loop=None,
        requests_completed=_completed(total, ko, errors),
        requests_ok=ok,
        attempts=total,
        failed=ko,
        reported_rps=_rate(rows, lines),
        errors=by_class(errors) if errors is not None else {},
        tool_errors=errors or {},
        latency=_latency(rows, lines) if has_times else Latency(),
        latency_origin="percentiles" if has_times else None,
        latency_resolution_us=RESOLUTION_US,
        incomplete=not is_whole,
    )


def _read_live(lines: Sequence[Line]) -> ParsedTrial:
    """The last block of a run without a report; it has counts only."""
    ends = [at for at, line in enumerate(lines) if line.text.startswith(BLOCK)]
    if not ends or not _is_over(lines):
        raise _refused("cut off before the end of the simulation", last_line(lines))
    rows = _rows(lines[: ends[0] + 1])
    _, ok, ko = _counts(rows.get("Global"), lines)
    errors = _errors(lines)
    return ParsedTrial(
        loop=None,
        requests_completed=_completed(ok + ko, ko, errors),
        requests_ok=ok,
        attempts=ok + ko,
        failed=ko,
        errors=by_class(errors),
        tool_errors=errors,
        # A report was to follow.
        incomplete=any(line.text.startswith(REPORT) for line in lines),
    )


def _is_over(lines: Sequence[Line]) -> bool:
    """Whether the simulation ended: it is said, or no user of an open model is left."""
    users = [line.words for line in lines if "done:" in line.text and "active:" in line.text]
    idle = [words[:2] == ["waiting:", "0"] and words[3:5] == ["active:", "0"] for words in users]
    is_said = any(word in line.text for line in lines for word in COMPLETED)
    return is_said or (bool(idle) and all(idle))


def _completed(total: int, ko: int, errors: Mapping[str, int] | None) -> int | None:
    """Requests with a response; None if the failures do not tell."""
    if not ko:
        return total
    # Requests that could not be made are errors, too, and no request.
    lost = None if errors is None or sum(errors.values()) != ko else unanswered(errors)
    return None if lost is None else total - lost


def _rows(lines: Sequence[Line]) -> dict[str, tuple[Line, Row]]:
    """The total, OK and KO of each row of the first section; the last line may be cut off."""
    rows: dict[str, tuple[Line, Row]] = {}
    for line in lines[1:-1]:
        if line.text.startswith((SECTION, BLOCK)):
            break
        label, row = _row(line.text)
        if row is not None:
            rows.setdefault(label, (line, row))
    return rows


def _row(text: str) -> tuple[str, Row | None]:
    """The label and cells of "min response time  3 (OK=3  KO=-  )", or of one with "|"."""
    if text.count("|") >= 3:
        label, total, ok, ko = (" ".join(part.split()) for part in text.rsplit("|", 3))
        return label.removesuffix(" (ms)").removesuffix(" (rps)"), (total, ok, ko)
    head, _, tail = text.rpartition("OK=")
    ok, mark, ko = tail.partition("KO=")
    if not mark:
        return text, None
    words = head.rstrip(" (").split()
    # The rows of a block while it runs have no total.
    total = words.pop() if len(words) > 1 else ""
    return " ".join(words), (total, ok.strip(), ko.rstrip(" )").strip())


def _counts(row: tuple[Line, Row] | None, lines: Sequence[Line]) -> tuple[int, int, int]:
    """Total, OK and KO requests; raises FormatError where they are no counts of one run."""
    if row is None:
        raise _refused("cut off before its totals", last_line(lines))
    line, cells = row
    # Versions from 3.14 on print "-" where there are none.
    ok, ko = (0 if cell == "-" else parse_count(cell) for cell in cells[1:])
    if ok is None or ko is None:
        raise _refused("damaged in its count of requests", line)
    total = parse_count(cells[0]) if cells[0] else ok + ko
    if total != ok + ko:
        raise _refused("damaged: its OK and KO requests do not add up", line)
    return total, ok, ko


def _rate(rows: Mapping[str, tuple[Line, Row]], lines: Sequence[Line]) -> float | None:
    """The last row: without it, the rows were cut off."""
    row = next((rows[name] for name in RATES if name in rows), None)
    if row is None:
        raise _refused("cut off before its totals", last_line(lines))
    line, (cell, *_) = row
    # Before 2.1 the rate was written as in the machine's language; it has at most two decimals.
    rate = parse_number(cell)
    rate = parse_number(cell.replace(",", ".")) if rate is None else rate
    if rate is None and cell != "-":
        raise _refused("damaged in its rate", line)
    return rate


def _latency(rows: Mapping[str, tuple[Line, Row]], lines: Sequence[Line]) -> Latency:
    deviation = next((name for name in DEVIATIONS if name in rows), DEVIATIONS[0])
    percentiles = {rank: _us(rows, label, lines) for label in rows if (rank := _rank(label))}
    return Latency(
        mean_us=_us(rows, MEAN, lines),
        stdev_us=_us(rows, deviation, lines),
        min_us=_us(rows, LOW, lines),
        max_us=_us(rows, HIGH, lines),
        percentiles=percentiles,
    )


def _rank(label: str) -> str | None:
    """ "99.9" of "response time 99.9th percentile"; None if it is not one."""
    words = label.split()
    if len(words) != 4 or words[:2] != ["response", "time"] or words[3] != "percentile":
        return None
    rank = words[2].rstrip("stndrh")
    return rank if parse_number(rank) is not None and float(rank) <= 100 else None


def _us(rows: Mapping[str, tuple[Line, Row]], label: str, lines: Sequence[Line]) -> int:
    if label not in rows:
        raise _refused(f"damaged: it has no {label}", last_line(lines))
    line, (cell, *_) = rows[label]
    milliseconds = parse_count(cell)
    if milliseconds is None or milliseconds > LONGEST_MS:
        raise _refused("damaged in a response time", line)
    return milliseconds * 1000


def _errors(lines: Sequence[Line]) -> dict[str, int]:
    """The failures by their texts, which go on in the next line where they are long."""
    counted: list[tuple[str, int]] = []
    title = next((at for at, line in enumerate(lines) if line.text.startswith(ERRORS)), len(lines))
    for line in lines[title + 1 :]:
        if line.text.startswith((SECTION, BLOCK)):
            break
        error = _error(line.text)
        if error is not None:
            counted.append(error)
        elif counted and line.text:
            text, count = counted.pop()
            # Wrapped in the middle of a word, or at a blank, which is not to be seen.
            blank = " " if len(text) + 1 in ERROR_WIDTHS else ""
            counted.append((text + blank + line.text, count))
    errors: Counter[str] = Counter()
    for text, count in counted:
        errors[text] += count
    return dict(errors)


def _error(text: str) -> tuple[str, int] | None:
    """The text and count of "j.i.IOException: Premature close   1308 (100.0%)"."""
    head, bracket, percent = text.rpartition("(")
    message, _, count = head.rstrip().rpartition(" ")
    times = parse_count(count)
    if not bracket or not percent.endswith("%)") or times is None:
        return None
    # Before 2.1 the percentage was written as in the machine's language.
    if parse_number(percent[:-2].strip().replace(",", ".")) is None:
        return None
    return message.rstrip(), times


def _refused(why: str, line: Line) -> FormatError:
    return line.refusal(f"The Gatling summary is {why}.", expected=EXPECTED)
