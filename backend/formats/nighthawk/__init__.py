"""nighthawk (nighthawk_client: text, CSV, JSON, and its JSON for Fortio).

Loop: closed at a paced rate, open with --open-loop; the text does not say which. Latency unit: µs
in the text, ns in the JSON; from the start of a request to the end of its response, of answered
requests only, without the time in a queue. Success: status 2xx and 3xx, by our rule: nighthawk
counts classes only. Percentiles: the first step of its HdrHistogram at or above each, by its own
names: 0.990625 is 99. Completed are the responses of all classes; a stream reset is a failed read,
and a full pool is a request that the client did not send. The per-second figure of
upstream_rq_total is the rate, and its count divided by it the elapsed time. Connections, rate and
duration stand in log lines above the text; those of the JSON are for each worker, and are
multiplied. The JSON for Fortio has counts as texts, and responses of 2xx alone. The other requests
may still have been under way at the end, one on each connection. If there are more of them than
connections, they count as failed; otherwise their number is unknown.
"""

from collections.abc import Sequence

from backend.formats.fortio.documents import find_nighthawks
from backend.formats.model import Entry
from backend.formats.nighthawk.documents import find_outputs, read_fortio, read_output
from backend.formats.nighthawk.report import TITLE, find_reports, read_report
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Source
from backend.formats.together import read_each

KEEPS_CONNECTIONS = True
MARKS = (TITLE, '"execution_duration"', '"DurationHistogram"', "Request start to response end")
TABLE_HEADS = ("Min,Mean,Max,Pstdev", "Percentile,Count,Value(", "Counter,Value,Per second")
ENDS = ("upstream_rq_total",)


def claims(source: Source) -> str | None:
    """Why this is nighthawk's output, or None."""
    if find_outputs(source):
        return "a JSON object has nighthawk's keys (results, execution_duration)"
    if find_nighthawks(source):
        return "a JSON object for Fortio has counts as nighthawk writes them"
    reports = find_reports(source)
    return f"line {reports[0].start.number} begins nighthawk's report" if reports else None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources, in order."""
    return read_each(_runs, sources)


def _runs(source: Source) -> list[Entry]:
    if outputs := find_outputs(source):
        return list(map(read_output, outputs))
    if results := find_nighthawks(source):
        return list(map(read_fortio, results))
    return [
        of_lines(read_or_refuse(read_report, report), report.lines)
        for report in find_reports(source)
    ]
