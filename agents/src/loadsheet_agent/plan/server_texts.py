"""The table of texts that tell servers of one name apart, besides the version.

A new text is one entry here: from it follow the key of plans, the flag of `loadsheet upload`, and
the member of each recorded server. The command line reads this module, so it imports nothing heavy.
"""

from __future__ import annotations

from typing import NamedTuple


class ServerText(NamedTuple):
    """`description` is that of the key; `example` is shown in the help of the flag."""

    description: str
    example: str


SERVER_TEXTS = {
    "runtime": ServerText(
        "What the server runs on; {version} and {python_version} are filled in.", "CPython 3.12"
    ),
}
