"""ab (ApacheBench) is part of the Apache HTTP server.

It prints a text report (or an HTML table with `-w`), writes a row per request with `-g` and the
percentiles 0 to 100 with `-e`. All of them may come together as artefacts of one trial: the
figures are the report's, the samples are those of `-g`, and each is held against the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.ab import files, text
from backend.formats.model import About, FormatError, ParsedTrial
from backend.formats.source import Source

NAME = "ab"

ABOUT = About(
    title="ab (ApacheBench)",
    reads=(
        "text report, versions 1.3d, 2.0.40-dev and 2.3",
        "HTML table (`-w`)",
        "one row per request (`-g`, tab-separated): the latencies become a histogram",
        "percentiles 0 to 100 in microseconds (`-e`, CSV)",
    ),
    loop="closed",
    units=(
        "Times are printed in whole milliseconds, so 0 means below half a millisecond; `-g` has "
        "whole milliseconds too, `-e` microseconds. A Kbyte is 1024 bytes."
    ),
    percentiles=(
        "Percentile p is the sorted value number floor(n x p / 100), counted from 0: one above "
        "nearest rank where n x p / 100 is whole. `100%` is the longest request."
    ),
    success=(
        "Complete requests minus Non-2xx responses, where Connect, Receive and Exceptions are 0; "
        "else unknown, because a broken request counts in several of them."
    ),
    errors=(
        "Connect is `connect`, Receive is `read`, Write errors is `write`, Length is `length`, "
        "Exceptions is `other`, Non-2xx is `status`. A line that ab leaves out when it would say "
        "0 is read as 0; timeouts are not reported."
    ),
    traps=(
        "Complete requests counts everything that ended, receive errors too.",
        "A Length failure is a body whose length differs from the first one: no failure of a "
        "server whose page varies.",
        "Failed requests does not include Non-2xx responses: a run of nothing but 404 shows 0.",
        "The rows of `-g` are sorted by latency, not by time.",
        "What was asked for (`-n`, `-t`) is not in the output.",
    ),
)


def recognise(source: Source) -> str | None:
    """Why this artefact is ab's, or None."""
    return files.recognise_samples(source) or files.recognise_percentiles(source) or text.sign(source)


def read(sources: Sequence[tuple[Source, str]]) -> list[ParsedTrial | FormatError]:
    """The trials of these artefacts: one for each run of the report, or one of the files alone."""
    tsv = [pair for pair in sources if files.recognise_samples(pair[0])]
    csv = [pair for pair in sources if files.recognise_percentiles(pair[0])]
    reports = [pair for pair in sources if pair not in tsv and pair not in csv]
    _only_one(tsv, "-g")
    _only_one(csv, "-e")
    trials = [entry for source, why in reports for entry in text.read(source, why)]
    if not trials:
        trials = [files.alone(tsv, csv)]
        return trials
    return [_joined(entry, tsv, csv, alone=len(trials) == 1) for entry in trials]


def _only_one(found: Sequence[tuple[Source, str]], option: str) -> None:
    if len(found) > 1:
        names = " and ".join(source.name for source, _ in found)
        raise FormatError(
            f"{names} are two `{option}` files of ab, but one trial writes one of them", tool=NAME
        )


def _joined(
    entry: ParsedTrial | FormatError,
    tsv: Sequence[tuple[Source, str]],
    csv: Sequence[tuple[Source, str]],
    *,
    alone: bool,
) -> ParsedTrial | FormatError:
    """The report's trial with what the files of the same trial add."""
    if isinstance(entry, FormatError) or not (tsv or csv):
        return entry
    if not alone:
        names = ", ".join(source.name for source, _ in [*tsv, *csv])
        note = f"{names} left out: the report has several runs and does not say whose it is"
        return replace(entry, disagreements=(*entry.disagreements, note))
    for source, _ in tsv:
        entry = files.with_samples(entry, source)
    for source, _ in csv:
        entry = files.checked_against(entry, source)
    return entry
