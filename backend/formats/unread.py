"""What of a text looks like output and is not read: it is told with its lines and the reason.

Prose is not told, and neither is a table or JSON without a figure. A report that no tool claims is
known by its lines: a label of the field (Requests/sec, p99, Latency) and a number.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from backend.formats.blocks import DRAWN, JSON
from backend.formats.model import FormatError
from backend.formats.parts import TEXT, Part
from backend.formats.surroundings import BAR, Region, paragraphs_in, regions_around
from backend.formats.text import Line

# A paragraph with so many labelled numbers, or so many of the field, is of a report.
FEWEST_LABELLED, FEWEST_OF_FIELD = 3, 2
# JSON is looked into so deep for a number.
DEEPEST = 20
WHOLE_OUTPUT = "the whole output of a load tool, as the tool printed it"
UNKNOWN = "of no load tool that Loadsheet knows"
# Words, and a number behind what separates the two.
_LABELLED = re.compile(
    r"[-*|> \"]{0,8}[A-Za-z][\w/.%()\[\],+-]*(?: [\w/.%()\[\],+-]+)*"
    r"(?:[\s:=|*\"]{2,80}|[:=|])[~<>\u2248]?\d"
)
# A row of a table in boxes is no prose, with or without its frame.
_ROW = re.compile(
    r"[^\u2502]{0,80}(?:\u2502[^\u2502\d]{0,80}){1,2}\d[^\u2502]{0,80}\u2502[^\u2502]*\u2502"
)
_POINT = re.compile(r"[-*|> ]{0,8}\d[\d.,]{0,20} ?(?:%|th\b)[\s|:a-z]{1,20}\d")
# One of these is in each line of the field.
_FIELD_WORDS = (
    *("req", "rps", "qps", "latenc", "throughput", "percentile", "average", "avg", "mean"),
    *("median", "stdev", "slowest", "fastest", "p50", "p9", "error", "fail", "timeouts"),
    *("transfer", "response time"),
)
_FIELD = re.compile(
    r"(?i)req(?:uest)?s?\s?(?:/|per )\s?s|\b(?:rps|qps|requests|latency|latencies|throughput"
    r"|percentiles?|average|avg|mean|median|stdev|slowest|fastest|p50|p9\d(?:\.9+)?|errors"
    r"|failed|timeouts|transfer|response time)\b"
)


class NotRead(FormatError):
    """Lines that look like output and are in no trial, beside others that are read."""


Rest = tuple[tuple[int, int], NotRead]


def unread_in(part: Part) -> list[Rest]:
    """The lines of a part of no tool that look like output."""
    return [] if part.claims else list(_of_no_tool(part))


def _of_no_tool(part: Part) -> Iterator[Rest]:
    lines = (part.first, part.last)
    if part.kind == TEXT:
        if (found := _reports_in(part.source.lines)) is not None:
            yield _as_text(part, found)
    elif part.kind == JSON:
        if part.fault or _has_number([each.value for each in part.source.documents]):
            yield _as_json(part)
    elif part.kind != DRAWN or _FIELD.search(part.source.text):
        yield lines, _not_read(part, lines, f"the {part.kind} is {UNKNOWN}", WHOLE_OUTPUT)


def _as_text(part: Part, lines: tuple[int, int]) -> Rest:
    reason = f"this looks like output, {UNKNOWN}, or without its first lines"
    return lines, _not_read(part, lines, reason, WHOLE_OUTPUT)


def _as_json(part: Part) -> Rest:
    lines = (part.first, part.last)
    if not part.fault:
        return lines, _not_read(part, lines, f"the JSON is {UNKNOWN}", WHOLE_OUTPUT)
    refused = _not_read(part, lines, "the JSON is cut off or damaged", "the whole JSON document")
    refused.line, refused.found = part.fault_line, part.fault
    return lines, refused


def _not_read(part: Part, lines: tuple[int, int], why: str, expected: str) -> NotRead:
    first, last = lines
    where = f"Line {first} was" if first == last else f"Lines {first} to {last} were"
    shown = next((line.text for line in part.source.lines if line.number >= first), "")
    return NotRead(f"{where} not read: {why}.", line=first, found=shown, expected=expected)


def _has_number(value: Any, depth: int = 0) -> bool:
    if depth > DEEPEST:
        return False
    if isinstance(value, dict):
        return any(_has_number(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return any(_has_number(item, depth + 1) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def reports_around(part: Part) -> Iterator[tuple[int, int]]:
    """The reports above the first run and below each that are no part of it."""
    for region in regions_around(part):
        places = [_lines_of(each) for each in paragraphs_in(region.lines) if _is_report(each)]
        others = [*_needless(region, places), *_again(region)]
        first, last = min(others, default=(0, 0))[0], max(others, default=(0, 0))[1]
        # What a tool knows above its run, such as a warm-up, it passes over.
        if others and not (region.is_above and region.is_known(first, last)):
            yield first, last


def _needless(region: Region, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The reports that the run does not need; above it, all of them or none.

    Each question reads the run once more. What a run does not need, it does not need with more
    beside it either, so it is asked by halves.
    """
    if region.is_above:
        return list(places) if places and region.is_needless(*places[-1]) else []
    return list(places[bisect_left(places, True, key=lambda place: region.is_needless(*place)) :])


def _again(region: Region) -> list[tuple[int, int]]:
    """Below the run: from where another report of its tool begins, although the tool reads it."""
    paragraphs = list(paragraphs_in(region.lines))
    begin = next((each for each in paragraphs if region.has_labels_of_run(each)), None)
    if begin is None or not region.is_of_another(*_lines_of(begin)):
        return []
    rest = [each for each in paragraphs if each[0].number >= begin[0].number]
    reports = [each for each in rest if each is begin or _is_report(each)]
    return [(begin[0].number, reports[-1][-1].number)]


def _lines_of(paragraph: Sequence[Line]) -> tuple[int, int]:
    return paragraph[0].number, paragraph[-1].number


def _reports_in(lines: Sequence[Line]) -> tuple[int, int] | None:
    """The first and last line of the paragraphs that are of a report; None if there are none."""
    reports = list(filter(_is_report, paragraphs_in(lines)))
    return (reports[0][0].number, reports[-1][-1].number) if reports else None


def _is_report(paragraph: Sequence[Line]) -> bool:
    # A paragraph of a few words is looked at first for these, at the speed of C.
    texts = [line.text for line in paragraph]
    words = " ".join(texts).lower()
    if not any(word in words for word in _FIELD_WORDS):
        return False
    labelled = [text for text in texts if _LABELLED.match(text) or _POINT.match(text)]
    of_field = sum(map(_is_of_field, labelled))
    is_enough = len(labelled) >= FEWEST_LABELLED and of_field > 0
    return of_field >= FEWEST_OF_FIELD or is_enough or any(map(_is_row, texts))


def _is_of_field(text: str) -> bool:
    return _FIELD.search(text) is not None


def _is_row(text: str) -> bool:
    return BAR in text and _ROW.match(text) is not None and _is_of_field(text)
