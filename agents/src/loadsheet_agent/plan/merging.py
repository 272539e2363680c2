"""Lays one table of a plan over another."""

from __future__ import annotations

from typing import Any

# Keys of which a table holds only one.
OTHER_LENGTH = {"duration_s": "requests", "requests": "duration_s"}


def merge(
    below: dict[str, Any], above: dict[str, Any], *, added: tuple[str, ...] = ()
) -> dict[str, Any]:
    """`above` replaces what `below` has; tables are merged, and the lists named `added` grow.

    A number of requests replaces a duration, and the other way round.
    """
    merged = _without_other_length(below, above)
    for name, value in above.items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[name] = merge(before, value)
        elif name in added and isinstance(before, list) and isinstance(value, list):
            merged[name] = [*before, *value]
        else:
            merged[name] = value
    return merged


def _without_other_length(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    replaced = {other for name, other in OTHER_LENGTH.items() if name in above}
    return {name: value for name, value in below.items() if name not in replaced}
