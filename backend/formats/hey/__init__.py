"""hey (text, -o csv of every request), under its old name boom too; also the boom in Python.

Loop: closed, also with -q. Latency unit: seconds with 4 decimals, so steps of 100 µs. Success:
status 2xx and 3xx, by our rule: hey has none; it follows redirects, so statuses are those of the
last answer. Percentiles: the sorted value number ⌈n·p/100⌉, counted from 0, one above nearest rank;
where the sample is too small for one, hey prints 0 % and it is left out. Requests/sec counts failed
attempts since 0.1.0, answered ones before. Errors stand last in the text: without a sign that it is
whole they are unknown. The CSV has no row for a failed attempt and no total, so the error rate is
unknown, unless it has as many rows as requests were asked for (load.requests, -n in the command).
The CSV of 2016 names its columns otherwise; before, its rows have a number and the time alone, the
fastest first. Rows with a 4xx or 5xx status are failed requests all the same. hey keeps statuses
and latencies of its first 1,000,000 responses only: the error rate is of these, and a CSV of that
many rows is cut off. So is one whose last row is not whole. A CSV that ends behind a whole row
looks like a shorter trial: only that number of requests or the duration that was asked for shows
that rows are missing.
"""

from collections.abc import Sequence

from backend.formats.hey import boom
from backend.formats.hey.log import header_of, read_log
from backend.formats.hey.report import Report, find_reports
from backend.formats.model import Entry, FormatError
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Source
from backend.formats.together import read_each, split_sources

KEEPS_CONNECTIONS = True
COUNTS_BODIES_ONLY = True
MARKS = ("Slowest:", "response-time", "1,0.", *boom.MARKS)
ENDS = ("Status code distribution:", "RPS")


def claims(source: Source) -> str | None:
    """Why this is hey's output, or None."""
    if header_of(source) is not None:
        return "a line has the columns of hey -o csv"
    reports = find_reports(source)
    if reports:
        return f"line {reports[0][0].number} begins hey's summary: Total, Slowest"
    return boom.claims(source)


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources, in order; a log of requests is a run by itself."""
    logs, texts = split_sources(sources, lambda source: header_of(source) is not None)
    if logs and len(sources) > 1:
        raise FormatError(
            "These files do not belong to one trial: hey prints a text or a CSV, not both.",
            found=", ".join(source.artefact.name for source in sources),
            expected="one file of hey",
        )
    if logs:
        return [read_log(logs[0])]
    blocks = read_each(find_reports, texts)
    runs = [of_lines(read_or_refuse(Report(block).trial), block) for block in blocks]
    return runs or read_each(boom.read, texts)
