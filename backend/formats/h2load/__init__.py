"""h2load (text, --log-file of every request, the JSON of --output-file).

Loop: closed for each client and stream; open where the text says that clients are created at a
rate. Latency unit: printed per figure (us, ms, s) in the text, µs in the log, seconds in the JSON;
bytes in steps of 1024. Success: 2xx and 3xx ("succeeded"). Percentiles: none before version 1.69,
then the sorted value number floor(n·p/100), counted from 0, and the mean of the two middle ones as
the median; above a million requests of a sample of them. "errored" includes requests that were
never sent because their connection had died. With a warm-up the elapsed time includes it, the
counts and the rate do not; without the lines that name the warm-up, the elapsed time is the whole
number of seconds that counts and rate make, where it is shorter.
"""

from collections.abc import Sequence
from functools import reduce

from backend.formats.h2load.document import documents, read_document
from backend.formats.h2load.log import first_row, read_log
from backend.formats.h2load.report import Report, find_reports, starts_report, with_requests
from backend.formats.model import Entry, FormatError
from backend.formats.refusals import not_one_trial, read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Line, Source
from backend.formats.together import read_each, split_sources

KEEPS_CONNECTIONS = True
PRINTS_TWO_DECIMALS = True
# A log has no word: its rows begin with the time in µs, digits that begin with 1 until 2033.
MARKS = (" total client(s)", " req/s, ", '"h2load ', "\t", "\n1")
ENDS = ("req/s ",)


def claims(source: Source) -> str | None:
    """Why this is h2load's output, or None."""
    opening = _opening_line(source)
    if opening is not None:
        return f"line {opening.number} says {' '.join(opening.words[:2])} …, as h2load does"
    if '"h2load ' in source.text and documents(source):
        return "a JSON object names h2load as its generator"
    row = first_row(source)
    return None if row is None else f"line {row} has h2load's three columns: time in µs, status, µs"


def _opening_line(source: Source) -> Line | None:
    """The first line that only h2load prints."""
    # The search for words is at the speed of C, and a log is long.
    if " client(s)" not in source.text and " req/s," not in source.text:
        return None
    return next((line for line in source.lines if starts_report(line)), None)


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the reports; with one run, the log and the JSON beside it belong to it."""
    jsons, texts, logs = split_sources(sources, documents, find_reports)
    blocks = read_each(find_reports, texts)
    runs = [of_lines(read_or_refuse(Report(block).trial), block) for block in blocks]
    results = list(map(read_document, read_each(documents, jsons)))
    if not logs and not (runs and results):
        return [*runs, *results]
    if max(len(runs), len(results), len(logs)) > 1:
        raise not_one_trial(
            found=f"{len(runs)} reports, {len(results)} JSON results and {len(logs)} logs",
            expected="one report with at most one log and one JSON result",
        )
    entries: list[Entry] = [*runs, *results, *map(read_log, logs)]
    trial, *others = entries
    return [reduce(_with_requests, others, trial)]


def _with_requests(trial: Entry, other: Entry) -> Entry:
    if isinstance(trial, FormatError) or isinstance(other, FormatError):
        return trial
    return with_requests(trial, other)
