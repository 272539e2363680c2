"""siege (text on stderr, JSON, the lines of --verbose, the CSV that --log appends to).

Loop: closed, with a random delay between requests unless it is a benchmark. Latency unit: seconds
with two decimals; the text of some versions from 4.1 on says ms. MB of 1048576 bytes, of bodies
only. Success: "successful transactions", status below 400. "Transactions" leave out 5xx responses
and socket errors, which are its failed transactions; 4xx responses are transactions, neither
successful nor failed. Versions before 4 can print more successes than transactions: then the
successes are unknown. Percentiles: none; with --verbose every response is a sample.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import filterfalse

from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.refusals import not_one_trial
from backend.formats.runs import of_lines
from backend.formats.siege.figures import NEEDED, read_document, read_log_rows, read_report
from backend.formats.siege.hits import RESOLUTION_US, Hits, trial_of, with_hits
from backend.formats.siege.runs import RESULT, Run, find_runs, has_report, is_log_header, is_start
from backend.formats.text import Line, Source
from backend.formats.together import read_each, split_sources

COUNTS_BODIES_ONLY = True
MARKS_OF_RUNS = (RESULT, " secs:", "HTTP/1.0,", "HTTP/1.1,")
MARKS = ("** SIEGE", "Transactions:", '"transactions"', " bytes ==> ", "Elap Time", "HTTP/1.")
FIGURE_MARKS = ("Transactions:", " secs:", "HTTP/1.0,", "HTTP/1.1,")
ENDS = ("Shortest transaction:",)


def claims(source: Source) -> str | None:
    """Why this is siege's output, or None."""
    for line in source.lines:
        if is_log_header(line):
            return f"line {line.number} has the columns of siege's log"
        if is_start(line):
            return f"line {line.number} is siege's banner"
    if _documents(source):
        return "a JSON object has siege's keys (transactions, availability, …)"
    return _claims_responses(source)


def _claims_responses(source: Source) -> str | None:
    # A log of another tool is not to be read to its end to find that out.
    if source.is_log and not any(Hits().add(line.text) for line in source.lines):
        return None
    # Nor is each line of another tool's text.
    if not source.is_log and not any(mark in source.text for mark in MARKS_OF_RUNS):
        return None
    for run in find_runs(source):
        if run.result_line:
            return f"line {run.result_line} begins siege's result"
        if run.hits.count:
            return "lines name protocol, status, seconds and bytes as siege --verbose does"
    return None


def _documents(source: Source) -> list[dict[str, object]]:
    return [document.value for document in source.objects((*NEEDED, "availability"))]


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run; with one, the verbose lines, the JSON and the log beside it belong to it."""
    logs, others = split_sources(sources, lambda source: any(map(is_log_header, source.lines)))
    runs = read_each(find_runs, others)
    if len(sources) == 1 and len(runs) > 1:
        return _runs_of_one_text(runs)
    results = list(map(read_document, read_each(_documents, others)))
    trials = _merged(list(map(_report, filter(has_report, runs))), results)
    hits = [run.hits for run in filterfalse(has_report, runs)]
    if len(sources) > 1 and (trials or hits):
        _refuse_several(trials, hits, logs)
    return _with_files(trials, hits, logs)


def _with_files(trials: list[Entry], hits: Sequence[Hits], logs: Sequence[Source]) -> list[Entry]:
    """The one result with the responses and the log beside it; each kind alone without one."""
    if len(trials) == 1 and isinstance(trials[0], ParsedTrial):
        return [_with_logs(reduce(with_hits, hits, trials[0]), logs)]
    return trials or list(map(trial_of, hits)) or read_each(read_log_rows, logs)


def _runs_of_one_text(runs: Sequence[Run]) -> list[Entry]:
    """Each run. Responses above a report join it only if the report counts the same responses."""
    entries: list[Entry] = []
    above: Run | None = None
    for run in runs:
        if not has_report(run):
            entries.append(of_lines(trial_of(run.hits), _lines_from(run, [])))
            above = run
            continue
        entry = _report(run)
        if above is not None and isinstance(entry, ParsedTrial) and _are_of(above, run, entry):
            entries.pop()
            entry = of_lines(with_hits(entry, above.hits), _lines_from(above, run.lines))
        entries.append(entry)
        above = None
    return entries


def _are_of(responses: Run, run: Run, trial: ParsedTrial) -> bool:
    """Whether a report without responses of its own counts those above it.

    Then both have as many of each outcome, and the longest response took the same time.
    """
    hits = responses.hits
    rows = trial_of(hits)
    if run.hits.count or trial.requests_completed != hits.count_below(500):
        return False
    if trial.requests_ok not in (None, rows.requests_ok):
        return False
    longest_us, most_us = hits.requests.max_us, trial.latency.max_us
    if longest_us is None or most_us is None:
        return True
    return abs(longest_us - most_us) <= RESOLUTION_US


def _lines_from(run: Run, lines: Sequence[Line]) -> list[Line]:
    return [*lines] if run.first is None else [run.first, *lines]


def _refuse_several(trials: Sequence[Entry], hits: Sequence[Hits], logs: Sequence[Source]) -> None:
    """Raise FormatError where several files cannot be of one trial."""
    if max(len(trials), len(hits), len(logs)) > 1:
        raise not_one_trial(
            found=f"{len(trials)} results, {len(hits)} files of responses, {len(logs)} logs",
            expected="one result with at most one file of responses and one log",
        )


def _report(run: Run) -> Entry:
    trial = read_report(run)
    read = trial if isinstance(trial, FormatError) else with_hits(trial, run.hits)
    return of_lines(read, run.lines)


def _merged(reports: Sequence[Entry], results: Sequence[Entry]) -> list[Entry]:
    """Reports and JSON results; where both tell of the same runs, the reports, which say more."""
    # With JSON the banner alone is printed as text, by versions before 4.1.
    reports = [report for report in reports if isinstance(report, ParsedTrial) or len(results) == 0]
    if [_identity(report) for report in reports] == [_identity(result) for result in results]:
        return list(reports)
    return [*reports, *results]


def _identity(trial: Entry) -> object:
    if isinstance(trial, FormatError):
        return trial
    return (trial.requests_completed, trial.requests_ok, trial.elapsed_s, dict(trial.tool_errors))


def _with_logs(trial: ParsedTrial, logs: Sequence[Source]) -> ParsedTrial:
    """The trial, with a disagreement where the log's last row, the newest, says something else."""
    rows = read_each(read_log_rows, logs)
    if not rows or _identity(rows[-1]) == _identity(trial):
        return trial
    disagreement = "the last row of siege's log is not of the run that the report is of"
    return replace(trial, disagreements=(*trial.disagreements, disagreement))
