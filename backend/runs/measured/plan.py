"""What the plan of a run says, read so that no plan takes much memory or time.

Plans come from strangers, and pages read them in a web process. The memory of `tomllib` grows with
the square of the number of parts of a dotted key: a key of 28 KB took 740 MB, one of 60 KB ended
the process.
"""

import tomllib
from collections.abc import Mapping
from typing import Any

# Longer plans are shown, but not read. Any plan within both limits takes less than 40 MB and half
# a second; the plans of the documentation have up to 3,000 characters.
MOST_CHARACTERS = 50_000
# Of a line: no key is longer than its line.
MOST_DOTS = 32


def read_plan(text: str) -> Mapping[str, Any] | None:
    """The document; None for a text that is no TOML, or beyond the limits."""
    if len(text) > MOST_CHARACTERS or any(map(_has_many_dots, text.split("\n"))):
        return None
    try:
        document = tomllib.loads(text)
        # A hexadecimal number may have more digits than Python turns into text.
        str(document)
    except (ValueError, RecursionError):
        return None
    return document


def _has_many_dots(line: str) -> bool:
    return line.count(".") > MOST_DOTS and not line.lstrip().startswith("#")
