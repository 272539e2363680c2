"""Characters that nobody sees, shown as a mark: they hide, move or turn the text around them.

Names come from strangers: on a terminal ESC moves the cursor, and U+202E turns what stands behind
it. Rows keep the text as it was sent, and JSON and Parquet give it to programs exactly; every
format for people passes through `visible`.
"""

from __future__ import annotations

import re
from typing import Any, TextIO

MARK = "\N{REPLACEMENT CHARACTER}"
# C0 but tab and line ends, DEL, C1; separators of lines; what turns direction; the byte order mark,
# halves of pairs, and characters that XML forbids.
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e"
    "\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff"
)
_UNSEEN = re.compile(f"[{UNSEEN}]")
# On a terminal a return without a line feed writes over the line.
_UNSEEN_OR_RETURN = re.compile(f"[{UNSEEN}]|\r(?!\n)")
_LINE_ENDS = re.compile("[\r\n]+")


def visible(text: str, *, keeps_returns: bool = False) -> str:
    """The text with MARK for each character that is not seen; tabs and line ends stay.

    `keeps_returns`: for HTML, where a return is white space.
    """
    return (_UNSEEN if keeps_returns else _UNSEEN_OR_RETURN).sub(MARK, text)


def visible_line(text: str) -> str:
    """As `visible`, on one line: for subjects of mails, and names of files."""
    return visible(_LINE_ENDS.sub(" ", text))


def shortened(text: str, most: int) -> str:
    """The text; of one with more characters than `most` its beginning, and a mark that says so."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def escaped(line: str) -> str:
    """A line of JSON whose texts have an escape for each character that is not seen."""
    return _UNSEEN.sub(lambda mark: f"\\u{ord(mark[0]):04x}", line)


class VisibleStream:
    """A stream of text, such as standard output, to which every character is written visibly."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(visible(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
