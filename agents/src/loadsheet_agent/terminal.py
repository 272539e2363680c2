"""Text on a terminal: that of plans, archives, load tools and servers moves no cursor."""

from __future__ import annotations

# C0 and C1 but for line feed and tab, separators of lines, what turns the direction of text, and
# the byte order mark.
_CONTROLS = {*range(32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A)}
_CONTROLS |= {0x061C, 0x200E, 0x200F, 0xFEFF}
_MARKS = dict.fromkeys(_CONTROLS - {ord("\n"), ord("\t")}, "\ufffd")


def printable(text: str) -> str:
    """The text with a mark in the place of each control character."""
    return text.translate(_MARKS)
