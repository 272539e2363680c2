"""HttpArena (the summaries in its site/data, such as baseline-512.json).

A file is a JSON array with a trial for each server. Its name says the test and the connections:
baseline-512.json is the workload baseline at 512 connections. Under another name the workload is
unknown. The outputs of the load tools are not in the archive, and its files do not name the tools.
The check `published-figures` fires on each trial.

Loop: closed. Latency unit: as printed, us to s. Success: 2xx and 3xx; attempts without a response
are unknown. Percentiles: p99 as printed; unknown where it equals the mean, which the archive prints
in the place of a p99 that the load tool does not give. Throughput: the printed rate, marked as
reported. Mostly it counts successful responses only; a trial with other responses says so. It is
unknown where no response succeeded, and where the printed responses and duration cannot give it.
The tool of the trials is `httparena`. Bandwidth is left out: its units differ in size between load
tools.
"""

from collections.abc import Iterator, Sequence

from backend.formats.httparena.row import KEYS, trial_of
from backend.formats.model import Entry
from backend.formats.refusals import broken_document, read_figures
from backend.formats.text import Document, Source
from backend.formats.together import read_each

MARKS = ('"p99_latency"',)
IS_TABLE = True
EXPECTED = f"objects with {', '.join(KEYS)}, as in HttpArena's site/data"


def claims(source: Source) -> str | None:
    """Why this is a summary of HttpArena, or None."""
    if not all(f'"{key}"' in source.text for key in KEYS):
        return None
    for document in source.documents:
        if _is_summary(document):
            return f"line {document.line} begins a JSON array with the keys of HttpArena"
    return None


def _is_summary(document: Document) -> bool:
    """Whether this is an array of results, also where it is cut off."""
    rows = document.value
    if not isinstance(rows, list):
        return rows is None
    return any(isinstance(row, dict) and row.keys() >= set(KEYS) for row in rows)


def read(sources: Sequence[Source]) -> list[Entry]:
    """A trial, or a refusal, for each server of each file."""
    return read_each(_entries, sources)


def _entries(source: Source) -> Iterator[Entry]:
    for document in filter(_is_summary, source.documents):
        if document.value is None:
            yield broken_document(
                document, title="summary of HttpArena", expected="the whole JSON array"
            )
            continue
        for row in document.value:
            yield read_figures(
                trial_of,
                row,
                source.artefact.name,
                title="summary of HttpArena",
                line=document.line,
                expected=EXPECTED,
            )
