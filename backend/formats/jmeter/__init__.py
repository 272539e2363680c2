"""JMeter (JTL as CSV with or without header, JTL as XML, the summariser's lines, statistics.json
of the dashboard, the CSV of the listeners Aggregate Report and Summary Report).

Loop: closed or open, by the kind of thread group; no output says which. Latency unit: whole ms,
of every sample, those without an answer included. Success: the sample's own flag (2xx and 3xx,
unless an assertion says otherwise). Percentiles: none in the JTL and the summariser; ours come
from the samples. Completed are the samples with a numeric code; their `bytes` alone are received
ones. Rows of transaction controllers, and of redirects and embedded resources (`label-0`), are
no requests of their own. The elapsed time is from the first start to the last end. The
summariser counts failures of any kind together, and its time is whole seconds. So do the dashboard
and the listeners, of which the row of all samples is read. The dashboard's three percentiles are
90, 95 and 99, unless the settings aggregate_rpt_pct1 to 3 said otherwise, which the file does not
say; its elapsed time is sampleCount ÷ throughput. A listener gives the share of errors alone: of
many samples their number is not exact, and the successes are unknown.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.jmeter import aggregate
from backend.formats.jmeter.layout import layout_of
from backend.formats.jmeter.rows import Rows
from backend.formats.jmeter.samples import Samples
from backend.formats.jmeter.summary import MARK, find_runs, is_summary, read_run
from backend.formats.jmeter.xml import is_xml, read_xml
from backend.formats.logs import ahead
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.refusals import not_one_trial
from backend.formats.runs import of_lines
from backend.formats.text import Source
from backend.formats.together import (
    covers,
    joined,
    one_of,
    read_each,
    split_sources,
    with_part_noted,
)

# The last two stand in a JTL without a header, which has no word of its own.
MARKS = ("elapsed", "<testResults", MARK, "standalone test @", "true", "false", *aggregate.MARKS)
FIGURE_MARKS = ("/s Avg:",)
ENDS = ("... end of run", "Tidying up")


def claims(source: Source) -> str | None:
    """Why this is JMeter's output, or None."""
    if is_xml(source):
        return "the XML has the root element of a JMeter JTL"
    layout = layout_of(source)
    if layout is not None:
        about = "header" if layout.has_header else "row"
        return f"line {layout.first_line - layout.has_header} is the {about} of a JMeter JTL"
    if aggregate.find_statistics(source):
        return "a JSON object has the keys of JMeter's dashboard (sampleCount, pct1ResTime)"
    if aggregate.header_of(source) is not None:
        return "a line has the columns of JMeter's Aggregate Report or Summary Report"
    return _claim_of_summary(source)


def _claim_of_summary(source: Source) -> str | None:
    if MARK not in source.text and "standalone test @" not in source.text:
        return None
    for line in source.lines:
        if is_summary(line):
            return f"line {line.number} is of JMeter's summariser"
        if line.text.startswith("Starting standalone test @"):
            return f"line {line.number} says that JMeter starts"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run of the summaries; with one run, the JTL beside it belongs to it."""
    totals, others = split_sources(sources, _has_totals)
    aggregated = read_each(_read_totals, totals)
    if totals and others:
        trial, total = one_of(_read_samples(others)), one_of(aggregated)
        if not covers(trial, total):
            return [with_part_noted(total, trial, ())]
        names = (others[0].artefact.name, totals[0].artefact.name)
        return [joined([(names[0], trial), (names[1], total)])]
    return aggregated or _read_samples(others)


def _has_totals(source: Source) -> bool:
    return bool(aggregate.find_statistics(source)) or aggregate.header_of(source) is not None


def _read_totals(source: Source) -> list[Entry]:
    documents = aggregate.find_statistics(source)
    if documents:
        return list(map(aggregate.read_statistics, documents))
    return [aggregate.read_table(source)]


def _read_samples(sources: Sequence[Source]) -> list[Entry]:
    logs, texts = split_sources(sources, lambda source: is_xml(source) or layout_of(source))
    blocks = read_each(lambda source: find_runs(source.lines), texts)
    runs = [of_lines(read_run(block), block) for block in blocks]
    if len(logs) > 1 or (logs and len(runs) > 1):
        raise not_one_trial(
            found=f"{len(logs)} JTL files and {len(runs)} summaries",
            expected="one JTL with at most one summary",
        )
    if not logs:
        return runs
    trial = _read_log(logs[0])
    return [_with_summary(trial, run) for run in runs] or [trial]


def _read_log(source: Source) -> ParsedTrial:
    layout = layout_of(source)
    if is_xml(source) or layout is None:
        return read_xml(source)
    rows, samples = Rows(source, layout), Samples()
    for chunk in ahead(rows.frames()):
        samples.add(chunk.frame, chunk.line, chunk.threads)
    return samples.trial(incomplete=rows.is_cut)


def _with_summary(trial: ParsedTrial, summary: Entry) -> ParsedTrial:
    """The JTL's figures, with the summary's rate; where they differ, both are said."""
    if isinstance(summary, FormatError):
        return replace(trial, disagreements=(f"the summary was not read: {summary}",))
    failed = summary.tool_errors["Err"] or 0
    printed = (summary.requests_ok or 0) + failed
    disagreements = []
    # The summariser leaves out transactions, and with them the samples that are their parts.
    if not printed:
        return trial
    if printed != trial.samples:
        disagreements.append(
            f"the summary says {printed} samples, the JTL has {trial.samples} of them"
        )
    elif trial.requests_ok is not None and printed - failed != trial.requests_ok:
        disagreements.append(
            f"the summary says {failed} failed samples, the JTL has {printed - trial.requests_ok}"
        )
    if not covers(trial, summary):
        return with_part_noted(summary, trial, disagreements)
    return replace(
        trial,
        reported_rps=summary.reported_rps,
        disagreements=tuple(disagreements),
        incomplete=trial.incomplete or summary.incomplete,
    )
