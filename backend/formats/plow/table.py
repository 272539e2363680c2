"""plow's text: the tables of one snapshot, and which of several is the result."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from backend.formats.model import Entry, FormatError
from backend.formats.numbers import parse_count, require_count, require_number
from backend.formats.plow.trial import Asked, Figures, trial_of
from backend.formats.refusals import fault_in
from backend.formats.text import Line, Source, blocks

SUMMARY, ERRORS = "Summary:", "Error:"
PERCENTILES, HISTOGRAM = "Latency Percentile:", "Latency Histogram:"
NEEDED = ("Elapsed", "Count", "RPS", "Reads", "Writes")


def find_tables(source: Source) -> list[list[Line]]:
    """The lines of each snapshot, blank ones left out, as those that a redrawing makes."""
    lines = [line for line in source.lines if line.text]
    # A last line without its line feed may be cut off; histograms, which are last, are not needed.
    if lines and source.lines[-1] is lines[-1]:
        lines.pop()
    starts = [
        position
        for position, line in enumerate(lines[:-1])
        if line.text.endswith(SUMMARY) and lines[position + 1].words[:1] == ["Elapsed"]
    ]
    return blocks(lines, starts)


def is_snapshot(block: Sequence[Line]) -> bool:
    """Whether more is to come: then bars stand beside the time or the count."""
    return any(len(line.words) > 2 for line in block[1:3])


def may_be_snapshot(block: Sequence[Line]) -> bool:
    """Whether nothing says that this is the end: no shares in %, which older versions never print,
    and newer ones only at the end."""
    rows = takewhile(_is_bar, (line.words for line in _section(block, HISTOGRAM)))
    return any(not any(word.endswith("%") for word in row) for row in rows)


def latency_words(block: Sequence[Line]) -> tuple[str, str, str]:
    """Count, least and most latency as printed; raises KeyError or ValueError where they are not
    there."""
    names, row = _latency_rows(block)
    latency = dict(zip(names, row, strict=True))
    return dict(_pairs(block[1:]))["Count"], latency["Min"], latency["Max"]


def _is_bar(words: Sequence[str]) -> bool:
    return len(words) > 1 and parse_count(words[1]) is not None


def read_table(block: Sequence[Line], asked: Asked) -> Entry:
    """The trial of a snapshot's lines, or why there is none."""
    is_ended = any(line.text == HISTOGRAM for line in block)
    try:
        return trial_of(_figures(block), asked, incomplete=not is_ended)
    except (KeyError, ValueError) as wrong:
        last = block[-1]
        return FormatError(
            "The plow report is cut off before its latency row, or damaged.",
            line=last.number,
            found=f"{last.text} ({fault_in(wrong)})",
            expected='the rows from "Elapsed" to "Statistics" and "Latency", as plow prints them',
        )


def _figures(block: Sequence[Line]) -> Figures:
    summary = dict(_pairs(block[1:]))
    names, row = _latency_rows(block)
    return Figures(
        elapsed=summary["Elapsed"],
        count=require_count(summary["Count"]),
        codes={name: require_count(word) for name, word in summary.items() if name.endswith("xx")},
        rps=require_number(summary["RPS"]),
        concurrency=require_count(summary["Concurrency"]) if "Concurrency" in summary else None,
        reads=summary["Reads"],
        failures=dict(_failures(block)),
        latency=dict(zip(names, row, strict=True)),
        percentiles=_percentiles(block),
    )


def _pairs(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Name and figure of the summary's rows, which end with the writes."""
    for line in lines:
        words = line.words
        if len(words) == 2:
            yield words[0], words[1]
        if words[0] == NEEDED[-1]:
            return


def _latency_rows(block: Sequence[Line]) -> tuple[list[str], list[str]]:
    for position, line in enumerate(block[:-1]):
        if line.words[:1] == ["Statistics"]:
            row = block[position + 1].words
            if row[:1] == ["Latency"]:
                return line.words[1:], row[1:]
    raise ValueError("no row of latency")


def _section(block: Sequence[Line], title: str) -> Sequence[Line]:
    position = next((at for at, line in enumerate(block) if line.text == title), len(block))
    return block[position + 1 :]


def _failures(block: Sequence[Line]) -> Iterator[tuple[str, int]]:
    for line in _section(block, ERRORS):
        count, _, text = line.text.partition(" ")
        failed = parse_count(count)
        if failed is None:
            return
        yield text.strip().strip('"'), failed


def _percentiles(block: Sequence[Line]) -> dict[str, str]:
    rows = [line.words for line in _section(block, PERCENTILES)[:2]]
    if len(rows) < 2 or len(rows[0]) != len(rows[1]):
        return {}
    return dict(zip(*rows, strict=True))
