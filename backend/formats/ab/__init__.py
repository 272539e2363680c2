"""ab, ApacheBench (text report, -w HTML, -g TSV of every request, -e CSV of percentiles).

Loop: closed. Latency unit: whole ms in the text and the TSV, µs in the CSV; Kbytes of 1024 bytes,
of 1000 in version 1.3. Success: complete requests with 2xx. "Non-2xx responses" are redirects and
errors alike, and all of them count as failed. A request that lost its connection is a receive error
and an exception at once, and counts once. Percentiles: the sorted value number floor(n·p/100),
counted from 0. "Length" failures are bodies that differ in length from the first, no failure of the
server by themselves; without the line of the classes below "Failed requests" all of these count as
failed. "Server Software", the header Server of the answers, names a server that the upload does not
name; its address then stays a part of it.
"""

from collections.abc import Sequence

from backend.formats.ab.files import is_percentile_csv, is_request_tsv, read_csv, read_tsv
from backend.formats.ab.report import BANNER, Report, find_reports
from backend.formats.ab.together import with_files
from backend.formats.model import Entry, ParsedTrial
from backend.formats.refusals import not_one_trial, read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Source
from backend.formats.together import read_each, split_sources

MARKS = ("ApacheBench", "Complete requests", "starttime", "Percentage served")
ENDS = ("Transfer rate:",)


def claims(source: Source) -> str | None:
    """Why this is ab's output, or None."""
    if is_request_tsv(source):
        return "a line names the columns of ab -g"
    if is_percentile_csv(source):
        return "the first line has the columns of ab -e"
    reports = find_reports(source)
    if not reports:
        return None
    first = reports[0][0]
    if first.text.startswith(BANNER):
        return f"line {first.number} is ab's banner"
    return f"ab's result begins at line {first.number}"


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the reports; with one run, the TSV and CSV beside it belong to it."""
    tables, curves, reports = split_sources(sources, is_request_tsv, is_percentile_csv)
    blocks = read_each(find_reports, reports)
    runs = [of_lines(read_or_refuse(Report(block).trial), block) for block in blocks]
    has_several_runs = len(runs) > 1 and len(reports) < len(sources)
    if max(len(tables), len(curves)) > 1 or has_several_runs:
        raise not_one_trial(
            found=f"{len(runs)} reports, {len(tables)} TSV and {len(curves)} CSV files",
            expected="one report with at most one -g and one -e file",
        )
    if not runs:
        return [*map(read_tsv, tables), *map(read_csv, curves if not tables else ())]
    if isinstance(runs[0], ParsedTrial) and len(reports) < len(sources):
        return [with_files(runs[0], tables, curves)]
    return runs
