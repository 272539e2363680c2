"""Durations as Go's standard library prints them."""

from __future__ import annotations

from backend.formats.text import scaled

UNITS_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
# The micro sign and the Greek letter, which look the same.
MICRO_SIGNS = str.maketrans({"\u00b5": "u", "\u03bc": "u"})


def duration_us(word: str) -> float | None:
    """Microseconds of "27.92ms", "1m2s" or "0s"; None if it is no duration."""
    rest, total = word.translate(MICRO_SIGNS), 0.0
    while rest:
        digits = len(rest) - len(rest.lstrip("0123456789."))
        end = len(rest) - len(rest[digits:].lstrip("hmsnu"))
        value = scaled(rest[:end], UNITS_US)
        if value is None:
            return None
        total, rest = total + value, rest[end:]
    return round(total, 6) if word else None
