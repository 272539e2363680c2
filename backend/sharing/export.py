"""A comparison as CSV, safe against formulas in spreadsheets."""

import io

from defusedcsv import csv

from backend.analysis.export.table import Value, table_of
from backend.analysis.figures import Figures
from backend.sharing.text import without_invisible_start

# defusedcsv misses formulas behind invisible characters, which spreadsheets skip, and the
# full-width forms of = + - @, which some spreadsheets read as the plain ones.
_BEGINNINGS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_SKIPPED = ("\t", "\r", "\n", "\0")


def csv_of(figures: Figures, view: str | None = None) -> str:
    """The table of `view`, by default of the view that was asked for. Unknown is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    table = table_of(figures, view)
    writer.writerow(table.columns)
    writer.writerows([harmless(value) for value in row] for row in table.rows)
    return out.getvalue()


def harmless(value: Value) -> Value:
    """Text that begins like a formula gets a leading apostrophe; numbers stay numbers."""
    if not isinstance(value, str):
        return value
    if value.startswith(_SKIPPED) or without_invisible_start(value).startswith(_BEGINNINGS):
        return "'" + value.replace("\0", "")
    return value
