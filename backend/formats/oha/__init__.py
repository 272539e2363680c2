"""oha (text, JSON, CSV of every response).

Loop: closed, also with -q (a pace, at most as many requests under way as connections); with
--latency-correction times count from the intended start, which the output does not say.
Latency unit: one for a whole text (secs in old versions), seconds in JSON and CSV; bytes of bodies
in steps of 1024. Success: 2xx and 3xx; oha's success rate counts responses of any status.
Percentiles: the sorted value number floor(n·p/100), counted from 0, of responses: timeouts and
errors have no latency. The rate counts errors, and requests aborted when the time was up, which
are no errors here. The CSV has responses only: errors and the error rate are unknown there,
unless it has as many rows as requests were asked for (load.requests, -n in the command).
"""

from collections.abc import Sequence

from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.oha.document import is_result, read_document
from backend.formats.oha.report import Report, find_reports
from backend.formats.oha.rows import is_csv, read_csv
from backend.formats.refusals import not_one_trial, read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Source
from backend.formats.together import read_each, split_sources, with_samples

KEEPS_CONNECTIONS = True
COUNTS_BODIES_ONLY = True
MARKS = ("Success rate:", '"successRate"', "request-start,DNS")
ENDS = ("Status code distribution:",)


def claims(source: Source) -> str | None:
    """Why this is oha's output, or None."""
    if is_csv(source):
        return "a line has the columns of oha's CSV"
    if any(is_result(document.value) for document in source.documents):
        return "a JSON object has oha's summary (successRate, requestsPerSec, …)"
    reports = find_reports(source)
    if reports:
        return f"line {reports[0][0].number} says Success rate, the next lines oha's times"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources; with one result, the CSV beside it belongs to it."""
    tables, others = split_sources(sources, is_csv)
    values = [document.value for source in others for document in source.documents]
    runs = list(map(read_document, filter(is_result, values)))
    blocks = read_each(find_reports, others)
    runs += [of_lines(read_or_refuse(Report(block).trial), block) for block in blocks]
    if len(tables) > 1 or (len(runs) > 1 and tables):
        raise not_one_trial(
            found=f"{len(runs)} results and {len(tables)} CSV files",
            expected="one result with at most one CSV",
        )
    if not tables:
        return runs
    rows = read_csv(tables[0])
    return [_with_rows(run, rows) for run in runs] or [rows]


def _with_rows(trial: Entry, rows: ParsedTrial) -> Entry:
    """The result's figures with the samples of the CSV; a refusal stays one."""
    if isinstance(trial, FormatError):
        return trial
    contradiction = (
        f"the result has responses by status {trial.status_counts}, the CSV {rows.status_counts}"
    )
    is_contradicted = trial.status_counts != rows.status_counts
    return with_samples(trial, rows, [contradiction] if is_contradicted else [])
