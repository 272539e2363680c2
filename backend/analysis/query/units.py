"""Figures and places on the axis as they appear in sentences."""

import re
from collections.abc import Callable

from backend.analysis.query.field import Value, number_text, text_of
from backend.analysis.query.fields import FIELDS

# Of bounds that lie close together.
_MOST_DIGITS = 6
# As charts and tables print them.
_BYTE_UNITS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def figure_text(value: float, unit: str, digits: int = 3) -> str:
    """`12,300 requests/s`, `4.2 ms`, `1.3 %`, `85 MiB/s`: three digits in the metric's unit."""
    return _TEXTS[unit](value, digits)


def interval_text(text: str, low: float, high: float, unit: str) -> str:
    """`1,000 requests/s [975, 1,020]`, `1 ms [980 µs, 1.1 ms]`: a figure as text, and its interval.

    The bounds name their unit only where it is another than that of the figure. Where three digits
    do not tell them apart, they have up to six.
    """
    for digits in range(3, _MOST_DIGITS + 1):
        bounds = [figure_text(bound, unit, digits).rpartition(" ") for bound in (low, high)]
        if bounds[0] != bounds[1] or low == high:
            break
    is_named = {name for *_, name in bounds} != {text.rpartition(" ")[2]}
    texts = ["".join(bound) if is_named else bound[0] for bound in bounds]
    return f"{text} [{', '.join(texts)}]"


def range_text(low: str, high: str) -> str:
    """`10 to 500 ms`, `800 µs to 1.2 ms`: two figures as texts; one unit is named once."""
    number, _, unit = low.rpartition(" ")
    return f"{number if unit == high.rpartition(' ')[2] else low} to {high}"


def short_figure_text(value: float, unit: str) -> str:
    """`12,300 req/s`: as `figure_text`, where room is short."""
    return f"{_rounded(value)} req/s" if unit == "req/s" else figure_text(value, unit)


def rate_text(value: float, digits: int = 3) -> str:
    return f"{_rounded(value, digits)} requests/s"


def time_text(us: float, digits: int = 3) -> str:
    """A latency in the unit that suits it."""
    if us >= 1e6:
        return f"{_rounded(us / 1e6, digits)} s"
    return f"{_rounded(us / 1e3, digits)} ms" if us >= 1e3 else f"{_rounded(us, digits)} µs"


def _rounded(value: float, digits: int = 3) -> str:
    """With so many significant digits, without an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,g}" if value < 1e5 else f"{rounded:,.0f}"


def bytes_text(value: float, digits: int = 3) -> str:
    """`13 B`, `512 MiB`, `7.76 GiB`: three digits in the unit that suits the size."""
    for name, step in _BYTE_UNITS:
        # 1023.9 MiB would print as 1,020 MiB: the larger unit begins where rounding reaches it.
        if value >= step * 0.9995:
            return f"{_rounded(value / step, digits)} {name}"
    return f"{_rounded(value, digits)} B"


_TEXTS: dict[str, Callable[[float, int], str]] = {
    "req/s": rate_text,
    "us": time_text,
    "ratio": lambda value, digits: f"{value * 100:.{digits}g} %",
    "bytes": bytes_text,
    "bytes/s": lambda value, digits: f"{bytes_text(value, digits)}/s",
    "cores": lambda value, digits: f"{_rounded(value, digits)} cores",
    "s": lambda value, digits: f"{_rounded(value, digits)} s",
}


def at_place(place: str, axis: str) -> str:
    """`at 64 connections`, `at version 1.2`: a place on the axis in a sentence."""
    if axis == "connections" and place == "1":
        return "at 1 connection"
    field = FIELDS[axis]
    if field.kind == "number":
        place = re.sub(r"(?<![\d.])\d+", lambda digits: f"{int(digits[0]):,}", place)
    return field.at.format(place) if field.at else f"at {field.name} {place}"


def place_text(x: Value, axis: str) -> str:
    """As `at_place`, of a value on the axis; empty if it is unknown."""
    return "" if x is None else at_place(text_of(x), axis)


def at_load(x: float, axis: str) -> str:
    return at_place(number_text(float(x)), axis)


def load_number(x: float) -> str:
    """`64`, `5,000`, `0.5`: a load point in a sentence that has its noun."""
    return f"{int(x):,}" if float(x).is_integer() else number_text(x)


def load_text(x: float, axis: str) -> str:
    """`64 connections`, `5,000 offered requests/s`."""
    return at_load(x, axis).removeprefix("at ")
