"""fortio (-json, and the text it prints on stderr).

Loop: closed, also with -qps, which paces threads that still wait for their response. Latency unit:
seconds as decimals, durations in ns in the JSON. Success: 2xx and 3xx, by our rule: fortio takes
418 for one too and redirects for errors. Code -1 is any failure of the connection: refused, reset
and timeout are not told apart. Percentiles: linear interpolation inside a bucket of fortio's
histogram. Its buckets are as wide as -r (1 ms without it; the text does not say another one) and
wider above ten times that, never closer than 8 % of their values: they are no histogram of three
digits, so the percentiles stay fortio's own and are not merged. Errors are in them.
"""

from collections.abc import Sequence

from backend.formats.fortio.documents import find_results, read_results
from backend.formats.fortio.report import find_reports, read_reports
from backend.formats.model import Entry
from backend.formats.text import Source
from backend.formats.together import joined, one_of, read_each, split_sources

MARKS = ("Fortio ", "Aggregated Function Time", '"DurationHistogram"')
TABLE_HEADS = ("# range, mid point",)
ENDS = ("All done ",)


def claims(source: Source) -> str | None:
    """Why this is fortio's output, or None."""
    if find_results(source):
        return "a JSON object has fortio's keys (RunType, DurationHistogram)"
    reports = find_reports(source.lines)
    return f"line {reports[0][0].number} begins fortio's report" if reports else None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources; a JSON and a text of one trial are joined."""
    results, texts = split_sources(sources, find_results)
    runs, printed = read_each(read_results, results), read_each(read_reports, texts)
    if len(results) == len(texts) == 1:
        names = (results[0].artefact.name, texts[0].artefact.name)
        return [joined([(names[0], one_of(runs)), (names[1], one_of(printed))])]
    return runs + printed
