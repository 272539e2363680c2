"""The order of people: numbers by size, versions and names as people sort them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from backend.analysis.query.field import Value


def ordered(places: Iterable[Value]) -> list[Value]:
    """Places in the order of the axis: numbers by size, versions and names as people sort them."""
    return sorted(places, key=natural)


@lru_cache(maxsize=16_384)
def natural(place: Value) -> tuple[tuple[int, float, str], ...]:
    """`1.10` after `1.9`: digits count as numbers."""
    if isinstance(place, int | float):
        return ((0, float(place), ""),)
    text, parts, digits = str(place), [], ""
    for char in text:
        if char.isdecimal() and char.isascii():
            digits += char
            continue
        if digits:
            parts.append((0, float(digits), ""))
            digits = ""
        parts.append((1, 0.0, char.lower()))
    if digits:
        parts.append((0, float(digits), ""))
    return tuple(parts)
