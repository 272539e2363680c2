"""Finding the runs in siege's text: what each printed, and its verbose lines."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from backend.formats.decoding import decode
from backend.formats.logs import line_chunks
from backend.formats.siege.hits import Hits
from backend.formats.text import Line, Source, clean_lines, is_prompt

BANNER = "** SIEGE "
PREPARING = "** Preparing "
RESULT = "Transactions:"
LIFTING = "Lifting the server siege"
LOG_COLUMNS = ["Date & Time", "Trans", "Elap Time", "Data Trans", "Resp Time"]


@dataclass
class Run:
    """One run: its lines, without those of single responses."""

    lines: list[Line] = field(default_factory=list)
    hits: Hits = field(default_factory=Hits)
    # Its first line, one of a response too.
    first: Line | None = None
    # Of its result, from 1; 0 without one.
    result_line: int = 0
    # Of a line that may lack its end, as the text ends in it; 0 for none.
    cut_line: int = 0

    def add(self, line: Line) -> None:
        """Count the line if it is one of a response, else keep it."""
        self.first = self.first or line
        if self.hits.add(line.text):
            return
        if line.text:
            self.lines.append(line)
        if line.text.startswith(RESULT):
            self.result_line = line.number


def has_report(run: Run) -> bool:
    """Whether siege printed more than lines of responses: a start, or a result."""
    return bool(run.result_line) or any(is_start(line) for line in run.lines)


def is_start(line: Line) -> bool:
    """Whether siege prints this line before a run."""
    return _is_banner(line) or (
        line.text.startswith(PREPARING) and line.text.endswith("concurrent users for battle.")
    )


def _is_banner(line: Line) -> bool:
    return line.text[: len(BANNER)].upper() == BANNER


def is_log_header(line: Line) -> bool:
    """Whether this names the columns of siege's log."""
    if not line.text.startswith(LOG_COLUMNS[0]):
        return False
    return [cell.strip() for cell in line.text.split(",")][: len(LOG_COLUMNS)] == LOG_COLUMNS


def find_runs(source: Source) -> list[Run]:
    """Every run in the text that has a start, a result or verbose lines."""
    runs = [Run()]
    for line in map(_without_progress, _lines(source)):
        # Responses are printed before the result of their run.
        is_after = runs[-1].result_line and Hits().add(line.text)
        if is_after or _begins(runs[-1], line):
            runs.append(Run())
        runs[-1].add(line)
    _note_cut(runs[-1], source)
    return [run for run in runs if run.hits.count or has_report(run)]


def _note_cut(last: Run, source: Source) -> None:
    if last.lines and not source.is_log and not source.text[-1:].isspace():
        last.cut_line = last.lines[-1].number


def _lines(source: Source) -> Iterator[Line]:
    if not source.is_log:
        yield from source.lines
        return
    for number, chunk in line_chunks(source):
        for line in clean_lines(decode(chunk)):
            yield Line(number + line.number - 1, line.text)


def _without_progress(line: Line) -> Line:
    """The result's first line without "Lifting the server siege... done." before it."""
    if line.text.startswith(LIFTING) and RESULT in line.text:
        return Line(line.number, line.text[line.text.index(RESULT) :])
    return line


def _begins(run: Run, line: Line) -> bool:
    if _is_banner(line):
        return True
    if line.text.startswith(PREPARING):
        return bool(run.result_line) or any(
            earlier.text.startswith(PREPARING) for earlier in run.lines
        )
    if run.hits.count and is_prompt(line.text):
        return True
    return bool(run.result_line) and line.text.startswith(RESULT)
