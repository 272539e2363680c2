"""Gatling (simulation.log as text, stats.json and global_stats.json, the console's text).

Loop: open or closed, by the injection profile; no output says which. Latency unit: whole ms, of
every request, those without a response included. Success: OK, which is 200 to 209 and 304 unless
a check says otherwise. Percentiles: the four (two before 2.1) that are configured, of a digest;
the JSON does not say which, so they are taken for the default ones; of simulation.log ours come
from the requests. KO are failed checks, on a response that was there, and lost requests alike:
the texts of the errors tell them apart, and stats.json has none. The rate is over whole seconds.
The binary simulation.log of 3.13 and later is told and refused. The figures are those of all
requests ("Global"). A log of 2.x has the number of its layout in the place of the version.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.gatling.binary import claims_binary as claims_binary
from backend.formats.gatling.binary import refusal
from backend.formats.gatling.console import find_runs, is_console, read_run
from backend.formats.gatling.document import MARK, is_stats, read_stats, stats_in
from backend.formats.gatling.log import is_log, read_log
from backend.formats.gatling.records import LOG_MARKS
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.refusals import not_one_trial
from backend.formats.runs import of_lines
from backend.formats.text import Source
from backend.formats.together import joined

MARKS = ("---- Global Information", "---- Requests --", MARK, *LOG_MARKS)
ENDS = ("---- Response Time Distribution", "---- Errors")


def claims(source: Source) -> str | None:
    """Why this is Gatling's output, or None."""
    if is_log(source):
        return "a line is a record of Gatling's simulation.log"
    for line in source.lines:
        if is_console(line):
            return f"line {line.number} is the title of a block of Gatling's console"
    return "a JSON object has Gatling's statistics" if is_stats(source) else None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run of one source; several sources are of one trial."""
    readings = [(source.artefact.name, _runs(source)) for source in sorted(sources, key=_rank)]
    if len(readings) == 1:
        return readings[0][1]
    logs = sum(_rank(source) == 0 for source in sources)
    most = max(len(runs) for _, runs in readings)
    if logs > 1 or most > 1:
        raise not_one_trial(
            found=f"{logs} logs, and {most} runs in one of the files",
            expected="one simulation.log, one console's text and the report's JSON, of one run",
        )
    # A file that was claimed by a line of it may hold no run at all.
    runs_by_name = [(name, runs[0]) for name, runs in readings if runs]
    return [_together(runs_by_name)] if runs_by_name else []


def _rank(source: Source) -> int:
    """The richest first: every request, then the console with its errors, then the JSON."""
    if source.is_binary or is_log(source):
        return 0
    return 2 if is_stats(source) else 1


def _runs(source: Source) -> list[Entry]:
    if source.is_binary:
        return [refusal(source)]
    if is_log(source):
        return read_log(source)
    documents = stats_in(source) if is_stats(source) else []
    if documents:
        return [read_stats(document) for document in documents]
    return [of_lines(read_run(block), block) for block in find_runs(source.lines)]


def _together(readings: Sequence[tuple[str, Entry]]) -> Entry:
    """One trial; what was refused is said beside what was read."""
    refused = [(name, run) for name, run in readings if isinstance(run, FormatError)]
    trials = [(name, run) for name, run in readings if isinstance(run, ParsedTrial)]
    if not trials:
        return refused[0][1]
    # The others have the same errors, with shortened texts or none.
    others = [(name, replace(run, tool_errors={})) for name, run in trials[1:]]
    trial = joined([trials[0], *others])
    notes = tuple(f"{name} was not read: {why}" for name, why in refused)
    return replace(trial, disagreements=trial.disagreements + notes)
