"""Names from strangers as one line of text that turns nothing around."""

from __future__ import annotations

import re

# Control characters (no XML may hold most of them), line ends, and those that change the
# direction of what follows them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\ufffe\uffff]+"
)
_UNSEEN_START = re.compile(rf"\A(?:\s|\u200b|{_UNSEEN.pattern})+")


def seen(text: str) -> str:
    """`text` from its first character that is seen on."""
    return _UNSEEN_START.sub("", text)


def plain(text: str, longest: int) -> str:
    """`text` without what is not seen, at most `longest` characters with the mark of the cut."""
    # Cut before the rest: the work is bounded, whatever the length of a name.
    shown = " ".join(_UNSEEN.sub(" ", text[: 4 * longest]).split())
    if len(shown) <= longest and len(text) <= 4 * longest:
        return shown
    return f"{shown[: longest - 1].rstrip()}…"
