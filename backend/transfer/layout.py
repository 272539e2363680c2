"""The paths and limits of an archive: for the code that writes it and for the child that reads it.

It imports no Django.
"""

import re

FORMAT = "loadsheet-workspace"
MANIFEST = "manifest.json"
ROWS, RAW = "rows/", "raw/"
# Bounds of what is read: the directory of so many files takes about 1 GiB of memory.
MAX_FILES = 1_000_000
MAX_LINE_BYTES = 64 << 20
MAX_MANIFEST_BYTES = 1 << 20
# Of packed samples and slices, unpacked.
MAX_UNPACKED_BYTES = 64 << 20

IS_ROWS = re.compile(r"rows/[a-z_]{1,40}\.jsonl").fullmatch
IS_RAW = re.compile(r"raw/[0-9a-f]{64}").fullmatch


def rows_path(table: str) -> str:
    """Where the rows of a table are in the archive."""
    return f"{ROWS}{table}.jsonl"


def raw_path(sha256: str) -> str:
    """Where a raw file is in the archive."""
    return f"{RAW}{sha256}"
