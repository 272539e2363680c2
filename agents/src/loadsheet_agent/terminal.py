"""Text on a terminal: that of plans, archives, load tools and servers moves no cursor."""

from __future__ import annotations

# C0 and C1 but for line feed and tab, and what turns the direction of text.
_CONTROLS = {*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_MARKS = dict.fromkeys(_CONTROLS - {ord("\n"), ord("\t")}, "\ufffd")


def printable(text: str) -> str:
    """The text with a mark in the place of each control character."""
    return text.translate(_MARKS)
