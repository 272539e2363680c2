"""locust (the CSV files of --csv, --json, the JSON of /stats/requests, and the tables on stderr).

Loop: closed (users), with a constant throughput too. Latency unit: ms; exact in the mean, least
and greatest of CSV and JSON, whole ms in the text. Success: no failure, which is a status of 400
and more unless the test says otherwise. Percentiles: of buckets, the greatest one with at most
floor(n·p) requests below it. Buckets are whole ms below 100 ms, above that two significant
digits: they are within 5 % of the request's time, and so are percentiles of a histogram made of
them. Requests without an answer are counted, and their times too. The CSV files are written once
a second and not at the end, so they may lack the last second that the text has. Before 0.13 the
totals of the text have counts and rate alone, and "# reqs" may leave out failures, which the shares
of failures show; 0.13.0 prints 99.9 and 99.99 % without their names. In the JSON of /stats/requests
current_… figures are of the last ten seconds and are left out, and so is the total_rps beside them,
which is such a figure in old versions; the rate is that of the member of all requests. Of several
answers of one run the last one is the result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from backend.formats.locust.console import STARTED, find_runs, is_header, read_run
from backend.formats.locust.document import is_stats, read_document
from backend.formats.locust.requests import is_requests, last_of_each_run, read_requests
from backend.formats.locust.tables import (
    Table,
    exceptions_of,
    failures_of,
    kind_of,
    read_failures,
    read_history,
    read_stats,
    read_table,
    with_failures,
)
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.refusals import not_one_trial
from backend.formats.text import Document, Source
from backend.formats.together import covers, read_each, split_sources, with_part_noted

COUNTS_BODIES_ONLY = True
MARKS = (
    *(STARTED, "# fails", '"num_requests"', "Response Time", "Occurrences"),
    *("response time", "Traceback,Nodes", "User Count"),
)
FIGURE_MARKS = ("# reqs",)
ENDS = ("Response time percentiles", "Percentage of the requests completed")


def claims(source: Source) -> str | None:
    """Why this is locust's output, or None."""
    kind = kind_of(source)
    if kind is not None:
        return f"line {kind[1]} has the columns of locust's {kind[0]} file"
    for document in _documents(source):
        if document.value is not None:
            return f"line {document.line} begins locust's statistics in JSON"
        if '"num_none_requests"' in source.text or '"current_fail_per_sec"' in source.text:
            return f"line {document.line} begins what was a list of locust's"
    for line in source.lines:
        if STARTED in line.text or is_header(line):
            return f"line {line.number} is of locust's console"
    return None


def _documents(source: Source) -> list[Document]:
    """The lists of statistics, the answers of the web interface, and broken JSON beside them."""
    if '"num_requests"' not in source.text:
        return []
    documents = [
        document
        for document in source.documents
        if document.value is None or is_stats(document.value) or is_requests(document.value)
    ]
    return last_of_each_run(documents)


def _read_document(document: Document) -> Entry:
    is_answer = is_requests(document.value)
    return read_requests(document) if is_answer else read_document(document)


def read(sources: Sequence[Source]) -> list[Entry]:
    """The trial of these files; several runs in one text are several."""
    files, others = split_sources(sources, kind_of)
    tables = [read_table(source) for source in files]
    trials = list(map(_read_document, read_each(_documents, others)))
    runs = list(map(read_run, read_each(find_runs, others)))
    if not tables and not (trials and runs):
        return trials or runs
    by_kind = {table.kind: table for table in tables}
    if max(len(trials), len(runs), len(tables) - len(by_kind) + 1) > 1:
        raise not_one_trial(
            found=f"{len(trials)} JSON, {len(tables)} CSV and {len(runs)} console reports",
            expected="at most one of each",
        )
    trial = _together(by_kind, trials)
    if trial is None:
        return runs or [_says_nothing(tables)]
    return [reduce(_with_console, runs, trial)]


def _together(tables: dict[str, Table], trials: Sequence[Entry]) -> ParsedTrial | None:
    """The JSON's or the CSV files' trial; None if they say nothing of requests."""
    trial = _base(tables, trials)
    if trial is None:
        return None
    changes: dict[str, Any] = {}
    if "history" in tables and not trial.timeline:
        changes["timeline"] = read_history(tables["history"]).timeline
    if "failures" in tables and trial.requests_ok is not None:
        names = failures_of(tables["failures"])
        failed = _failed(trial)
        if sum(names.values()) == failed:
            changes |= with_failures(trial.requests_ok + failed, names)
        else:
            changes["disagreements"] = (
                f"the totals have {failed} failures, the failures file {sum(names.values())}",
            )
    if "exceptions" in tables:
        failures = changes.get("tool_errors", trial.tool_errors)
        changes["tool_errors"] = {**failures, **exceptions_of(tables["exceptions"])}
    return replace(trial, **changes)


def _base(tables: dict[str, Table], trials: Sequence[Entry]) -> ParsedTrial | None:
    for trial in trials:
        if isinstance(trial, FormatError):
            raise trial
        return trial
    readers = {"stats": read_stats, "history": read_history, "failures": read_failures}
    kind = next((kind for kind in readers if kind in tables), None)
    # A file of no failures alone may be one that was cut off behind its header.
    if kind is None or (kind == "failures" and not tables[kind].rows):
        return None
    return readers[kind](tables[kind])


def _failed(trial: ParsedTrial) -> int:
    named = trial.tool_errors.get("Failure Count", trial.tool_errors.get("num_failures"))
    return _sum(trial.tool_errors) if named is None else named


def _sum(counts: Mapping[str, int | None]) -> int:
    return sum(count or 0 for count in counts.values())


def _says_nothing(tables: Sequence[Table]) -> FormatError:
    return FormatError(
        f"The locust {tables[0].kind} file has no figures of requests.",
        line=tables[0].line,
        found=",".join(tables[0].header),
        expected="the file *_stats.csv beside it",
    )


def _with_console(trial: ParsedTrial, run: Entry) -> ParsedTrial:
    """The files' figures with what only the console says; other counts are disagreements."""
    if isinstance(run, FormatError):
        disagreements = (*trial.disagreements, f"the console's report was not read: {run}")
        return replace(trial, disagreements=disagreements)
    contradictions = _contradictions(trial, run)
    if contradictions and not covers(trial, run):
        return with_part_noted(run, trial, (*trial.disagreements, *contradictions))
    changes: dict[str, Any] = {
        name: getattr(run, name) for name in ("tool_version", "connections", "requested_duration_s")
    }
    if trial.requests_ok is None or run.requests_ok is None:
        return replace(trial, **changes)
    if not contradictions and trial.errors.get("status") is None:
        changes |= {"errors": run.errors, "requests_completed": run.requests_completed}
        changes |= {"tool_errors": run.tool_errors}
    if trial.reported_rps is None:
        changes["reported_rps"] = run.reported_rps
    disagreements = (*trial.disagreements, *contradictions)
    return replace(trial, disagreements=disagreements, **changes)


def _contradictions(trial: ParsedTrial, run: ParsedTrial) -> tuple[str, ...]:
    """A sentence, where the files have another number of requests than the console."""
    if trial.requests_ok is None or run.requests_ok is None:
        return ()
    ours, theirs = trial.requests_ok + _failed(trial), run.requests_ok + _sum(run.tool_errors)
    if ours == theirs:
        return ()
    return (
        f"the files say {ours} requests, the console {theirs}: "
        "locust does not write its CSV files once more at the end",
    )
