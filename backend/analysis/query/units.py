"""Figures and places on the axis as they appear in sentences."""

import re
from collections.abc import Callable

from backend.analysis.query.field import number_text
from backend.analysis.query.fields import FIELDS

# As charts and tables print them.
_BYTE_UNITS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def figure_text(value: float, unit: str) -> str:
    """`12,300 requests/s`, `4.2 ms`, `1.3 %`, `85 MiB/s`: three digits in the metric's unit."""
    return _TEXTS[unit](value)


def interval_text(text: str, low: float, high: float, unit: str) -> str:
    """`1,000 requests/s [975, 1,020]`, `1 ms [980 µs, 1.1 ms]`: a figure as text, and its interval.

    The bounds name their unit only where it is another than that of the figure.
    """
    bounds = [figure_text(bound, unit).rpartition(" ") for bound in (low, high)]
    is_named = {name for *_, name in bounds} != {text.rpartition(" ")[2]}
    texts = ["".join(bound) if is_named else bound[0] for bound in bounds]
    return f"{text} [{', '.join(texts)}]"


def short_figure_text(value: float, unit: str) -> str:
    """`12,300 req/s`: as `figure_text`, where room is short."""
    return f"{_three_digits(value)} req/s" if unit == "req/s" else figure_text(value, unit)


def rate_text(value: float) -> str:
    return f"{_three_digits(value)} requests/s"


def time_text(us: float) -> str:
    """A latency in the unit that suits it."""
    if us >= 1e6:
        return f"{_three_digits(us / 1e6)} s"
    return f"{_three_digits(us / 1e3)} ms" if us >= 1e3 else f"{_three_digits(us)} µs"


def _three_digits(value: float) -> str:
    if value == 0:
        return "0"
    return f"{float(f'{value:.3g}'):,g}" if value < 1e5 else f"{float(f'{value:.3g}'):,.0f}"


def bytes_text(value: float) -> str:
    """`13 B`, `512 MiB`, `7.76 GiB`: three digits in the unit that suits the size."""
    for name, step in _BYTE_UNITS:
        # 1023.9 MiB would print as 1,020 MiB: the larger unit begins where rounding reaches it.
        if value >= step * 0.9995:
            return f"{_three_digits(value / step)} {name}"
    return f"{_three_digits(value)} B"


_TEXTS: dict[str, Callable[[float], str]] = {
    "req/s": rate_text,
    "us": time_text,
    "ratio": lambda value: f"{value * 100:.3g} %",
    "bytes": bytes_text,
    "bytes/s": lambda value: f"{bytes_text(value)}/s",
    "cores": lambda value: f"{_three_digits(value)} cores",
    "s": lambda value: f"{_three_digits(value)} s",
}


def at_place(place: str, axis: str) -> str:
    """`at 64 connections`, `at version 1.2`: a place on the axis in a sentence."""
    if axis == "connections" and place == "1":
        return "at 1 connection"
    field = FIELDS[axis]
    if field.kind == "number":
        place = re.sub(r"(?<![\d.])\d+", lambda digits: f"{int(digits[0]):,}", place)
    return field.at.format(place) if field.at else f"at {field.name} {place}"


def at_load(x: float, axis: str) -> str:
    return at_place(number_text(float(x)), axis)


def load_number(x: float) -> str:
    """`64`, `5,000`, `0.5`: a load point in a sentence that has its noun."""
    return f"{int(x):,}" if float(x).is_integer() else number_text(x)


def load_text(x: float, axis: str) -> str:
    """`64 connections`, `5,000 offered requests/s`."""
    return at_load(x, axis).removeprefix("at ")
