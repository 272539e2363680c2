"""siege (text on stderr, JSON, the lines of --verbose, the CSV that --log appends to).

Loop: closed, with a random delay between requests unless it is a benchmark. Latency unit: seconds
with two decimals; the text of some versions from 4.1 on says ms. MB of 1048576 bytes, of bodies
only. Success: "successful transactions", status below 400. "Transactions" leave out 5xx responses
and socket errors, which are its failed transactions; 4xx responses are transactions, neither
successful nor failed. Percentiles: none; with --verbose every response is a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.refusals import not_one_trial
from backend.formats.siege import hits
from backend.formats.siege.figures import is_result, read_document, read_log_rows, read_report
from backend.formats.siege.hits import trial_of, with_hits
from backend.formats.siege.runs import Run, find_runs, has_report, is_log_header, is_start
from backend.formats.text import Source

NAME = "siege"
MARKS = ("** SIEGE", "Transactions:", '"transactions"', " bytes ==> ", "Elap Time", "HTTP/1.")


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
    if source.is_log and not any(hits.Hits().add(line.text) for line in source.lines):
        return None
    for run in find_runs(source):
        if run.result_line:
            return f"line {run.result_line} begins siege's result"
        if run.hits.count:
            return "lines name protocol, status, seconds and bytes as siege --verbose does"
    return None


def _documents(source: Source) -> list[dict[str, object]]:
    if '"transactions"' not in source.text:
        return []
    return [entry.value for entry in source.documents if is_result(entry.value)]


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run; with one, the verbose lines, the JSON and the log beside it belong to it."""
    logs = [source for source in sources if any(is_log_header(line) for line in source.lines)]
    others = [source for source in sources if source not in logs]
    runs = [run for source in others for run in find_runs(source)]
    results = [read_document(document) for source in others for document in _documents(source)]
    trials = _merged([_report(run) for run in runs if has_report(run)], results)
    hits = [run.hits for run in runs if not has_report(run)]
    if not trials and not hits:
        return _log_rows(logs)
    if len(sources) > 1 and max(len(trials), len(hits), len(logs)) > 1:
        raise not_one_trial(
            NAME,
            found=f"{len(trials)} results, {len(hits)} files of responses, {len(logs)} logs",
            expected="one result with at most one file of responses and one log",
        )
    if len(trials) != 1 or isinstance(trials[0], FormatError):
        return trials or [trial_of(responses) for responses in hits]
    return [_with_logs(reduce(with_hits, hits, trials[0]), logs)]


def _log_rows(logs: Sequence[Source]) -> list[Entry]:
    return [row for source in logs for row in read_log_rows(source)]


def _report(run: Run) -> Entry:
    trial = read_report(run)
    return trial if isinstance(trial, FormatError) else with_hits(trial, run.hits)


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
    rows = _log_rows(logs)
    if not rows or _identity(rows[-1]) == _identity(trial):
        return trial
    disagreement = "the last row of siege's log is not of the run that the report is of"
    return replace(trial, disagreements=(*trial.disagreements, disagreement))
