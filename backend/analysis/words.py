"""A figure with its unit, for sentences."""

from __future__ import annotations

from collections.abc import Callable

from backend.analysis.finding import rate_text, time_text

_STEPS = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


def figure_text(value: float, unit: str) -> str:
    """`12,300 requests/s`, `4.2 ms`, `1.3 %`, `85 MB/s`: three digits in the metric's unit."""
    return _TEXTS[unit](value)


def _bytes_text(value: float) -> str:
    for letter, step in _STEPS:
        if value >= step:
            return f"{value / step:.3g} {letter}B"
    return f"{value:.3g} B"


_TEXTS: dict[str, Callable[[float], str]] = {
    "req/s": rate_text,
    "us": time_text,
    "ratio": lambda value: f"{value * 100:.3g} %",
    "bytes": _bytes_text,
    "bytes/s": lambda value: f"{_bytes_text(value)}/s",
    "cores": lambda value: f"{value:.3g} cores",
    "s": lambda value: f"{value:.3g} s",
}
