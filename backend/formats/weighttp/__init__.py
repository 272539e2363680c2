"""weighttp (text of versions to 0.4, JSON of 0.5, -e CSV of percentiles).

Loop: closed. Latency unit: none in the text, µs in the JSON and the CSV: connect and response
together (`total_times`), failed requests among them; kbytes of 1024 bytes. Success: 2xx and 3xx
("succeeded", "pass"). Percentiles: the sorted value number floor(n·p/100), counted from 0; the
median in the JSON is the lower of the middle two. Requests done and the rate include those that
failed; completed are those with a status.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.refusals import not_one_trial, read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Document, Line, Source
from backend.formats.together import read_each, split_sources
from backend.formats.weighttp.curve import disagreements, is_curve, read_curve
from backend.formats.weighttp.document import documents, read_document
from backend.formats.weighttp.report import is_finish, read_report
from backend.formats.weighttp.start import BANNER, Start, is_banner, thread_of

MARKS = (BANNER, " millisec and ", '"reqs_per_sec"', "Time in us")
FIGURE_MARKS = ("finished in ", '"reqs_per_sec"', "requests:")
ENDS = ("traffic:",)
# The parts of a run, in order.
BEGIN, THREADS, RESULT = range(3)


def claims(source: Source) -> str | None:
    """Why this is weighttp's output, or None."""
    if is_curve(source):
        return "the first line has the columns of weighttp -e"
    for line in source.lines:
        if is_banner(line):
            return f"line {line.number} is weighttp's banner"
        if is_finish(line):
            return f"line {line.number} gives the time as weighttp does"
    if documents(source):
        return "a JSON object has weighttp's keys (reqs_per_sec, request_counts)"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the outputs; with one run, the CSV beside it belongs to it."""
    curves, outputs = split_sources(sources, _is_curve_alone)
    runs = read_each(_runs, outputs)
    if len(curves) > 1 or (curves and len(runs) > 1):
        raise not_one_trial(
            found=f"{len(runs)} runs and {len(curves)} CSV files",
            expected="one run with at most one -e file",
        )
    return _with_curve(runs, read_curve(curves[0])) if curves else runs


def _is_curve_alone(source: Source) -> bool:
    return is_curve(source) and not documents(source)


def _with_curve(runs: Sequence[Entry], curve: ParsedTrial) -> list[Entry]:
    if not runs:
        return [curve]
    return [
        run
        if isinstance(run, FormatError)
        else replace(run, disagreements=(*run.disagreements, *disagreements(run, curve)))
        for run in runs
    ]


def _runs(source: Source) -> list[Entry]:
    """Each run of an output, in order."""
    by_line = {document.line: document for document in documents(source)}
    return [
        _read(block, next(filter(None, (by_line.get(line.number) for line in block)), None))
        for block in _blocks(source.lines, by_line)
    ]


def _blocks(lines: Sequence[Line], by_line: dict[int, Document]) -> list[list[Line]]:
    """The lines of each run: one begins where a part stands that comes before the last one."""
    runs: list[list[Line]] = []
    reached, threads = RESULT, 0
    for line in lines:
        place, thread = _place(line, by_line), thread_of(line)
        again = place == THREADS == reached and thread is not None and thread.number > threads
        if place is not None and place <= reached and not again:
            runs.append([])
        reached = reached if place is None else place
        threads = thread.number if thread is not None else threads
        if runs:
            runs[-1].append(line)
    return runs


def _place(line: Line, by_line: dict[int, Document]) -> int | None:
    if is_banner(line):
        return BEGIN
    if thread_of(line) is not None:
        return THREADS
    # A carriage return makes several lines of one number.
    is_document = line.number in by_line and "{" in line.text
    return RESULT if is_finish(line) or is_document else None


def _read(block: Sequence[Line], document: Document | None) -> Entry:
    start = Start.of(block)
    if document is None:
        return of_lines(read_or_refuse(read_report, block, start), block)
    return of_lines(read_document(document, start), block)
