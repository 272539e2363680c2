"""k6 (end-of-test text, --summary-export, handleSummary, --out json and csv).

Loop: closed or open by the executors that the banner lists; open where iterations were dropped;
unknown otherwise. Latency unit: ms in the machine formats; in the text a unit per figure, with two
decimals cut off. `http_req_duration` is sending, waiting and receiving, without connecting.
Success: 200 to 399, or what the script's response callback expects. `http_reqs` counts every
attempt, each followed redirect as well; where some failed, a summary does not say how many of them
were answered. Its failed requests are http_req_failed, and the error rate their share of the
requests that the script's callback judged. Checks are the script's own and no errors. Percentiles:
linear interpolation at p·(n-1) of the sorted values, over failed requests too; `med` is 50. Ours
are of the answered requests of the log (--out json or csv).
"""

from collections.abc import Callable, Sequence

from backend.formats.k6.points import is_csv, is_ndjson, read_csv, read_ndjson
from backend.formats.k6.report import claims_text, read_text
from backend.formats.k6.summary import find_summaries, read_summaries
from backend.formats.model import Entry
from backend.formats.text import Source
from backend.formats.together import joined, one_of

PRINTS_TWO_DECIMALS = True
PERCENTILE_OPTION = "--summary-trend-stats"
MARKS = (
    "http_req",
    '"iterations"',
    "iterations..",
    "execution: local",
    '"type":"Point"',
    '"type":"Metric"',
    "metric_name,timestamp,metric_value",
)
FIGURE_MARKS = ("...:",)
ENDS = ("data_sent.",)
Readings = list[Entry]


def claims(source: Source) -> str | None:
    """Why this is k6's output, or None."""
    if is_ndjson(source):
        return "a line is a point of a metric, as k6 --out json writes it"
    if is_csv(source):
        return "the header has the columns of k6 --out csv"
    if find_summaries(source):
        return "a JSON object has k6's metrics"
    return claims_text(source)


def read(sources: Sequence[Source]) -> Readings:
    """Every run in the sources; a log, a JSON summary and a text of one trial are joined."""
    readings = sorted(((*_reader(source), source) for source in sources), key=lambda item: item[0])
    if len(readings) == 1:
        return readings[0][1](readings[0][2])
    runs_by_name = [(source.artefact.name, read(source)) for _, read, source in readings]
    if len({rank for rank, *_ in readings}) < len(readings):
        return [entry for _, entries in runs_by_name for entry in entries]
    return [joined([(name, one_of(entries)) for name, entries in runs_by_name])]


def _reader(source: Source) -> tuple[int, Callable[[Source], Readings]]:
    """How to read a source, with its rank: the lower, the more it says."""
    if is_ndjson(source):
        return 0, lambda log: [read_ndjson(log)]
    if is_csv(source):
        return 1, lambda log: [read_csv(log)]
    if find_summaries(source):
        return 2, read_summaries
    return 3, read_text
