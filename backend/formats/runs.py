"""An entry with the lines of its run."""

from collections.abc import Sequence

from backend.formats.model import Entry, FormatError
from backend.formats.text import Line


def of_lines(entry: Entry, block: Sequence[Line]) -> Entry:
    """The trial, or its refusal, with the numbers of its first and its last line."""
    lines = (block[0].number, block[-1].number)
    if isinstance(entry, FormatError):
        entry.lines = lines
        return entry
    # The reader made it just now, and a copy of its many fields takes as long as the reading.
    object.__setattr__(entry, "lines", lines)
    return entry
