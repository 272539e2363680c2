"""artillery (the JSON report of -o and the text on stdout; versions 1 and 2).

Loop: open (users arrive at a rate; inside a user requests are serial). Latency unit: ms; least
and greatest whole, mean with one decimal; of answered requests only. Success: 2xx and 3xx;
artillery itself counts any answer. Percentiles: of a sketch with 1 % relative error, so that the
last ones can lie below the greatest time. The rate is a mean over periods of 10 s, not requests
÷ time. The duration stands in the text alone, in whole seconds, start-up included.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.artillery.console import (
    LAUNCHED,
    RUN,
    SUMMARIES,
    find_runs,
    is_figure,
    read_run,
)
from backend.formats.artillery.document import is_report, read_document
from backend.formats.model import Entry, FormatError
from backend.formats.refusals import not_one_trial
from backend.formats.runs import of_lines
from backend.formats.text import Document, Source
from backend.formats.together import read_each

COUNTS_BODIES_ONLY = True
JSON_MARKS = ('"aggregate"', '"scenariosCreated"')
MARKS = (*JSON_MARKS, RUN, *SUMMARIES, LAUNCHED, "http.requests: ...")
FIGURE_MARKS = (*SUMMARIES, "Report @ ", "Metrics for period to:", *MARKS[-2:])
ENDS = ("vusers.", "Codes:")
BROKEN = ('"http.requests"', '"scenariosCreated"', '"vusers.created"')


def claims(source: Source) -> str | None:
    """Why this is artillery's output, or None."""
    for document in _reports(source):
        return f"line {document.line} begins artillery's report in JSON"
    for line in source.lines:
        if line.text.startswith((RUN, *SUMMARIES)) or is_figure(line):
            return f"line {line.number} is of artillery's console"
    return None


def _reports(source: Source) -> list[Document]:
    """The JSON reports, broken ones too."""
    if not any(mark in source.text for mark in JSON_MARKS):
        return []
    return [document for document in source.documents if _is_ours(source, document)]


def _is_ours(source: Source, document: Document) -> bool:
    """Whether a document is a report, or was one before it was broken."""
    if document.value is not None:
        return is_report(document.value)
    return any(word in source.text for word in BROKEN)


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every report; a JSON and a text of one trial are read together."""
    reports = list(map(read_document, read_each(_reports, sources)))
    runs = read_each(_read_texts, sources)
    if not reports or not runs:
        return reports or runs
    if len(reports) > 1 or len(runs) > 1:
        raise not_one_trial(
            found=f"{len(reports)} JSON and {len(runs)} console reports", expected="one of each"
        )
    return [_together(reports[0], runs[0])]


def _read_texts(source: Source) -> list[Entry]:
    if not any(mark in source.text for mark in MARKS[len(JSON_MARKS) :]):
        return []
    return [of_lines(read_run(block), block) for block in find_runs(source.lines)]


def _together(report: Entry, run: Entry) -> Entry:
    """The JSON's figures and the text's duration; a quiet run (-q) has no text."""
    if isinstance(report, FormatError) or isinstance(run, FormatError):
        return report
    names = ("requests_completed", "requests_ok", "bytes_received")
    return replace(
        report,
        elapsed_s=run.elapsed_s,
        disagreements=tuple(
            f"{name} is {getattr(report, name)} in the JSON and {getattr(run, name)} in the text"
            for name in names
            if getattr(run, name) is not None and getattr(report, name) != getattr(run, name)
        ),
    )
