"""Names from strangers as one line of text without control characters."""

import re

# Control characters (XML forbids most of them), line ends, and characters that change the
# direction of the text after them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\ufffe\uffff]+"
)
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
