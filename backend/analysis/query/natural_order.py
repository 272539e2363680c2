"""The order of people: numbers by size, versions and names as people sort them."""

import re
from collections.abc import Iterable
from functools import lru_cache

from backend.analysis.query.field import Value

# The comma before three digits of a whole number.
_WITHIN_NUMBER = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def ordered(places: Iterable[Value]) -> list[Value]:
    """Places in the order of the axis: numbers by size, versions and names as people sort them."""
    return sorted(places, key=natural)


@lru_cache(maxsize=16_384)
def natural(place: Value) -> tuple[tuple[int, float, str], ...]:
    """`1.10` after `1.9`, `1,600 req/s` after `400 req/s`: digits count as numbers.

    Names that differ in capitals or zeros alone stand beside each other, always in one order.
    """
    if isinstance(place, int | float):
        return ((0, float(place), ""),)
    parts, digits = [], ""
    for char in _WITHIN_NUMBER.sub("", str(place)):
        if char.isdecimal() and char.isascii():
            digits += char
            continue
        if digits:
            parts.append((0, float(digits), ""))
            digits = ""
        parts.append((1, 0.0, char.lower()))
    if digits:
        parts.append((0, float(digits), ""))
    # Below all letters and digits, so that it decides between names that are equal but for it.
    return (*parts, (-1, 0.0, str(place)))
