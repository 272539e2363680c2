"""A table from a publication, written down as CSV: figures without an output of a load tool.

The first line is `# loadsheet published table`. Below it stand `# source: Title, author` and
`# published: 2009-12-22` (a year, a month or a date), and `# tool: ab 2.0` where the publication
names its load tool. Then comes a CSV table with a header. Each row is one trial. An empty field is
unknown.

Columns of the server and the request: `server` (required), `version`, `runtime`, `workload`,
`method`, `path`, `payload_bytes`, `keepalive` (yes or no). A column such as `setting:backlog` is a
setting of the server. Columns of the load: `loop` (open or closed), `connections`, `threads`,
`rate_rps`, `duration_s`, `requests_asked`. Columns of the figures, of which a row needs one:
`throughput_rps`, `mean_ms`, `min_ms`, `max_ms`, percentiles such as `p95_ms`, `requests`
(answered), `errors` (failed, beside those answered), `elapsed_s`, `transfer_kib_s`. `place` is the
page or line of the publication. A file has at most 10,000 lines.

Loop: as the row says, else open with a rate and closed with connections. Latency unit: ms.
Success: all of `requests`; unknown where a row has no `errors`. Percentiles: the publication's.
Throughput: the printed rate, marked as reported. The check `published-figures` fires on each row.
"""

from collections.abc import Sequence

from backend.formats.model import Entry, FormatError
from backend.formats.published.table import FIRST_LINE, MOST_LINES, read_table
from backend.formats.text import Source, blocks

NAME = "published"
MARKS = (FIRST_LINE,)
IS_TABLE = True


def claims(source: Source) -> str | None:
    """Why this is a published table, or None."""
    for line in source.lines:
        if line.text == FIRST_LINE:
            return f"line {line.number} is “{FIRST_LINE}”"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """A trial for each row of each table."""
    return [entry for source in sources for entry in _entries(source)]


def _entries(source: Source) -> list[Entry]:
    if len(source.lines) > MOST_LINES:
        return [_too_long(source)]
    starts = [at for at, line in enumerate(source.lines) if line.text == FIRST_LINE]
    return [entry for block in blocks(source.lines, starts) for entry in read_table(block)]


def _too_long(source: Source) -> FormatError:
    return FormatError(
        "The file of the published table is too long.",
        found=f"{len(source.lines):,} lines",
        expected=f"at most {MOST_LINES:,} lines; divide the table into several files",
    )
