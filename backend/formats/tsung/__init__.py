"""tsung (tsung.log as text or JSON, and tsung.dump of every request).

Loop: open: users arrive at a rate, and each waits for its responses. Latency unit: ms with three
decimals. Success: 2xx and 3xx, since tsung has no rule. Percentiles: none; the log has mean,
minimum and maximum of the request times, over requests without a status as well. `request` counts
these too, so the completed ones are the sum of the statuses, and the rest got no answer.
`error_connect_…` counts attempts, retries included. A run that reached its longest duration has
`error_abort`.
"""

from collections.abc import Sequence

from backend.formats.model import Entry
from backend.formats.text import Source
from backend.formats.together import joined, one_of, read_each, split_sources
from backend.formats.tsung.dump import is_dump, read_dump
from backend.formats.tsung.log import claims_log, read_log

MARKS = ("# stats: dump at", ";<", "#date;pid;", '"finish_users_count"')
ENDS = ("EndMonitor:",)


def claims(source: Source) -> str | None:
    """Why this is tsung's output, or None."""
    if is_dump(source):
        return "a line is a request as tsung.dump has it"
    return claims_log(source)


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources; with one log, the dump beside it belongs to it."""
    dumps, logs = split_sources(sources, is_dump)
    if len(logs) == len(dumps) == 1:
        runs = (one_of(read_log(logs[0])), read_dump(dumps[0]))
        names = (logs[0].artefact.name, dumps[0].artefact.name)
        return [joined(list(zip(names, runs, strict=True)))]
    return [*read_each(read_log, logs), *map(read_dump, dumps)]
