"""Names from strangers as one line of text without control characters."""

import re

from backend.visible_text import UNSEEN

# Also tabs and line ends: it is one line.
_INVISIBLE = re.compile(f"[{UNSEEN}\t\r\n]+")
_INVISIBLE_START = re.compile(rf"\A(?:\s|\u200b|{_INVISIBLE.pattern})+")


def without_invisible_start(text: str) -> str:
    """`text` from its first visible character on."""
    return _INVISIBLE_START.sub("", text)


def plain(text: str, longest: int) -> str:
    """`text` without invisible characters; at most `longest` characters, with … where it is cut."""
    # Cut before the rest: the work is bounded, whatever the length of a name.
    shown = " ".join(_INVISIBLE.sub(" ", text[: 4 * longest]).split())
    if len(shown) <= longest and len(text) <= 4 * longest:
        return shown
    return f"{shown[: longest - 1].rstrip()}…"
