"""What Taurus prints and logs as final stats."""

from collections.abc import Sequence
from typing import Any

from backend.formats.model import UNANSWERED_CLASSES, Entry, Latency, ParsedTrial
from backend.formats.numbers import (
    all_known,
    count_of_share,
    nearest_of_share,
    parse_count,
    parse_float,
    parse_number,
)
from backend.formats.runs import of_lines
from backend.formats.text import Line, blocks, is_prompt

DURATION = "Test duration: "
SAMPLES, FAILURES = "Samples count: ", "% failures"
TIMES, PERCENTILES = "Average times: total ", "Percentiles:"
# "Percentile  99.0%: 2.131", as before 1.10.
PERCENTILE = "Percentile "
# A line of another run: bzt began, or a command.
STARTS = ("Starting with configs", "Configuring...", "Taurus CLI Tool")
RULE = "+-"
FAILED_LABEL = " failed samples: "
RESOLUTION_US = 1000


def is_samples(line: Line) -> bool:
    """Whether a line begins final stats: "Samples count: 800, 5.50% failures"."""
    return SAMPLES in line.text and line.text.endswith(FAILURES)


def find_blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each report, from its duration or its count of samples on."""
    before, starts = Line(0, ""), list[int]()
    for at, line in enumerate(lines):
        if is_samples(line):
            starts.append(at - (DURATION in before.text))
        before = line
    return blocks(lines, starts)


def read_blocks(lines: Sequence[Line]) -> list[Entry]:
    """The trial of each run; what several reporters print of one run is read once."""
    runs: list[tuple[ParsedTrial, list[Line]]] = []
    begins_run = True
    for block in find_blocks(lines):
        trial = _trial(block)
        if begins_run or trial != runs[-1][0]:
            runs.append((trial, block))
        else:
            runs[-1][1].extend(block)
        begins_run = _begins_run(block)
    return [of_lines(trial, block) for trial, block in runs]


def _begins_run(block: Sequence[Line]) -> bool:
    """Whether another run begins behind the report."""
    return any(is_prompt(line.text) or _after(line, *STARTS) is not None for line in block)


def _trial(block: Sequence[Line]) -> ParsedTrial:
    count, share = next(_samples(line) for line in block if is_samples(line))
    failed = _failed(block, count, share)
    times, points, is_cut = _mean_us(block), _points(block), _is_cut(block)
    least, most = points.pop("0", None), points.pop("100", None)
    latency = Latency(mean_us=times, min_us=least, max_us=most, percentiles=points)
    return ParsedTrial(
        loop=None,
        requests_completed=count if failed == 0 else None,
        requests_ok=None if failed is None or count is None else count - failed,
        attempts=count,
        failed=_printed_failed(count, share) if failed is None else failed,
        errors=dict.fromkeys(UNANSWERED_CLASSES, 0) if failed == 0 else {},
        tool_errors={"failures": failed} if failed != 0 else {},
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=None if latency == Latency() else RESOLUTION_US,
        incomplete=is_cut,
        extra={"failures_percent": parse_number(share), **_duration(block[0])},
    )


def _samples(line: Line) -> tuple[int | None, str]:
    """800 and "5.50" of "Samples count: 800, 5.50% failures"."""
    text = line.text.partition(SAMPLES)[2].removesuffix(FAILURES)
    count, _, share = text.rpartition(", ")
    return parse_count(count), share


def _duration(line: Line) -> dict[str, float]:
    """The seconds of "Test duration: 1 day, 0:01:02", which are those of bzt with its start-up."""
    text = _after(line, DURATION) or ""
    days, comma, clock = text.rpartition(", ")
    parts = all_known(map(parse_count, clock.split(":")))
    if parts is None or len(parts) != 3:
        return {}
    whole_days = parse_count(days.partition(" ")[0]) if comma else 0
    hours, minutes, seconds = parts
    return {"test_duration_s": 86_400.0 * (whole_days or 0) + 3600 * hours + 60 * minutes + seconds}


def _failed(block: Sequence[Line], count: int | None, share: str) -> int | None:
    """The failed samples: as listed by label, else the only number with that share of the count;
    None where several have it."""
    listed = [_failed_of_label(line) for line in block if FAILED_LABEL in line.text]
    if count is None:
        return None
    total = sum(failed for failed in listed if failed is not None)
    # A label that was cut off would make the sum too small.
    if total and f"{100 * total / count:.2f}" == share:
        return total
    return count_of_share(count, share)


def _printed_failed(count: int | None, share: str) -> int | None:
    """The failed samples, as exact as their share."""
    return None if count is None else nearest_of_share(count, share)


def _failed_of_label(line: Line) -> int | None:
    return parse_count(next(iter(line.text.partition(FAILED_LABEL)[0].split()[-1:]), ""))


def _after(line: Line, *labels: str) -> str | None:
    """What stands behind one of the labels, wherever it stands: the time is before it."""
    for label in labels:
        _, mark, rest = line.text.partition(label)
        if mark:
            return rest
    return None


def _mean_us(block: Sequence[Line]) -> float | None:
    """Of "Average times: total 0.086, latency 0.057, connect 0.002", whole."""
    for line in block:
        rest = _after(line, TIMES)
        if rest is not None and "connect " in rest:
            return _us(rest.partition(",")[0])
    return None


def _points(block: Sequence[Line]) -> dict[str, Any]:
    """The percentiles in µs, of a table or of a line each; the last line may be cut off."""
    points: dict[str, Any] = {}
    for line in block[:-1]:
        cells = line.text.strip("| ").split("|")
        rest = _after(line, PERCENTILE)
        if rest is not None and rest.count("%: ") == 1:
            cells = rest.split("%: ")
        if len(cells) == 2:
            percent, value = parse_number(cells[0].strip()), _us(cells[1])
            if percent is not None and percent <= 100 and value is not None:
                points.setdefault(f"{percent:g}", value)
    return points


def _is_cut(block: Sequence[Line]) -> bool:
    """Whether a table of percentiles has no last rule."""
    title = next((at for at, line in enumerate(block) if line.text.endswith(PERCENTILES)), None)
    if title is None:
        return False
    rules = sum(line.text.startswith(RULE) for line in block[title : title + 200])
    return rules < 3


def _us(text: str) -> float | None:
    seconds = parse_float(text.strip())
    return None if seconds is None or seconds < 0 else round(seconds * 1e6, 3)
