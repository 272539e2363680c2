"""Taurus, bzt (final-stats: what it prints or logs at the end, dump-csv and dump-xml).

Loop: unknown: Taurus runs other tools and counts their samples. Latency unit: seconds; percentiles
in whole ms, means with 5 decimals in the dumps; of every sample, failed ones included. Success: no
failure, by the verdict of the tool that ran, and 2xx or 3xx where the dump has statuses: apiritif
takes any answer for a success. Percentiles: of a histogram in ms. The printed text has the share of
failures, not their number or their kind: of many samples the number is not exact, and the successes
are unknown. "Test duration" there is that of bzt with its start-up, kept beside as
`test_duration_s` and no elapsed time; TestDuration of the XML is in whole seconds. `throughput` of
the dumps is the number of samples. Final stats that two reporters printed of one run are read once.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.model import Entry, ParsedTrial
from backend.formats.taurus.console import SAMPLES, find_blocks, is_samples, read_blocks
from backend.formats.taurus.dumps import COLUMNS, ROOT, header_of, read_csv, read_xml
from backend.formats.text import Source
from backend.formats.together import joined, one_of

MARKS = (SAMPLES, ROOT, *COLUMNS[:1])
TABLE_HEADS = ("| Percentile, %", "| label ")
ENDS = ("Artifacts dir:",)


def claims(source: Source) -> str | None:
    """Why this is output of Taurus, or None."""
    if ROOT in source.text:
        return "the XML has the root element of Taurus' final-stats"
    if header_of(source) is not None:
        return "a line has the columns of Taurus' final-stats"
    line = next((line for line in source.lines if is_samples(line)), None)
    return None if line is None else f"line {line.number} is of Taurus' final-stats"


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources; a dump and a text of one trial are joined."""
    if len(sources) == 1:
        return _runs(sources[0])
    ordered = sorted(sources, key=lambda source: bool(find_blocks(source.lines)))
    readings = [(source.artefact.name, one_of(_runs(source))) for source in ordered]
    return [joined([readings[0], *((name, _rounded(trial)) for name, trial in readings[1:])])]


def _rounded(trial: ParsedTrial) -> ParsedTrial:
    """The trial without its successes, which a text gives as a rounded share."""
    return replace(trial, requests_ok=None)


def _runs(source: Source) -> list[Entry]:
    if ROOT in source.text:
        return [read_xml(source)]
    if header_of(source) is not None:
        return [read_csv(source)]
    return read_blocks(source.lines)
