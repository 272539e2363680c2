"""A comparison as CSV that a spreadsheet cannot take for formulas."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

from defusedcsv import csv

from backend.analysis.table import Value, columns_of, rows_of

# What defusedcsv leaves alone: control characters that spreadsheets skip before a formula, and
# the full-width forms of = + - @ that some of them read as the plain ones.
_ALSO_DANGEROUS = ("\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# How a formula begins, and what may stand before it unseen.
_FORMULA = re.compile(
    "[\x00-\x20\x7f-\xa0\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+"
    "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
)


def csv_of(figures: Mapping[str, Any]) -> str:
    """One row for each series at each load point. Unknown is an empty field, never 0."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    columns = columns_of(figures)
    writer.writerow(columns)
    for row in rows_of(figures):
        writer.writerow([harmless(row[column]) for column in columns])
    return out.getvalue()


def harmless(value: Value) -> Value:
    """Text that begins like a formula gets a leading apostrophe; numbers stay numbers."""
    if isinstance(value, str) and (value.startswith(_ALSO_DANGEROUS) or _FORMULA.match(value)):
        return "'" + value.replace("\0", "")
    return value
